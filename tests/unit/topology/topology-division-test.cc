// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fat-tree-topology.h"
#include "ns3/spine-leaf-topology.h"
#include "ns3/star-topology.h"
#include "ns3/topology-division.h"

#include <algorithm>
#include <cstdint>
#include <gmock/gmock.h>
#include <random>
#include <stdexcept>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const LinkOptions LINK{DataRate("10Gbps"), MicroSeconds(1)};

Topology
MakeLeaves(uint32_t spines, std::vector<uint32_t> hostsOfLeaf)
{
    SpineLeafOptions options;
    options.spines = spines;
    options.leaves = static_cast<uint32_t>(hostsOfLeaf.size());
    options.hostsOfLeaf = std::move(hostsOfLeaf);
    options.hostLink = LINK;
    options.fabricLink = LINK;
    return MakeSpineLeafTopology(options);
}

std::vector<uint32_t>
CountEndpoints(const Topology& topology, const TopologyDivision& division)
{
    std::vector<uint32_t> counts(division.count, 0);
    for (const auto node : topology.GetEndpoints())
    {
        ++counts[division.partOf[node]];
    }
    return counts;
}

/// What every division must be: no link between two processes ends at an endpoint, or is without
/// delay.
void
ExpectSound(const Topology& topology, const TopologyDivision& division)
{
    ASSERT_EQ(division.partOf.size(), topology.GetNodes().size());
    for (const auto part : division.partOf)
    {
        ASSERT_LT(part, division.count);
    }
    for (const auto& link : topology.GetLinks())
    {
        if (division.IsCut(link))
        {
            EXPECT_FALSE(IsEndpoint(topology.GetNodes()[link.a].kind));
            EXPECT_FALSE(IsEndpoint(topology.GetNodes()[link.b].kind));
            EXPECT_TRUE(link.delay.IsStrictlyPositive());
        }
    }
}

TEST(TopologyDivisionTest, LeavesFollowEachOtherAndSpinesAreDealtOut)
{
    // Four leaves of two hosts for two processes: two leaves each, and one of both spines, as all
    // leaves are neighbours of each.
    const auto topology = MakeLeaves(2, {2, 2, 2, 2});
    const auto division = DivideTopology(topology, 2, 1);
    ExpectSound(topology, division);
    std::vector<uint32_t> parts;
    std::vector<uint32_t> spines;
    for (const auto node : topology.GetEndpoints())
    {
        parts.push_back(division.partOf[node]);
    }
    for (NodeId node = 0; node < topology.GetNodes().size(); ++node)
    {
        if (topology.GetNodes()[node].tier == 2)
        {
            spines.push_back(division.partOf[node]);
        }
    }
    EXPECT_THAT(parts, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
    EXPECT_THAT(spines, ElementsAre(0, 1));
    EXPECT_EQ(FindLeastCutDelay(topology, division), topology.GetLinks().back().delay);
}

TEST(TopologyDivisionTest, OneProcessCutsNothing)
{
    const auto topology = MakeLeaves(2, {3, 1});
    const auto division = DivideTopology(topology, 1, 0);
    EXPECT_EQ(FindLeastCutDelay(topology, division), std::nullopt);
}

TEST(TopologyDivisionTest, SwitchesGoWhereTheirNeighboursAre)
{
    // A fat-tree of 4: two aggregation switches a pod, whose leaves are all of one process.
    FatTreeOptions options;
    options.k = 4;
    options.hostLink = LINK;
    options.leafUplink = LINK;
    options.aggregationUplink = LINK;
    const auto topology = MakeFatTreeTopology(options);
    const auto division = DivideTopology(topology, 4, 0);
    ExpectSound(topology, division);
    EXPECT_THAT(CountEndpoints(topology, division), ElementsAre(4, 4, 4, 4));
    for (const auto& link : topology.GetLinks())
    {
        const auto nodes = topology.GetNodes();
        if (std::max(nodes[link.a].tier, nodes[link.b].tier) <= 2)
        {
            EXPECT_FALSE(division.IsCut(link)) << nodes[link.a].name << " - " << nodes[link.b].name;
        }
    }
}

TEST(TopologyDivisionTest, TooFewPartsAreSaid)
{
    StarOptions options;
    options.hosts = 8;
    options.hostLink = LINK;
    const auto star = MakeStarTopology(options);
    EXPECT_THAT([&] { DivideTopology(star, 2, 0); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("1 part with hosts")));
}

TEST(TopologyDivisionTest, IsSoundAndEvenOnNetworksOfAnySize)
{
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round)
    {
        std::vector<uint32_t> hosts(1 + random() % 9);
        std::ranges::generate(hosts, [&] { return 1 + static_cast<uint32_t>(random() % 6); });
        const auto topology = MakeLeaves(1 + static_cast<uint32_t>(random() % 5), hosts);
        const auto processes = 1 + static_cast<uint32_t>(random() % hosts.size());
        const auto division = DivideTopology(topology, processes, 0);
        ExpectSound(topology, division);
        // A block goes where its middle is, so that a process has its even share, and at either end
        // at most half of a block more.
        const auto largest = *std::ranges::max_element(hosts);
        const auto share = static_cast<double>(topology.GetEndpoints().size()) / processes;
        for (const auto count : CountEndpoints(topology, division))
        {
            EXPECT_LE(count, share + largest);
        }
    }
}

} // namespace
} // namespace ns3::gradsync
