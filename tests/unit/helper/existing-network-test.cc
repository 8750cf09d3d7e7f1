// SPDX-License-Identifier: GPL-2.0-only
#include "unit/helper/existing-network-fixture.h"

#include "ns3/on-off-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/plan-builder.h"
#include "ns3/plan-statistics.h"
#include "ns3/scheme.h"
#include "ns3/string.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <random>
#include <set>

namespace ns3::gradsync::tests
{
namespace
{

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uint64_t SEGMENT = 1448; //!< payload of a full one, as the transport's default
constexpr uint64_t HEADERS = 54;   //!< PPP 2, IPv4 20, TCP with time stamps 32

/// On a line of 1 Gb/s, of which a byte takes 8 ns.
Time
WireTime(uint64_t bytes)
{
    return NanoSeconds(8 * bytes);
}

class ExistingNetworkTest : public ExistingNetworkFixture
{
  protected:
    static ExchangeHelper MakeExchange(const std::string& scheme, uint64_t bytes)
    {
        ExchangeHelper exchange(scheme);
        exchange.SetAttribute("GradientBytes", UintegerValue(bytes));
        return exchange;
    }

    /// Of a ring.
    static Plan MakePlan(uint32_t workers, uint64_t bytes)
    {
        const auto* scheme = FindScheme("ring");
        SchemeRequest request;
        request.workers = workers;
        request.gradientBytes = bytes;
        request.parameters = MakeDefaultParameters(*scheme);
        return scheme->build(request);
    }

    /// For links that lose packets: timers of a data centre's size. One for acknowledgements that
    /// is longer than the other would let a window of one segment time out again and again.
    static FabricHelper MakeFastTcp()
    {
        FabricHelper tcp("tcp");
        tcp.SetTransportAttribute("MinRto", TimeValue(MilliSeconds(5)));
        tcp.SetTransportAttribute("DelayedAckTimeout", TimeValue(MilliSeconds(1)));
        return tcp;
    }
};

/*
 * A ring on a star or a dumbbell of 1 Gb/s, full duplex. A message of n = 4 full segments of wire
 * time t fits the first window of 10 segments, also when those of the step before are not
 * acknowledged yet: nobody waits for a window. With h links of delay d on its way, a step takes
 *
 *   c(h) = (n + h - 1) t + h d
 *
 * and longer only by acknowledgements, which share the links with the data of the other direction:
 * at most n / 2 + 1 of them, of 54 bytes, on each of the h links. Rank i begins step s when the
 * message of rank i - 1 of step s - 1 is there, so the ring ends with the longest chain of 2(w - 1)
 * ways around it. Before, connections open: SYN and its answer, at most 82 bytes each.
 */
void
ExpectRingTime(const std::vector<uint32_t>& linksOfWay, const Time& delay, const Time& ict)
{
    constexpr uint64_t n = 4;
    const auto w = linksOfWay.size();
    Time shortest;
    Time slack;
    for (size_t first = 0; first < w; ++first)
    {
        Time chain;
        Time more = 2 * 3 * (delay + WireTime(82));
        for (size_t step = 0; step < 2 * (w - 1); ++step)
        {
            const auto h = linksOfWay[(first + step) % w];
            chain += WireTime((n + h - 1) * (SEGMENT + HEADERS)) + h * delay;
            more += h * (n / 2 + 1) * WireTime(HEADERS);
        }
        shortest = std::max(shortest, chain);
        slack = std::max(slack, more);
    }
    EXPECT_GE(ict, shortest);
    EXPECT_LE(ict, shortest + slack);
    EXPECT_LT(slack.GetSeconds(), 0.12 * shortest.GetSeconds()); // else it would say little
}

TEST_F(ExistingNetworkTest, ARingOnAStarTakesItsTime)
{
    const auto hosts = BuildStar(6, "1Gbps", MicroSeconds(10));
    MakeExchange("ring", 24 * SEGMENT).Install(hosts);
    ExpectRingTime(std::vector<uint32_t>(6, 2), MicroSeconds(10), RunExactly(hosts).front());
}

TEST_F(ExistingNetworkTest, ARingOnADumbbellTakesItsTime)
{
    // Ranks 0 to 2 are on the left: 2 -> 3 and 5 -> 0 pass the middle, each its own way.
    const auto hosts = BuildDumbbell(3, "1Gbps", MicroSeconds(10));
    MakeExchange("ring", 24 * SEGMENT).Install(hosts);
    ExpectRingTime({2, 2, 3, 2, 2, 3}, MicroSeconds(10), RunExactly(hosts).front());
}

TEST_F(ExistingNetworkTest, LinksCarryWhatThePlanSays)
{
    const auto hosts = BuildDumbbell(2, "1Gbps", MicroSeconds(10));
    const uint64_t bytes = 16 * SEGMENT;
    MakeExchange("ring", bytes).Install(hosts);
    RunExactly(hosts);
    // Each rank sends 2(w - 1) parts, of n = 4 segments, over its link, and what one passes the
    // middle: links are in the order in which the fixture adds them, hosts first.
    const auto links = FabricHost::Of(hosts)->GetTransport()->GetLinkStatistics();
    const auto topology = FabricHost::Of(hosts)->GetTopology();
    ASSERT_EQ(topology->GetLinks().size(), 5);
    for (LinkId link = 0; link < 5; ++link)
    {
        for (uint32_t direction = 0; direction < 2; ++direction)
        {
            EXPECT_EQ(links[2 * link + direction].payloadBytes, 6 * bytes / 4) << link;
            EXPECT_EQ(links[2 * link + direction].droppedPackets, 0);
        }
    }
    // Messages pass 2 links, or 3: 4 ranks, 6 steps, 4 segments.
    EXPECT_EQ(FabricHost::Of(hosts)->GetTransport()->GetStatistics().dataPacketHops,
              6 * 4 * (2 + 3 + 2 + 3));
}

TEST_F(ExistingNetworkTest, APlanOfTheProgramRuns)
{
    const auto hosts = BuildStar(3, "1Gbps", MicroSeconds(1));
    ExchangeHelper(MakePlan(3, 30'000)).Install(hosts);
    RunExactly(hosts);
    EXPECT_EQ(FabricHost::Of(hosts)->GetEngine()->GetDeliveredBytes(), 2 * 2 * 30'000);
}

TEST_F(ExistingNetworkTest, ItSharesTheNetworkWithOtherApplications)
{
    // Host 0 sends 500 Mb/s to host 5 beside its own part of the ring: 3 links in a row that the
    // ring alone would fill. Every transmission of the ring crosses 3 links at most.
    const auto alone = BuildDumbbell(3, "1Gbps", MicroSeconds(10));
    MakeExchange("ring", 1'500'000).Install(alone);
    const auto undisturbed = RunExactly(alone).front();
    const auto own = CountPayload(alone);
    Simulator::Destroy();

    const auto hosts = BuildDumbbell(3, "1Gbps", MicroSeconds(10));
    const auto sink = hosts.Get(5);
    const InetSocketAddress address(AddressOf(sink), 5000);
    OnOffHelper others("ns3::UdpSocketFactory", address);
    others.SetConstantRate(DataRate("500Mbps"), 1024);
    auto sources = others.Install(hosts.Get(0));
    sources.Stop(MilliSeconds(60));
    PacketSinkHelper sinks("ns3::UdpSocketFactory", address);
    const auto received = sinks.Install(sink);
    MakeFastTcp().Adopt(hosts);
    MakeExchange("ring", 1'500'000).Install(hosts);
    const auto disturbed = RunExactly(hosts).front();
    EXPECT_GT(disturbed, undisturbed);
    // The simulation goes on when the exchange has ended.
    EXPECT_GE(Simulator::Now(), MilliSeconds(59));
    EXPECT_LT(disturbed, MilliSeconds(60));
    EXPECT_GT(DynamicCast<ns3::PacketSink>(received.Get(0))->GetTotalRx(), 3'000'000);
    const auto statistics = FabricHost::Of(hosts)->GetTransport()->GetStatistics();
    EXPECT_GE(CountPayload(hosts), own);
    EXPECT_LE(CountPayload(hosts), own + 3 * statistics.retransmittedBytes);
}

TEST_F(ExistingNetworkTest, TwoExchangesShareANetwork)
{
    const auto hosts = BuildStar(4, "1Gbps", MicroSeconds(10));
    MakeExchange("ring", 400'000).Install(hosts);
    const auto alone = RunExactly(hosts).front();
    Simulator::Destroy();

    const auto shared = BuildStar(4, "1Gbps", MicroSeconds(10));
    MakeExchange("ring", 400'000).Install(shared);
    MakeExchange("double-binary-tree", 400'000).Install(shared);
    const auto ends = RunExactly(shared);
    ASSERT_EQ(ends.size(), 2);
    EXPECT_GT(std::max(ends[0], ends[1]), alone);
}

TEST_F(ExistingNetworkTest, JobsOfSomeHostsAreOfOneNetworkThatWasAdopted)
{
    const auto hosts = BuildDumbbell(3, "1Gbps", MicroSeconds(10));
    MakeFastTcp().Adopt(hosts);
    const auto pick = [&hosts](std::initializer_list<uint32_t> which) {
        NodeContainer some;
        for (const auto i : which)
        {
            some.Add(hosts.Get(i));
        }
        return some;
    };
    MakeExchange("ring", 100'000).Install(pick({0, 1, 3}));
    MakeExchange("ring", 100'000).Install(pick({5, 3, 2, 1}));
    EXPECT_EQ(RunExactly(hosts).size(), 2);
}

TEST_F(ExistingNetworkTest, NetworksThatShareNoHostAreApart)
{
    const auto hosts = BuildDumbbell(2, "1Gbps", MicroSeconds(10));
    const NodeContainer left(hosts.Get(0), hosts.Get(1));
    const NodeContainer right(hosts.Get(2), hosts.Get(3));
    MakeExchange("ring", 100'000).Install(left);
    MakeExchange("ring", 100'000).Install(right);
    EXPECT_NE(FabricHost::Of(left)->GetEngine(), FabricHost::Of(right)->GetEngine());
    Simulator::Run();
    for (const auto& some : {left, right})
    {
        EXPECT_TRUE(FabricHost::Of(some)->GetEngine()->IsFinished());
        EXPECT_EQ(FabricHost::Of(some)->GetTransport()->GetStatistics().goodputBytes, 2 * 100'000);
    }
}

TEST_F(ExistingNetworkTest, SchemesSeeRacksAndSpines)
{
    // Two leaves of two hosts below one spine.
    NodeContainer hosts(4);
    NodeContainer switches(3);
    InstallStack(NodeContainer(hosts, switches));
    for (uint32_t i = 0; i < 4; ++i)
    {
        Link(hosts.Get(i), switches.Get(i / 2), "1Gbps", MicroSeconds(1));
    }
    Link(switches.Get(0), switches.Get(2), "500Mbps", MicroSeconds(1));
    Link(switches.Get(1), switches.Get(2), "500Mbps", MicroSeconds(1));
    FabricHelper("tcp").Adopt(hosts);
    const std::vector<uint32_t> ranks{0, 1, 2, 3};
    const auto groups = ComputeWorkerGroups(*FabricHost::Of(hosts)->GetTopology(), ranks);
    ASSERT_EQ(groups.levels.size(), 1);
    EXPECT_EQ(groups.levels[0].name, "rack");
    EXPECT_THAT(groups.levels[0].groupOf, testing::ElementsAre(0, 0, 1, 1));
    EXPECT_EQ(groups.levels[0].oversubscription, 4.0); // 2 x 1 Gb/s over 500 Mb/s
}

/// A tree of routers with more links between them, hosts at random ones, some at two of them, and
/// some behind another host.
NodeContainer
BuildRandomNetwork(std::mt19937& random, uint32_t workers)
{
    const auto draw = [&random](uint32_t below) { return static_cast<uint32_t>(random() % below); };
    const auto link = [&draw](const Ptr<Node>& a, const Ptr<Node>& b) {
        const auto* rate = draw(2) == 0 ? "200Mbps" : "1Gbps";
        ExistingNetworkFixture::Link(a, b, rate, MicroSeconds(1 + draw(50)));
    };
    const NodeContainer routers(1 + draw(4));
    NodeContainer hosts(workers);
    ExistingNetworkFixture::InstallStack(NodeContainer(routers, hosts));
    for (uint32_t i = 1; i < routers.GetN(); ++i)
    {
        link(routers.Get(draw(i)), routers.Get(i));
        if (draw(2) == 0)
        {
            link(routers.Get(draw(i)), routers.Get(i)); // a second way, or a second cable
        }
    }
    for (uint32_t i = 0; i < workers; ++i)
    {
        const bool isBehindHost = i > 0 && draw(4) == 0;
        link(hosts.Get(i), isBehindHost ? hosts.Get(draw(i)) : routers.Get(draw(routers.GetN())));
        if (draw(4) == 0)
        {
            link(hosts.Get(i), routers.Get(draw(routers.GetN())));
        }
    }
    ExistingNetworkFixture::Route();
    return hosts;
}

TEST_F(ExistingNetworkTest, RandomNetworksCarryRandomExchanges)
{
    const std::vector<std::string> schemes{"ring", "double-binary-tree", "halving-doubling", "ps"};
    for (uint32_t seed = 1; seed <= 24; ++seed)
    {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto workers = 2 + static_cast<uint32_t>(random() % 6);
        const auto& scheme = schemes[random() % schemes.size()];
        const uint64_t bytes = 4 * (1000 + random() % 100'000);
        const auto hosts = BuildRandomNetwork(random, workers);
        MakeFastTcp().Adopt(hosts);
        MakeExchange(scheme, bytes).Install(hosts);
        const auto ict = RunExactly(hosts).front();
        // No host sends faster than all its links together.
        const auto network = FabricHost::Of(hosts);
        const auto plan = network->GetEngine()->GetPlans(0).front().plan;
        const auto statistics = ComputePlanStatistics(*plan);
        const auto& topology = *network->GetTopology();
        for (uint32_t rank = 0; rank < workers; ++rank)
        {
            double bits = 0.0;
            for (const auto& port : topology.GetPorts(topology.GetEndpoints()[rank]))
            {
                bits += static_cast<double>(topology.GetLinks()[port.link].rate.GetBitRate());
            }
            EXPECT_GE(ict.GetSeconds(),
                      8.0 * static_cast<double>(statistics.sentBytes[rank]) / bits);
        }
        Simulator::Destroy();
    }
}

TEST_F(ExistingNetworkTest, RefusesNodesThatCannotBeHosts)
{
    const auto hosts = BuildStar(3, "1Gbps", MicroSeconds(1));
    const auto install = [](const NodeContainer& nodes) {
        return RefusalOf([&nodes] { MakeExchange("ring", 1000).Install(nodes); });
    };
    const NodeContainer bare(1);
    EXPECT_THAT(install(NodeContainer(hosts, bare)),
                HasSubstr("node 4 has no Internet stack with IPv4 and TCP: install one with "
                          "InternetStackHelper"));
    InstallStack(bare);
    EXPECT_THAT(install(NodeContainer(hosts, bare)),
                HasSubstr("no point-to-point device of node 4 has an IPv4 address"));
    EXPECT_THAT(install(NodeContainer(hosts, hosts.Get(1))), HasSubstr("node 1 is there twice"));
    const auto apart = BuildStar(2, "1Gbps", MicroSeconds(1));
    EXPECT_THAT(install(NodeContainer(hosts, apart)),
                AllOf(HasSubstr("no point-to-point links lead from node 5 (10."),
                      HasSubstr(" to node 0 (10.")));
    EXPECT_THAT(install(NodeContainer(hosts.Get(0))), HasSubstr("1 hosts are too few"));
}

TEST_F(ExistingNetworkTest, RefusesWhatIsNotTheTransportsToSay)
{
    const auto hosts = BuildStar(3, "1Gbps", MicroSeconds(1));
    EXPECT_THAT(RefusalOf([&] { FabricHelper("roce").Adopt(hosts); }),
                HasSubstr("only the transport \"tcp\" runs on one of the program's own"));
    FabricHelper tcp("tcp");
    tcp.SetTransportAttribute("LossRate", DoubleValue(0.1));
    EXPECT_THAT(RefusalOf([&] { tcp.Adopt(hosts); }),
                HasSubstr("LossRate is of networks that the transport builds"));
    FabricHelper large("tcp");
    large.SetTransportAttribute("SegmentBytes", UintegerValue(8948));
    EXPECT_THAT(RefusalOf([&] { large.Adopt(hosts); }),
                HasSubstr("segments of 8948 bytes and 52 of headers do not fit the MTU of 1500"));
    FabricHelper("tcp").Adopt(NodeContainer(hosts.Get(0), hosts.Get(1)));
    EXPECT_THAT(RefusalOf([&] { FabricHelper("tcp").Adopt(hosts); }),
                HasSubstr("node 0 is a host of a network already"));
    EXPECT_THAT(RefusalOf([&] { MakeExchange("ring", 1000).Install(hosts); }),
                HasSubstr("node 2 is no host of a network"));
    EXPECT_EQ(FabricHost::Of(hosts)->GetTransport()->GetFaults(), nullptr);
    EXPECT_THAT(RefusalOf([&] {
                    FabricHost::Of(hosts)->GetTransport()->GetCapabilities()->Capture(0, ".");
                }),
                HasSubstr("capture them with PointToPointHelper"));
}

TEST_F(ExistingNetworkTest, APlanWantsAsManyNodesAsItHasRanks)
{
    const auto hosts = BuildStar(3, "1Gbps", MicroSeconds(1));
    const ExchangeHelper exchange(MakePlan(4, 4000));
    try
    {
        exchange.Install(hosts);
        FAIL() << "installed";
    }
    catch (const std::runtime_error& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("the plan is for 4 workers, and there are 3"));
    }
}

TEST_F(ExistingNetworkTest, ANetworkWithoutRoutesSaysWhoCannotReachWhom)
{
    NodeContainer hosts(2);
    const NodeContainer router(1);
    InstallStack(NodeContainer(hosts, router));
    Link(hosts.Get(0), router.Get(0), "1Gbps", MicroSeconds(1));
    Link(hosts.Get(1), router.Get(0), "1Gbps", MicroSeconds(1));
    MakeExchange("ring", 1000).Install(hosts); // and no PopulateRoutingTables
    Simulator::Run();
    const auto failure = FabricHost::Of(hosts)->GetEngine()->GetFailure();
    ASSERT_TRUE(failure.has_value());
    EXPECT_THAT(failure->reason, HasSubstr("no path from node 0 (10.0.0.1) to node 1 (10.0.1.1)"));
}

} // namespace
} // namespace ns3::gradsync::tests
