// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/routing-tables.h"
#include "ns3/spine-leaf-topology.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

const DataRate Rate{1'000'000'000};
const Time LinkDelay = MicroSeconds(1);

Topology
MakeRoutedSpineLeaf(uint32_t spines, uint32_t leaves, uint32_t hostsPerLeaf)
{
    return MakeSpineLeafTopology({.spines = spines,
                                  .leaves = leaves,
                                  .hostsPerLeaf = hostsPerLeaf,
                                  .hostsOfLeaf = {},
                                  .hostLink = {Rate, LinkDelay},
                                  .fabricLink = {Rate, LinkDelay},
                                  .oversubscription = 0,
                                  .server = {}});
}

/// Two hosts; a - s is doubled, s - b goes over x (one link) or y (one link).
Topology
MakeMultigraph()
{
    Topology topology;
    const auto a = topology.AddNode("a", NodeKind::Host, 0);
    const auto b = topology.AddNode("b", NodeKind::Host, 0);
    const auto s = topology.AddNode("s", NodeKind::Switch, 1);
    const auto x = topology.AddNode("x", NodeKind::Switch, 1);
    const auto y = topology.AddNode("y", NodeKind::Switch, 1);
    topology.AddLink(a, s, Rate, LinkDelay, LinkKind::Host);   // 0
    topology.AddLink(s, a, Rate, LinkDelay, LinkKind::Host);   // 1
    topology.AddLink(s, x, Rate, LinkDelay, LinkKind::Fabric); // 2
    topology.AddLink(s, x, Rate, LinkDelay, LinkKind::Fabric); // 3
    topology.AddLink(y, s, Rate, LinkDelay, LinkKind::Fabric); // 4
    topology.AddLink(x, b, Rate, LinkDelay, LinkKind::Host);   // 5
    topology.AddLink(b, y, Rate, LinkDelay, LinkKind::Host);   // 6
    return topology;
}

TEST(RoutingTables, GivesEqualCostSetsOfASpineLeaf)
{
    const auto topology = MakeRoutedSpineLeaf(3, 2, 2);
    const RoutingTables routes(topology);
    const auto leaf0 = *topology.FindNode("leaf0");
    // Ports of leaf0: 0, 1, 2 to the spines (added first), 3 to host0, 4 to host1.
    EXPECT_THAT(routes.GetNextHops(leaf0, 0), ElementsAre(3));
    EXPECT_THAT(routes.GetNextHops(leaf0, 1), ElementsAre(4));
    EXPECT_THAT(routes.GetNextHops(leaf0, 2), ElementsAre(0, 1, 2));
    // Ports of spine2: 0 to leaf0, 1 to leaf1.
    EXPECT_THAT(routes.GetNextHops(*topology.FindNode("spine2"), 3), ElementsAre(1));
    EXPECT_THAT(routes.GetNextHops(topology.GetEndpoints()[0], 3), ElementsAre(0));
    EXPECT_THAT(routes.GetNextHops(topology.GetEndpoints()[0], 0), IsEmpty());
}

TEST(RoutingTables, CountsLinksOfAShortestPath)
{
    const auto topology = MakeRoutedSpineLeaf(3, 2, 2);
    const RoutingTables routes(topology);
    EXPECT_EQ(routes.GetDistance(0, 0), 0U);
    EXPECT_EQ(routes.GetDistance(0, 1), 2U); // host, leaf, host
    EXPECT_EQ(routes.GetDistance(0, 3), 4U); // host, leaf, spine, leaf, host
}

TEST(RoutingTables, NeverPassThroughAnEndpoint)
{
    // a - m - b would be two links, but m is a host; a - s - t - b is three.
    Topology topology;
    const auto a = topology.AddNode("a", NodeKind::Host, 0);
    const auto m = topology.AddNode("m", NodeKind::Host, 0);
    const auto b = topology.AddNode("b", NodeKind::Host, 0);
    const auto s = topology.AddNode("s", NodeKind::Switch, 1);
    const auto t = topology.AddNode("t", NodeKind::Switch, 1);
    topology.AddLink(a, m, Rate, LinkDelay, LinkKind::Host);
    topology.AddLink(m, b, Rate, LinkDelay, LinkKind::Host);
    topology.AddLink(a, s, Rate, LinkDelay, LinkKind::Host);
    topology.AddLink(s, t, Rate, LinkDelay, LinkKind::Fabric);
    topology.AddLink(t, b, Rate, LinkDelay, LinkKind::Host);
    const RoutingTables routes(topology);
    EXPECT_EQ(routes.GetDistance(0, 2), 3U);
    EXPECT_THAT(routes.GetNextHops(a, 2), ElementsAre(1));
    EXPECT_EQ(routes.GetDistance(0, 1), 1U);
}

TEST(RoutingTables, HaveNoNextHopToAnUnreachableEndpoint)
{
    Topology topology;
    const auto a = topology.AddNode("a", NodeKind::Host, 0);
    topology.AddNode("b", NodeKind::Host, 0);
    topology.AddLink(a,
                     topology.AddNode("s", NodeKind::Switch, 1),
                     Rate,
                     LinkDelay,
                     LinkKind::Host);
    const RoutingTables routes(topology);
    EXPECT_THAT(routes.GetNextHops(a, 1), IsEmpty());
    EXPECT_THROW(routes.GetDistance(0, 1), std::invalid_argument);
    EXPECT_THROW(routes.GetEvenSplit(0, 1), std::invalid_argument);
}

/// Compares (link, forward, share) triples.
void
ExpectShares(const std::vector<RoutingTables::LinkShare>& found,
             const std::vector<RoutingTables::LinkShare>& expected)
{
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i)
    {
        EXPECT_EQ(found[i].link, expected[i].link) << i;
        EXPECT_EQ(found[i].forward, expected[i].forward) << i;
        EXPECT_DOUBLE_EQ(found[i].share, expected[i].share) << i;
    }
}

TEST(RoutingTables, SplitEvenlyOverParallelLinksAndPaths)
{
    const auto topology = MakeMultigraph();
    const RoutingTables routes(topology);
    // a has two ports to s: 1/2 each. s has three ports of equal cost (two to x, one to y): 1/3
    // each. x hands on 2/3, y 1/3. `forward` follows the order in which the ends were given.
    ExpectShares(routes.GetEvenSplit(0, 1),
                 {{0, true, 1. / 2},
                  {1, false, 1. / 2},
                  {2, true, 1. / 3},
                  {3, true, 1. / 3},
                  {4, false, 1. / 3},
                  {5, true, 2. / 3},
                  {6, false, 1. / 3}});
    // Back: b splits 1/2 to x and y; x splits its 1/2 over two links.
    ExpectShares(routes.GetEvenSplit(1, 0),
                 {{0, false, 1. / 2},
                  {1, true, 1. / 2},
                  {2, false, 1. / 4},
                  {3, false, 1. / 4},
                  {4, true, 1. / 2},
                  {5, false, 1. / 2},
                  {6, true, 1. / 2}});
    EXPECT_THAT(routes.GetEvenSplit(1, 1), IsEmpty());
}

TEST(RoutingTables, SplitSharesSumToTheNumberOfLinksOnThePath)
{
    const auto topology = MakeRoutedSpineLeaf(4, 3, 2);
    const RoutingTables routes(topology);
    for (uint32_t source = 0; source < 6; ++source)
    {
        for (uint32_t destination = 0; destination < 6; ++destination)
        {
            double sum = 0;
            for (const auto& share : routes.GetEvenSplit(source, destination))
            {
                sum += share.share;
            }
            // Every shortest path has the same length, and the shares of each step sum to 1.
            EXPECT_DOUBLE_EQ(sum, routes.GetDistance(source, destination));
        }
    }
}

TEST(RoutingTables, StoreEqualRowsOnce)
{
    const auto topology = MakeRoutedSpineLeaf(16, 32, 32);
    const RoutingTables routes(topology);
    // 1024 + 48 nodes have a row of each of 16 blocks of 64 hosts, which are two leaves. Distinct
    // rows: one of all spines for each block; that of the other leaves; those of the two leaves of
    // a block, alike for all blocks; that of the other hosts; 64 of those that are in it.
    constexpr uint64_t rows = 16 + 1 + 2 + 1 + 64;
    const auto bytes = (1072ULL * 16 + rows * 64) * 4;
    // Sets: none; the ports 0 to 47; all 16 to the spines. An offset each, and one at the end.
    constexpr uint64_t sets = 1 + 48 + 1;
    EXPECT_EQ(routes.GetMemoryBytes(), bytes + (sets + 1) * 4 + (48 + 16) * 2);
    EXPECT_EQ(routes.GetDistance(0, 1023), 4U);
    EXPECT_EQ(routes.GetLargestSetSize(*topology.FindNode("leaf7")), 16U);
    EXPECT_EQ(routes.GetLargestSetSize(*topology.FindNode("spine7")), 1U);
}

/// Ports on shortest paths, as the definition has them.
std::vector<uint16_t>
FindHops(const Topology& topology,
         const std::vector<uint32_t>& distances,
         NodeId node,
         NodeId target,
         const std::vector<bool>& excluded)
{
    std::vector<uint16_t> hops;
    std::vector<uint16_t> nvlinks;
    for (uint16_t port = 0; port < topology.GetPorts(node).size(); ++port)
    {
        const auto [link, peer] = topology.GetPorts(node)[port];
        const bool mayPass = peer == target || !IsEndpoint(topology.GetNodes()[peer].kind);
        if (mayPass && !excluded[link] && distances[peer] + 1 == distances[node])
        {
            hops.push_back(port);
            if (topology.GetLinks()[link].kind == LinkKind::Nvlink)
            {
                nvlinks.push_back(port);
            }
        }
    }
    return nvlinks.empty() ? hops : nvlinks;
}

TEST(RoutingTables, HoldTheDefinitionOnRandomGraphs)
{
    std::mt19937 random(1);
    const auto draw = [&](size_t count) { return static_cast<uint32_t>(random() % count); };
    for (uint32_t graph = 0; graph < 20; ++graph)
    {
        // More endpoints than two blocks of rows hold; some are cut off, some links excluded.
        Topology topology;
        const auto endpoints = 1 + draw(150);
        const auto switches = 1 + draw(30);
        for (uint32_t i = 0; i < switches; ++i)
        {
            topology.AddNode("s" + std::to_string(i), NodeKind::Switch, 1);
        }
        for (uint32_t i = 0; i < endpoints; ++i)
        {
            topology.AddNode("e" + std::to_string(i), NodeKind::Accelerator, 0);
        }
        const auto nodes = switches + endpoints;
        for (uint32_t i = 0; i < 2 * nodes; ++i)
        {
            const auto a = i < nodes ? i : draw(nodes);
            const auto b = draw(i % 3 == 0 ? nodes : switches);
            if (a != b)
            {
                const auto kind = draw(3) == 0 ? LinkKind::Nvlink : LinkKind::Fabric;
                topology.AddLink(a, b, Rate, LinkDelay, kind);
            }
        }
        std::vector<bool> excluded(topology.GetLinks().size());
        std::generate(excluded.begin(), excluded.end(), [&] {
            return graph % 2 == 1 && draw(8) == 0;
        });
        const RoutingTables routes(topology, excluded);
        for (uint32_t endpoint = 0; endpoint < endpoints; ++endpoint)
        {
            const auto target = topology.GetEndpoints()[endpoint];
            const auto distances = topology.GetDistancesTo(target, excluded);
            for (NodeId node = 0; node < nodes; ++node)
            {
                const bool reaches = node != target && distances[node] != Topology::Unreachable;
                const auto expected = reaches
                                          ? FindHops(topology, distances, node, target, excluded)
                                          : std::vector<uint16_t>{};
                ASSERT_THAT(routes.GetNextHops(node, endpoint), ElementsAreArray(expected))
                    << "graph " << graph << ", from " << node << " to endpoint " << endpoint;
            }
        }
    }
}

/// Two hosts on a, two on b; a and b have uplinks to s and t of the given rates.
Topology
MakeAsymmetric(const std::vector<const char*>& rates, PathWeights weights)
{
    Topology topology;
    topology.SetPathWeights(weights);
    const auto a = topology.AddNode("a", NodeKind::Switch, 1);
    const auto b = topology.AddNode("b", NodeKind::Switch, 1);
    const auto s = topology.AddNode("s", NodeKind::Switch, 2);
    const auto t = topology.AddNode("t", NodeKind::Switch, 2);
    topology.AddLink(a, s, DataRate(rates[0]), LinkDelay, LinkKind::Fabric);
    topology.AddLink(a, t, DataRate(rates[1]), LinkDelay, LinkKind::Fabric);
    topology.AddLink(s, b, DataRate(rates[2]), LinkDelay, LinkKind::Fabric);
    topology.AddLink(t, b, DataRate(rates[3]), LinkDelay, LinkKind::Fabric);
    for (const auto& [name, leaf] : {std::pair{"a0", a}, {"a1", a}, {"b0", b}, {"b1", b}})
    {
        const auto host = topology.AddNode(name, NodeKind::Host, 0);
        topology.AddLink(host, leaf, DataRate("10Gbps"), LinkDelay, LinkKind::Host);
    }
    return topology;
}

TEST(RoutingTables, WeighNextHopsByTheRatesOfTheirLinks)
{
    const std::vector<const char*> rates{"100Gbps", "40Gbps", "100Gbps", "40Gbps"};
    const auto even = MakeAsymmetric(rates, PathWeights::Even);
    EXPECT_THAT(RoutingTables(even).GetNextHops(0, 2), ElementsAre(0, 1));
    // 100 : 40 = 5 : 2. The hosts' own links of 10 Gb/s do not count.
    const auto weighted = MakeAsymmetric(rates, PathWeights::Capacity);
    const RoutingTables routes(weighted);
    EXPECT_THAT(routes.GetNextHops(0, 2), ElementsAre(0, 0, 0, 0, 0, 1, 1));
    EXPECT_THAT(routes.GetNextHops(0, 0), ElementsAre(2)); // its own host
    const auto shares = routes.GetEvenSplit(0, 2);
    ASSERT_EQ(shares.size(), 6U);
    EXPECT_DOUBLE_EQ(shares[0].share, 5.0 / 7);
    EXPECT_DOUBLE_EQ(shares[1].share, 2.0 / 7);
    EXPECT_DOUBLE_EQ(shares[2].share, 5.0 / 7); // s hands on what it got
}

TEST(RoutingTables, WeighNextHopsByWhatLiesBehindThem)
{
    // Equal uplinks, but s has only 25 Gb/s to b and t has 75.
    const auto topology =
        MakeAsymmetric({"100Gbps", "100Gbps", "25Gbps", "75Gbps"}, PathWeights::Capacity);
    EXPECT_THAT(RoutingTables(topology).GetNextHops(0, 3), ElementsAre(0, 1, 1, 1));
    // Without the link from t to b all goes by s.
    EXPECT_THAT(RoutingTables(topology, {false, false, false, true, false, false, false, false})
                    .GetNextHops(0, 3),
                ElementsAre(0));
}

TEST(RoutingTables, RoundWeightsToAFewEntries)
{
    // 100 : 99.9 would take 1999 entries, and is as good as even; 1000 : 1 gets one of 64.
    const auto near =
        MakeAsymmetric({"100Gbps", "99900Mbps", "100Gbps", "99900Mbps"}, PathWeights::Capacity);
    EXPECT_DOUBLE_EQ(RoutingTables(near).GetEvenSplit(0, 2)[0].share, 0.5);
    const auto far =
        MakeAsymmetric({"100Gbps", "100Mbps", "100Gbps", "100Mbps"}, PathWeights::Capacity);
    EXPECT_DOUBLE_EQ(RoutingTables(far).GetEvenSplit(0, 2)[1].share, 1.0 / 65);
    EXPECT_LE(RoutingTables(far).GetNextHops(0, 2).size(), RoutingTables::MAX_ENTRIES + 1U);
}

} // namespace
} // namespace ns3::gradsync
