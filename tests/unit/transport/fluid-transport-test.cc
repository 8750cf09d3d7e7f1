// SPDX-License-Identifier: GPL-2.0-only
#include "oracles/oracle-network.h"
#include "support/message-collector.h"
#include "support/picosecond-clock.h"

#include "ns3/double.h"
#include "ns3/fluid-transport.h"
#include "ns3/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

/// Two racks of two hosts, 8 Mb/s (a byte a microsecond) everywhere: hosts 0, 1 | 2, 3.
class FluidTransportTest : public testing::Test
{
  protected:
    static void SetUpTestSuite()
    {
        tests::UsePicoseconds();
    }

    void Install(const Time& delay)
    {
        network = oracles::MakeRackNetwork(2, 2, {DataRate("8Mbps"), DataRate("8Mbps"), delay});
        transport->Install(network.topology, network.routes);
    }

    void Send(uint32_t src, uint32_t dst, uint32_t stream, uint64_t bytes, uint64_t tag)
    {
        transport->Send({src, dst, stream, bytes, tag, &collector});
    }

    void TearDown() override
    {
        transport->Dispose();
        Simulator::Destroy();
    }

    Ptr<FluidTransport> transport{CreateObject<FluidTransport>()};
    oracles::RackNetwork network;
    tests::MessageCollector collector;
};

TEST_F(FluidTransportTest, DeliversAfterServiceAndPropagation)
{
    Install(MicroSeconds(5));
    Send(0, 1, 0, 1000, 1); // 1000 us + 2 links of 5 us
    Send(2, 0, 0, 1000, 2); // 1000 us + 4 links
    Simulator::Run();
    EXPECT_THAT(collector.delivered,
                ElementsAre(Pair(1, MicroSeconds(1010)), Pair(2, MicroSeconds(1020))));
}

TEST_F(FluidTransportTest, ServesAConnectionInOrderAndStreamsSideBySide)
{
    Install(Time(0));
    Send(0, 1, 0, 100, 1);
    Send(0, 1, 0, 100, 2);
    Send(0, 1, 7, 100, 3);
    Simulator::Run();
    // 1 and 3 share: 200 us. Then 2 has the link alone: 300 us.
    EXPECT_THAT(collector.delivered,
                ElementsAre(Pair(1, MicroSeconds(200)),
                            Pair(3, MicroSeconds(200)),
                            Pair(2, MicroSeconds(300))));
}

TEST_F(FluidTransportTest, StartsTheNextMessageWhenThePreviousIsServedNotWhenItIsDelivered)
{
    Install(MicroSeconds(50));
    Send(0, 1, 0, 100, 1);
    Send(0, 1, 0, 100, 2);
    Simulator::Run();
    EXPECT_THAT(collector.delivered,
                ElementsAre(Pair(1, MicroSeconds(200)), Pair(2, MicroSeconds(300))));
}

TEST_F(FluidTransportTest, SharesABottleneckMaxMinFairly)
{
    Install(Time(0));
    // The uplink of rack 0 carries 1 and 2: half a byte a microsecond each. Host 0's own link has
    // half left for 3, and host 1's receiving side is free for it.
    Send(0, 2, 0, 100, 1);
    Send(1, 3, 0, 100, 2);
    Send(0, 1, 0, 150, 3);
    Simulator::Run();
    // 1, 2: 200 us. 3: 100 bytes by then, 50 more at full rate.
    EXPECT_THAT(collector.delivered,
                ElementsAre(Pair(1, MicroSeconds(200)),
                            Pair(2, MicroSeconds(200)),
                            Pair(3, MicroSeconds(250))));
}

TEST_F(FluidTransportTest, RecomputesOncePerInstant)
{
    Install(Time(0));
    for (uint32_t host = 0; host < 4; ++host)
    {
        Send(host, host ^ 1, 0, 500, host);
        Send(host, host ^ 1, 0, 500, 10 + host);
    }
    Simulator::Run();
    EXPECT_EQ(collector.delivered.size(), 8U);
    // At 0 and at the end; the second messages follow the first on the same connections.
    EXPECT_EQ(transport->GetAllocationCount(), 2U);
}

TEST_F(FluidTransportTest, KeepsTheRatesWhenOneConnectionOfAPairTakesOverFromAnother)
{
    Install(Time(0));
    Send(0, 1, 0, 100, 1);
    // Queued behind the delivery at 100 us, at the same instant.
    Simulator::Schedule(MicroSeconds(100), [this] { Send(0, 1, 5, 100, 2); });
    Simulator::Run();
    EXPECT_THAT(collector.delivered,
                ElementsAre(Pair(1, MicroSeconds(100)), Pair(2, MicroSeconds(200))));
    // One flow of the pair all the time: computed at 0 and when the last one ended.
    EXPECT_EQ(transport->GetAllocationCount(), 2U);
}

TEST_F(FluidTransportTest, DeliversEmptyMessagesInTheirTurn)
{
    Install(MicroSeconds(1));
    Send(0, 1, 0, 0, 1);
    Send(0, 1, 0, 10, 2);
    Send(0, 1, 0, 0, 3);
    Simulator::Run();
    EXPECT_THAT(collector.delivered,
                ElementsAre(Pair(1, MicroSeconds(2)),
                            Pair(2, MicroSeconds(12)),
                            Pair(3, MicroSeconds(12))));
}

TEST_F(FluidTransportTest, CountsBytesOnEveryLinkOfThePath)
{
    Install(Time(0));
    Send(0, 2, 0, 1001, 1);
    Send(0, 1, 0, 10, 2);
    Simulator::Run();
    const auto links = transport->GetLinkStatistics();
    // Links in order: leaf0-core, host0-leaf0, host1-leaf0, leaf1-core, host2-leaf1, host3-leaf1.
    std::vector<uint64_t> bytes;
    for (const auto& link : links)
    {
        EXPECT_EQ(link.wireBytes, link.payloadBytes);
        bytes.push_back(link.payloadBytes);
    }
    EXPECT_THAT(bytes, ElementsAre(1001, 0, 1011, 0, 0, 10, 0, 1001, 0, 1001, 0, 0));
    EXPECT_EQ(transport->GetStatistics().goodputBytes, 1011U);
    EXPECT_EQ(transport->GetStatistics().wireBytes, 4U * 1001 + 2 * 10);
}

TEST_F(FluidTransportTest, EfficiencyTakesHeadersOutOfTheRate)
{
    transport->SetAttribute("Efficiency", DoubleValue(0.5));
    Install(Time(0));
    Send(0, 1, 0, 100, 1);
    Simulator::Run();
    EXPECT_THAT(collector.delivered, ElementsAre(Pair(1, MicroSeconds(200))));
    EXPECT_EQ(transport->GetStatistics().wireBytes, 2U * 200);
}

TEST_F(FluidTransportTest, RejectsMessagesThatNoNetworkCanCarry)
{
    Install(Time(0));
    EXPECT_THROW(Send(0, 4, 0, 1, 1), std::invalid_argument);
    EXPECT_THROW(Send(4, 0, 0, 1, 1), std::invalid_argument);
    EXPECT_THROW(Send(2, 2, 0, 1, 1), std::invalid_argument);
}

TEST_F(FluidTransportTest, ReportsAnUnreachableReceiverToTheHandler)
{
    auto topology = std::make_shared<Topology>();
    topology->AddNode("a", NodeKind::Host, 0);
    topology->AddNode("b", NodeKind::Host, 0);
    transport->Install(topology, std::make_shared<RoutingTables>(*topology));
    Send(0, 1, 0, 1, 9);
    EXPECT_TRUE(collector.failed.empty()); // not from within Send
    Simulator::Run();
    EXPECT_THAT(collector.failed, ElementsAre(Pair(9, HasSubstr("no path from endpoint 0"))));
}

TEST_F(FluidTransportTest, SplitsOverEqualCostPathsAndWaitsForTheLongest)
{
    // Two spines; the paths differ in delay only. Fabric links at half a byte a microsecond.
    auto topology = std::make_shared<Topology>();
    const auto a = topology->AddNode("a", NodeKind::Host, 0);
    const auto b = topology->AddNode("b", NodeKind::Host, 0);
    const auto leafA = topology->AddNode("leafA", NodeKind::Switch, 1);
    const auto leafB = topology->AddNode("leafB", NodeKind::Switch, 1);
    topology->AddLink(a, leafA, DataRate("8Mbps"), Time(0), LinkKind::Host);
    topology->AddLink(b, leafB, DataRate("8Mbps"), Time(0), LinkKind::Host);
    for (const auto& delay : {MicroSeconds(3), MicroSeconds(20)})
    {
        const auto spine =
            topology->AddNode(delay == MicroSeconds(3) ? "near" : "far", NodeKind::Switch, 2);
        topology->AddLink(leafA, spine, DataRate("4Mbps"), delay, LinkKind::Fabric);
        topology->AddLink(spine, leafB, DataRate("4Mbps"), delay, LinkKind::Fabric);
    }
    transport->Install(topology, std::make_shared<RoutingTables>(*topology));
    Send(0, 1, 0, 1000, 1);
    Simulator::Run();
    // Half on each path fills both: 1000 us, and 2 x 20 us on the far one.
    EXPECT_THAT(collector.delivered, ElementsAre(Pair(1, MicroSeconds(1040))));
    EXPECT_EQ(transport->GetLinkStatistics()[size_t{2} * 2].payloadBytes, 500U);
}

TEST_F(FluidTransportTest, SurvivesDisposalWithMessagesUnderWay)
{
    Install(MicroSeconds(5));
    Send(0, 1, 0, 1000, 1);
    Simulator::Schedule(MicroSeconds(10), [this] { transport->Dispose(); });
    Simulator::Run();
    EXPECT_TRUE(collector.delivered.empty());
}

} // namespace
} // namespace ns3::gradsync
