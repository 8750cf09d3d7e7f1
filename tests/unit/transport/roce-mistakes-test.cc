// SPDX-License-Identifier: GPL-2.0-only
// What mutants of the RoCE transport survived before (doc/referee.rst). Part of transport-tests.
#include "unit/transport/roce-fixture.h"

#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gmock/gmock.h>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(RoceTransportTest, AReceiverAnswersEverySixteenPacketsAndTheLast)
{
    Set("Mtu", UintegerValue(1000));
    Set("AckEvery", UintegerValue(16));
    InstallStar(2);
    Send(0, 1, 100'000, 1);
    Simulator::Run();
    // 100 packets: answers to the 16th, 32nd, ... 96th and the 100th, on two links each.
    EXPECT_EQ(m_transport->GetStatistics().controlPacketHops, 2U * 7);
}

/// Losses as the trace source tells them.
struct LossLog
{
    void OnRecovery(uint32_t src, uint32_t dst, bool isTimeout)
    {
        entries.emplace_back(src, dst, isTimeout, Simulator::Now());
    }

    std::vector<std::tuple<uint32_t, uint32_t, bool, Time>> entries;
};

TEST_F(RoceTransportTest, SelectiveRepeatTellsTheFirstLossOfAnEpisode)
{
    // 10 Gb/s, packets of 1500 B: packet i leaves at 1.2 i us and arrives at 1.2 i + 4.4 us. From
    // 100 us to 102 us the receiver's link loses packets 80 to 83; 84 arrives at 105.2 us, beyond
    // the gap. Its negative acknowledgement of 86 B takes 2 (0.0688 + 1) us. Those that follow
    // belong to the same episode.
    Set("Mtu", UintegerValue(1418));
    Set("AckEvery", UintegerValue(1));
    Set("Recovery", StringValue("selective-repeat"));
    InstallStar(2, "10Gbps");
    LossLog log;
    m_transport->TraceConnectWithoutContext("Recovery", MakeCallback(&LossLog::OnRecovery, &log));
    const auto setLink = [this](uint64_t microseconds, bool isUp) {
        Simulator::Schedule(MicroSeconds(microseconds), [this, isUp] {
            LinkState state;
            state.up = isUp;
            m_transport->SetLinkState(1, state);
        });
    };
    setLink(100, false);
    setLink(102, true);
    Send(0, 1, uint64_t{200} * 1418, 1);
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered[1], 1);
    EXPECT_THAT(
        log.entries,
        ElementsAre(
            std::make_tuple(0U, 1U, false, NanoSeconds(105200) + PicoSeconds(2 * 1'068'800))));
}

TEST_F(RoceTransportTest, TimeoutsGoOnWhereAHostThatDoesNotSendLeftThem)
{
    // The only packet leaves at 0 and is lost. Of the time until 320 us its host does not send for
    // 30 + 40 + 50 us: 200 us are over for its timer. Began it anew each time, as it did once, it
    // would not have run out before 500 us, and never with a host that stops every 100 us.
    Set("Timeout", TimeValue(MicroSeconds(200)));
    InstallStar(2, "10Gbps");
    LossLog log;
    m_transport->TraceConnectWithoutContext("Recovery", MakeCallback(&LossLog::OnRecovery, &log));
    LinkState down;
    down.up = false;
    m_transport->SetLinkState(1, down);
    Simulator::Schedule(MicroSeconds(10), [this] { m_transport->SetLinkState(1, LinkState()); });
    for (const auto& [begin, end] : {std::pair{50, 80}, {150, 190}, {250, 300}})
    {
        for (const auto& [at, sends] : {std::pair{begin, false}, {end, true}})
        {
            Simulator::Schedule(MicroSeconds(at), [this, isSending = sends] {
                m_transport->SetEndpointState(0, {.sends = isSending, .receives = true});
            });
        }
    }
    Send(0, 1, 1000, 1);
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered[1], 1);
    EXPECT_THAT(log.entries, ElementsAre(std::make_tuple(0U, 1U, true, MicroSeconds(320))));
}

TEST_F(RoceTransportTest, AMessageOfMorePacketsThanThereAreNumbersFailsByName)
{
    Set("Mtu", UintegerValue(1000));
    InstallStar(2);
    Send(0, 1, uint64_t{1000} << 32, 1);
    Send(0, 1, 1000, 2); // the connection goes on
    Simulator::Run();
    ASSERT_EQ(m_handler.failures.size(), 1U);
    EXPECT_THAT(m_handler.failures[1], HasSubstr("2^32"));
    EXPECT_EQ(m_handler.delivered[1], 0);
    EXPECT_EQ(m_handler.delivered[2], 1);
}

TEST_F(RoceTransportTest, AbandonsConnectionsAllOfWhoseMessagesAreMeant)
{
    InstallStar(4);
    CountingHandler other;
    Send(0, 1, 100'000, 1);
    Send(0, 2, 100'000, 2);
    m_transport->Send({0, 2, 0, 100'000, 3, &other}); // on the same connection
    m_transport->Send({0, 3, 0, 100'000, 4, &other});
    Simulator::Schedule(MicroSeconds(100), [this] {
        m_transport->Abandon([this](uint32_t, uint32_t, const MessageHandler* handler) {
            return handler == &m_handler;
        });
    });
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered, (std::map<uint64_t, int>{{2, 1}}));
    EXPECT_EQ(other.delivered, (std::map<uint64_t, int>{{3, 1}, {4, 1}}));
    EXPECT_TRUE(m_handler.failures.empty());
}

/// Host 0 has a link to each of two switches, and so has host 2; hosts 1 and 3 are at the first
/// one: links 0 and 1 are those of host 0, 2 and 3 those of hosts 1 and 3, 4 and 5 those of host 2.
class TwoPortsTest : public RoceTransportTest
{
  protected:
    static constexpr LinkId FIRST = 4; //!< to host 2 by way of the first switch
    static constexpr LinkId SECOND = 5;

    void InstallTwoPorts()
    {
        m_topology = std::make_shared<Topology>();
        std::vector<NodeId> hosts;
        for (const auto* name : {"h0", "h1", "h2", "h3"})
        {
            hosts.push_back(m_topology->AddNode(name, NodeKind::Host, 0));
        }
        const auto first = m_topology->AddNode("s0", NodeKind::Switch, 1);
        const auto second = m_topology->AddNode("s1", NodeKind::Switch, 1);
        const std::vector<std::pair<NodeId, NodeId>> links{{hosts[0], first},
                                                           {hosts[0], second},
                                                           {hosts[1], first},
                                                           {hosts[3], first},
                                                           {hosts[2], first},
                                                           {hosts[2], second},
                                                           {first, second}};
        for (const auto& [a, b] : links)
        {
            m_topology->AddLink(a, b, DataRate("10Gbps"), MicroSeconds(1), LinkKind::Host);
        }
        m_transport->Install(m_topology, MakeRoutesWithout(SECOND));
    }

    std::shared_ptr<const RoutingTables> MakeRoutesWithout(LinkId link) const
    {
        std::vector<bool> excluded(m_topology->GetLinks().size(), false);
        excluded[link] = true;
        return std::make_shared<RoutingTables>(*m_topology, excluded);
    }

    std::shared_ptr<Topology> m_topology;
};

TEST_F(TwoPortsTest, AConnectionThatLeavesAPortLeavesTheOthersInTheirRing)
{
    // Packets of 1082 B take 0.8656 us; two connections take turns, so that at one of two times
    // with an odd number of packets between them the one that leaves stands at the end of the ring.
    for (const uint64_t nanoseconds : {20'000, 20'866})
    {
        m_transport = CreateObject<RoceTransport>();
        m_handler = {};
        Set("KeptQueuePairs", UintegerValue(0));
        Set("Mtu", UintegerValue(1000));
        InstallTwoPorts();
        Send(0, 1, 100'000, 1);
        Send(0, 2, 100'000, 2);
        Simulator::Schedule(NanoSeconds(nanoseconds), [this] {
            m_transport->SetRoutes(MakeRoutesWithout(FIRST));
            Send(0, 3, 1'000'000, 3);
        });
        Simulator::Run();
        EXPECT_EQ(m_handler.delivered, (std::map<uint64_t, int>{{1, 1}, {2, 1}, {3, 1}}));
        const auto links = m_transport->GetLinkStatistics();
        // Only what goes to host 2 leaves by the other port: of it, all but what left before.
        EXPECT_GE(links[0].payloadBytes, 1'100'000U) << nanoseconds;
        EXPECT_GT(links[2].payloadBytes, 0U);
        EXPECT_LE(links[2].payloadBytes, 100'000U) << nanoseconds;
        m_transport = nullptr;
        Simulator::Destroy();
    }
}

TEST_F(TwoPortsTest, AnAnswerThatIsDueIsWaitedForAtTheOtherPort)
{
    // Two packets are lost on the way to host 2. At 10 us the connection leaves by the other port,
    // where the clock starts anew: at 1.01 ms both are sent again, and take 3 x 0.8656 + 2 us.
    Set("Mtu", UintegerValue(1000));
    Set("Timeout", TimeValue(MilliSeconds(1)));
    InstallTwoPorts();
    LinkState state;
    state.up = false;
    m_transport->SetLinkState(FIRST, state);
    Send(0, 2, 2'000, 1);
    Simulator::Schedule(MicroSeconds(10),
                        [this] { m_transport->SetRoutes(MakeRoutesWithout(FIRST)); });
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered, (std::map<uint64_t, int>{{1, 1}}));
    EXPECT_EQ(m_handler.lastDelivery, PicoSeconds(1'010'000'000 + 3 * 865'600 + 2'000'000));
}

} // namespace
} // namespace ns3::gradsync
