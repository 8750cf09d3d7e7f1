// SPDX-License-Identifier: GPL-2.0-only
// What the trace sources of rates, windows, queues and marks tell.
#include "support/bottleneck-fixture.h"

#include "ns3/data-rate.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace ns3::gradsync::tests
{

namespace
{

/// Everything that the trace sources tell.
struct Listener
{
    void OnRate(uint32_t src, uint32_t dst, uint32_t /* stream */, double bitRate, Time at)
    {
        rates[{src, dst}].push_back(bitRate);
        Expect(rateTimes[{src, dst}], at);
    }

    void OnWindow(uint32_t src, uint32_t dst, uint32_t /* stream */, uint32_t packets, Time at)
    {
        windows[{src, dst}].push_back(packets);
        Expect(windowTimes[{src, dst}], at);
    }

    void OnMark(uint32_t port, uint64_t queueBytes)
    {
        ++marks;
        EXPECT_EQ(queueBytes, queues[port]); // told before: the packet has joined
    }

    void OnQueue(uint32_t port, uint64_t queueBytes, Time at)
    {
        queues[port] = queueBytes;
        longest[port] = std::max(longest[port], queueBytes);
        Expect(queueTimes[port], at);
        ++queueChanges;
    }

    /// Times at one place are in order, and none lies in the future.
    static void Expect(Time& last, Time at)
    {
        EXPECT_GE(at, last);
        EXPECT_LE(at, Simulator::Now());
        last = at;
    }

    using Connection = std::pair<uint32_t, uint32_t>;
    std::map<Connection, std::vector<double>> rates;
    std::map<Connection, std::vector<uint32_t>> windows;
    std::map<Connection, Time> rateTimes;
    std::map<Connection, Time> windowTimes;
    std::map<uint32_t, uint64_t> queues;
    std::map<uint32_t, uint64_t> longest;
    std::map<uint32_t, Time> queueTimes;
    uint64_t marks{0};
    uint64_t queueChanges{0};
};

/// What a run came to, with or without listeners.
struct Outcome
{
    std::map<uint32_t, uint64_t> delivered;
    uint64_t wireBytes;
    uint64_t marks;

    bool operator==(const Outcome&) const = default;
};

class FlowTraceTest : public BottleneckFixture
{
  protected:
    void Listen()
    {
        const auto connect = [](Object& object, const char* name, const CallbackBase& callback) {
            EXPECT_TRUE(object.TraceConnectWithoutContext(name, callback)) << name;
        };
        auto* listener = &m_listener;
        connect(*m_transport, "Rate", MakeCallback(&Listener::OnRate, listener));
        connect(*m_transport, "Window", MakeCallback(&Listener::OnWindow, listener));
        auto& fabric = *m_transport->GetFabric();
        connect(fabric, "Mark", MakeCallback(&Listener::OnMark, listener));
        connect(fabric, "Queue", MakeCallback(&Listener::OnQueue, listener));
    }

    /// Three flows into one host for 2 ms.
    Outcome RunIncast(const char* control)
    {
        Set("CongestionControl", StringValue(control));
        InstallStar(4, "10Gbps");
        for (const uint32_t src : {1, 2, 3})
        {
            Start(src, 0);
        }
        MeasureRates(Seconds(0), MilliSeconds(2));
        const auto statistics = m_transport->GetStatistics();
        return {m_delivered, statistics.wireBytes, statistics.ecnMarkedPackets};
    }

    Listener m_listener;
};

TEST_F(FlowTraceTest, TheFirstCutOfDcqcnHalvesTheLineRate)
{
    Listen();
    RunIncast("dcqcn");
    ASSERT_EQ(m_listener.rates.size(), 3U);
    for (const auto& [connection, rates] : m_listener.rates)
    {
        // alpha is 1 at first: R_C (1 - alpha / 2), equation 1.
        EXPECT_NEAR(rates.at(0), 5e9, 1.0);
        EXPECT_LE(*std::max_element(rates.begin(), rates.end()), 10e9);
        EXPECT_GE(*std::min_element(rates.begin(), rates.end()), 10e6 * (1 - 1e-9)); // MinRate
    }
    EXPECT_TRUE(m_listener.windows.empty()); // it has none
}

TEST_F(FlowTraceTest, TheFirstWindowOfDctcpFillsTheLineForARoundTrip)
{
    Listen();
    RunIncast("dctcp");
    ASSERT_EQ(m_listener.windows.size(), 3U);
    for (const auto& [connection, windows] : m_listener.windows)
    {
        // Two links of 1 us each way, a full packet of 4178 B there and 86 B back on each:
        // 10.8224 us at 10 Gb/s are 13,528 B, 3.2 packets.
        EXPECT_EQ(windows.at(0), 3U);
        EXPECT_GE(*std::min_element(windows.begin(), windows.end()), 1U);
    }
    EXPECT_TRUE(m_listener.rates.empty()); // it has none
}

TEST_F(FlowTraceTest, QueuesAndMarksAreThoseOfTheStatistics)
{
    Listen();
    const auto outcome = RunIncast("dctcp");
    EXPECT_GT(outcome.marks, 0U);
    EXPECT_EQ(m_listener.marks, outcome.marks);
    const auto links = m_transport->GetLinkStatistics();
    for (uint32_t port = 0; port < links.size(); ++port)
    {
        m_transport->GetFabric()->GetQueueBytes(port); // brings the port up to now
        EXPECT_EQ(m_listener.longest[port], links[port].maxQueueBytes) << port;
        EXPECT_EQ(m_listener.queues[port], m_transport->GetFabric()->GetQueueBytes(port)) << port;
    }
    EXPECT_GT(m_listener.longest[static_cast<uint32_t>(GetBottleneck())], 0U);
}

TEST_F(FlowTraceTest, ListeningChangesNothing)
{
    for (const char* control : {"dcqcn", "dctcp", "hpcc", "swift", "timely"})
    {
        const auto unheard = RunIncast(control);
        TearDown();
        SetUp();
        Listen();
        EXPECT_EQ(RunIncast(control), unheard) << control;
        TearDown();
        SetUp();
        m_listener = {};
    }
}

TEST_F(FlowTraceTest, ListenersMayComeAndGoWhileTheNetworkRuns)
{
    const auto callback = MakeCallback(&Listener::OnQueue, &m_listener);
    auto& fabric = *m_transport->GetFabric();
    uint64_t changes = 0;
    Simulator::Schedule(MicroSeconds(500), [&] {
        EXPECT_EQ(m_listener.queueChanges, 0U);
        fabric.TraceConnectWithoutContext("Queue", callback);
    });
    Simulator::Schedule(MicroSeconds(1000), [&] {
        fabric.TraceDisconnectWithoutContext("Queue", callback);
        changes = m_listener.queueChanges;
    });
    RunIncast("none");
    EXPECT_GT(changes, 0U);
    EXPECT_EQ(m_listener.queueChanges, changes);
}

} // namespace

} // namespace ns3::gradsync::tests
