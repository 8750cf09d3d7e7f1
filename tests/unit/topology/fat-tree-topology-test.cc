// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fat-tree-topology.h"
#include "ns3/routing-tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>

namespace ns3::gradsync
{
namespace
{

const LinkOptions Link{DataRate("10Gbps"), MicroSeconds(1)};

FatTreeOptions
MakeFatTreeOptions(uint32_t k, uint32_t hostsPerLeaf = 0)
{
    return {.k = k,
            .hostsPerLeaf = hostsPerLeaf,
            .hostLink = Link,
            .leafUplink = Link,
            .aggregationUplink = Link,
            .rackOversubscription = 0,
            .podOversubscription = 0,
            .server = {}};
}

/// Number of distinct shortest paths from a node to an endpoint.
uint32_t
CountPaths(const Topology& topology, const RoutingTables& routes, NodeId node, uint32_t endpoint)
{
    if (node == topology.GetEndpoints()[endpoint])
    {
        return 1;
    }
    uint32_t paths = 0;
    for (const auto port : routes.GetNextHops(node, endpoint))
    {
        paths += CountPaths(topology, routes, topology.GetPorts(node)[port].peer, endpoint);
    }
    return paths;
}

TEST(FatTreeTopology, HasTheCountsOfAlFares)
{
    for (const uint32_t k : {2, 4, 6, 8})
    {
        const auto topology = MakeFatTreeTopology(MakeFatTreeOptions(k));
        const auto half = k / 2;
        // k^3/4 hosts; k pods of k switches and (k/2)^2 cores; each of 3 layers has k^3/4 links.
        EXPECT_EQ(topology.GetEndpoints().size(), k * half * half);
        EXPECT_EQ(topology.GetNodes().size(), k * half * half + k * k + half * half);
        EXPECT_EQ(topology.GetLinks().size(), 3 * k * half * half);
        for (NodeId node = 0; node < topology.GetNodes().size(); ++node)
        {
            const auto isSwitch = topology.GetNodes()[node].kind == NodeKind::Switch;
            EXPECT_EQ(topology.GetPorts(node).size(), isSwitch ? k : 1U)
                << topology.GetNodes()[node].name;
        }
        EXPECT_NO_THROW(topology.CheckConnected());
    }
}

TEST(FatTreeTopology, HasOneTwoAndFourPathsAtK4)
{
    const auto topology = MakeFatTreeTopology(MakeFatTreeOptions(4));
    const RoutingTables routes(topology);
    const auto host0 = topology.GetEndpoints()[0];
    // host1 is on the same leaf, host2 in the same pod, host4 in the next pod.
    EXPECT_EQ(routes.GetDistance(0, 1), 2U);
    EXPECT_EQ(routes.GetDistance(0, 2), 4U);
    EXPECT_EQ(routes.GetDistance(0, 4), 6U);
    EXPECT_EQ(CountPaths(topology, routes, host0, 1), 1U);
    EXPECT_EQ(CountPaths(topology, routes, host0, 2), 2U);
    EXPECT_EQ(CountPaths(topology, routes, host0, 4), 4U);
}

TEST(FatTreeTopology, SplitsTrafficBetweenPodsOverAllCores)
{
    const auto topology = MakeFatTreeTopology(MakeFatTreeOptions(4));
    const auto shares = RoutingTables(topology).GetEvenSplit(0, 15);
    // Up: 1 host link, 2 leaf uplinks of 1/2, 4 core links of 1/4; down the same.
    ASSERT_EQ(shares.size(), 14U);
    double sum = 0;
    for (const auto& share : shares)
    {
        sum += share.share;
    }
    EXPECT_DOUBLE_EQ(sum, 6.0);
}

TEST(FatTreeTopology, TakesMoreHostsPerLeafThanPortsUp)
{
    const auto topology = MakeFatTreeTopology(MakeFatTreeOptions(4, 7));
    EXPECT_EQ(topology.GetEndpoints().size(), 8U * 7U);
    EXPECT_EQ(topology.GetPorts(*topology.FindNode("leaf0")).size(), 9U);
}

TEST(FatTreeTopology, RejectsWhatIsNoFatTree)
{
    for (const uint32_t k : {0, 1, 3, 2048})
    {
        EXPECT_THROW(MakeFatTreeTopology(MakeFatTreeOptions(k)), std::invalid_argument) << k;
    }
    EXPECT_THROW(MakeFatTreeTopology(MakeFatTreeOptions(64)),
                 std::invalid_argument); // 65,536 hosts
}

} // namespace
} // namespace ns3::gradsync
