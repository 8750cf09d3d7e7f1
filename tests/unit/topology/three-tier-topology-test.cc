// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/routing-tables.h"
#include "ns3/three-tier-topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ThreeTierOptions
MakeThreeTierOptions()
{
    return {.pods = 2,
            .leavesPerPod = 3,
            .aggregationsPerPod = 2,
            .cores = 4,
            .hostsPerLeaf = 5,
            .coresPerAggregation = 0,
            .hostLink = {DataRate("10Gbps"), MicroSeconds(1)},
            .leafUplink = {DataRate("40Gbps"), MicroSeconds(2)},
            .aggregationUplink = {DataRate("100Gbps"), MicroSeconds(3)},
            .rackOversubscription = 0,
            .podOversubscription = 0,
            .server = {}};
}

std::vector<std::string>
GetPeers(const Topology& topology, const char* name)
{
    std::vector<std::string> peers;
    for (const auto& port : topology.GetPorts(*topology.FindNode(name)))
    {
        peers.push_back(topology.GetNodes()[port.peer].name);
    }
    return peers;
}

TEST(ThreeTierTopology, HasAllSwitchesAndLinks)
{
    const auto topology = MakeThreeTierTopology(MakeThreeTierOptions());
    // 4 cores, 2*2 aggregation, 2*3 leaves, 2*3*5 hosts.
    EXPECT_EQ(topology.GetNodes().size(), 44U);
    EXPECT_EQ(topology.GetEndpoints().size(), 30U);
    // 2*2*4 to the cores, 2*3*2 in the pods, 30 hosts.
    EXPECT_EQ(topology.GetLinks().size(), 58U);
    EXPECT_THAT(GetPeers(topology, "aggregation2"),
                ElementsAre("core0", "core1", "core2", "core3", "leaf3", "leaf4", "leaf5"));
    EXPECT_NO_THROW(topology.CheckConnected());
    for (const auto& link : topology.GetLinks())
    {
        const auto upper = topology.GetNodes()[link.a].tier + topology.GetNodes()[link.b].tier;
        // Tiers 0+1: host link; 1+2: leaf uplink; 2+3: aggregation uplink.
        const auto expected = upper == 1 ? "10Gbps" : upper == 3 ? "40Gbps" : "100Gbps";
        EXPECT_EQ(link.rate, DataRate(expected));
    }
}

TEST(ThreeTierTopology, HasPathsOfTwoFourAndSixLinks)
{
    const auto topology = MakeThreeTierTopology(MakeThreeTierOptions());
    const RoutingTables routes(topology);
    EXPECT_EQ(routes.GetDistance(0, 4), 2U);
    EXPECT_EQ(routes.GetDistance(0, 5), 4U);
    EXPECT_EQ(routes.GetDistance(0, 15), 6U);
    EXPECT_EQ(routes.GetNextHops(*topology.FindNode("aggregation0"), 15).size(), 4U);
}

TEST(ThreeTierTopology, LinksCorePlanesToOneAggregationSwitchOfEachPod)
{
    auto options = MakeThreeTierOptions();
    options.coresPerAggregation = 2;
    const auto topology = MakeThreeTierTopology(options);
    EXPECT_THAT(GetPeers(topology, "core0"), ElementsAre("aggregation0", "aggregation2"));
    EXPECT_THAT(GetPeers(topology, "core3"), ElementsAre("aggregation1", "aggregation3"));
}

TEST(ThreeTierTopology, SetsRatesForWantedOversubscriptions)
{
    auto options = MakeThreeTierOptions();
    options.rackOversubscription = 2;
    options.podOversubscription = 5;
    const auto topology = MakeThreeTierTopology(options);
    // Rack: 5 * 10 / (2 * 2) = 12.5. Pod: 15 * 10 / (2 * 4 * 5) = 3.75.
    const auto rateOf = [&](const char* name, size_t port) {
        return topology.GetLinks()[topology.GetPorts(*topology.FindNode(name))[port].link].rate;
    };
    EXPECT_EQ(rateOf("leaf0", 0), DataRate(12'500'000'000));
    EXPECT_EQ(rateOf("core0", 0), DataRate(3'750'000'000));
}

TEST(ThreeTierTopology, NamesWhatIsWrong)
{
    const auto error = [](auto change) {
        auto options = MakeThreeTierOptions();
        change(options);
        try
        {
            MakeThreeTierTopology(options);
        }
        catch (const std::invalid_argument& exception)
        {
            return std::string(exception.what());
        }
        return std::string("nothing was thrown");
    };
    EXPECT_THAT(error([](auto& o) { o.pods = 0; }), HasSubstr("pods must be"));
    EXPECT_THAT(error([](auto& o) { o.leavesPerPod = 0; }), HasSubstr("leavesPerPod must be"));
    EXPECT_THAT(error([](auto& o) { o.aggregationsPerPod = 0; }), HasSubstr("aggregationsPerPod"));
    EXPECT_THAT(error([](auto& o) { o.cores = 0; }), HasSubstr("cores must be"));
    EXPECT_THAT(error([](auto& o) { o.hostsPerLeaf = 0; }), HasSubstr("hostsPerLeaf must be"));
    EXPECT_THAT(error([](auto& o) { o.coresPerAggregation = 3; }), HasSubstr("each need 6"));
    EXPECT_THAT(error([](auto& o) { o.leafUplink.rate = DataRate(0); }), HasSubstr("leafUplink"));
    EXPECT_THAT(error([](auto& o) { o.aggregationUplink.rate = DataRate(0); }),
                HasSubstr("aggregationUplink"));
    EXPECT_THAT(error([](auto& o) { o.rackOversubscription = -2; }), HasSubstr("rackOversub"));
    EXPECT_THAT(error([](auto& o) { o.podOversubscription = -2; }), HasSubstr("podOversub"));
    EXPECT_THAT(error([](auto& o) { o.pods = 4'294'967'295; }), HasSubstr("4194304"));
    EXPECT_THAT(error([](auto& o) { o.leavesPerPod = 4'294'967'295; }), HasSubstr("4194304"));
    EXPECT_THAT(error([](auto& o) { o.hostsPerLeaf = 4'294'967'295; }), HasSubstr("32768"));
}

} // namespace
} // namespace ns3::gradsync
