// SPDX-License-Identifier: GPL-2.0-only
// Networks that go away with packets on their wires, and the cache's fetching ahead of them.
#include "scenario/scenario-runs.h"
#include "unit/transport/roce-fixture.h"

#include "ns3/object-factory.h"
#include "ns3/radix-scheduler.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace ns3::gradsync
{
namespace
{

/// Transports that end before their messages, with the cache fetching ahead in networks of any
/// size.
class NetworkEndTest : public RoceTransportTest
{
  protected:
    /// What the sending and receiving of 1 MB from host 0 to 1 leaves pending after 100 us.
    void StopInTheMiddle(const char* congestionControl = "dcqcn")
    {
        ObjectFactory scheduler; // only this one foresees
        scheduler.SetTypeId(RadixScheduler::GetTypeId());
        Simulator::SetScheduler(scheduler);
        SetFabric("PrefetchPorts", UintegerValue(0));
        Set("CongestionControl", StringValue(congestionControl));
        InstallStar(3);
        // 1 MB each take 8 ms into one port: it pauses its senders, so that departures are events.
        SetFabric("BufferBytes", UintegerValue(100'000));
        Send(0, 1, 1'000'000, 1);
        Send(2, 1, 1'000'000, 2);
        Simulator::Stop(MicroSeconds(100));
        Simulator::Run();
        EXPECT_TRUE(m_handler.delivered.empty());
    }
};

TEST_F(NetworkEndTest, NothingIsFetchedFromANetworkThatIsGoneWhenTheSimulatorDrainsItsEvents)
{
    for (const auto* control : {"none", "dcqcn", "timely"})
    {
        TearDown();
        SetUp();
        StopInTheMiddle(control);
        m_transport = nullptr; // ports stay as pending events; hosts, packets and NICs do not
        Simulator::Destroy();
    }
}

TEST_F(NetworkEndTest, PendingEventsOfANetworkThatIsGoneDoNothing)
{
    StopInTheMiddle();
    m_transport = nullptr;
    const auto events = Simulator::GetEventCount();
    Simulator::Run();
    EXPECT_GT(Simulator::GetEventCount(), events) << "nothing was pending";
    EXPECT_TRUE(m_handler.delivered.empty());
    EXPECT_TRUE(m_handler.failures.empty());
}

TEST_F(NetworkEndTest, FabricMayBeHeldForLongerThanItsTransport)
{
    StopInTheMiddle();
    const auto fabric = m_transport->GetFabric();
    m_transport = nullptr;
    Simulator::Run();
    EXPECT_TRUE(m_handler.delivered.empty());
    // 1 Gb/s, 100 us: 12,500 bytes have left host 0, and two or three packets of 4,096.
    EXPECT_EQ(fabric->GetCounters(0).packets, 3U);
}

TEST_F(NetworkEndTest, NextNetworkOfTheProcessWorksWhileTheEventsOfTheFirstArePending)
{
    StopInTheMiddle();
    m_transport = CreateObject<RoceTransport>();
    SetFabric("PrefetchPorts", UintegerValue(0));
    InstallStar(2);
    Send(0, 1, 1000, 7);
    Simulator::Run();
    EXPECT_THAT(m_handler.delivered, testing::ElementsAre(testing::Pair(7, 1)));
}

TEST_F(NetworkEndTest, SmallNetworkLeavesTheFetchingOfALargeOneAsItIs)
{
    // One of each, the small one made last and gone first: neither ends the other's.
    StopInTheMiddle();
    {
        auto small = CreateObject<RoceTransport>();
        std::swap(small, m_transport);
        SetFabric("PrefetchPorts", UintegerValue(SIZE_MAX));
        InstallStar(2);
        m_transport = small;
    }
    Simulator::Run();
    EXPECT_THAT(m_handler.delivered,
                testing::ElementsAre(testing::Pair(1, 1), testing::Pair(2, 1)));
}

/// A scheme whose packets are for programs in switches: of them the destination is no endpoint.
class ProgramPrefetchTest : public testing::TestWithParam<const char*>
{
};

TEST_P(ProgramPrefetchTest, ChangesNothing)
{
    const std::string text = fmt::format(R"({{
        "topology": {{"kind": "spine-leaf", "spines": 2, "leaves": 2, "hostsPerLeaf": 2,
                      "hostLink": {{"rate": "10Gbps"}}, "fabricLink": {{"rate": "10Gbps"}}}},
        "transport": {{"kind": "roce", "aggregation": {{"values": "real"}}}},
        "job": {{"gradient": "100kB"}}, "scheme": "{}"}})",
                                         GetParam());
    const auto plain = Simulate({}, text);
    const auto fetching = Simulate({{"fabric.prefetchPorts", "0"}}, text);
    ASSERT_TRUE(plain.summary.finished);
    ASSERT_TRUE(fetching.summary.finished);
    EXPECT_EQ(fetching.summary.meanIctPs, plain.summary.meanIctPs);
    EXPECT_EQ(fetching.summary.events, plain.summary.events);
}

INSTANTIATE_TEST_SUITE_P(Schemes,
                         ProgramPrefetchTest,
                         testing::Values("switchml", "passing", "atp", "netreduce"));

TEST(LargeNetwork, AggregatesInSwitches)
{
    // 16 leaves of 30 hosts: 2 * (480 + 32) = 1,024 ports, from which on the cache fetches ahead.
    const auto result = Simulate({}, R"({
        "topology": {"kind": "spine-leaf", "spines": 2, "leaves": 16, "hostsPerLeaf": 30,
                     "hostLink": {"rate": "10Gbps"}, "fabricLink": {"rate": "40Gbps"}},
        "job": {"gradient": "10kB"}, "scheme": "switchml"})");
    EXPECT_TRUE(result.summary.finished);
}

TEST(LargeNetwork, ThatRunsOutOfTimeEndsInANamedFailure)
{
    // 10 MB at 10 Gb/s take 8 ms at least.
    const auto result = Simulate({}, R"({
        "topology": {"kind": "spine-leaf", "spines": 2, "leaves": 16, "hostsPerLeaf": 30,
                     "hostLink": {"rate": "10Gbps"}, "fabricLink": {"rate": "40Gbps"}},
        "job": {"gradient": "10MB", "timeout": "100us"}, "scheme": "ring"})");
    EXPECT_FALSE(result.summary.finished);
    EXPECT_THAT(result.summary.failure, testing::HasSubstr("timed out, not done 0.0001 s after"));
}

TEST(CrashedHost, LeavesNoPacketsBehindThatAreFetchedLater)
{
    const auto result = Simulate({}, R"({
        "topology": {"kind": "three-tier", "pods": 2, "leavesPerPod": 2, "aggregationsPerPod": 1,
                     "cores": 1, "hostsPerLeaf": 1, "hostLink": {"rate": "3333333333bps"},
                     "leafUplink": {"rate": "1Gbps"}, "aggregationUplink": {"rate": "1Gbps"}},
        "fabric": {"prefetchPorts": 0}, "jobs": [{"scheme": {"kind": "mesh-2d"}}],
        "faults": [{"kind": "host-crash", "start": "233us", "random": 1}]})");
    EXPECT_FALSE(result.summary.finished);
    EXPECT_THAT(result.summary.failure, testing::HasSubstr("job \"job0\", iteration 0"));
}

} // namespace
} // namespace ns3::gradsync
