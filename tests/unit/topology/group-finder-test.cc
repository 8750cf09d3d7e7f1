// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fat-tree-topology.h"
#include "ns3/group-finder.h"
#include "ns3/spine-leaf-topology.h"
#include "ns3/star-topology.h"
#include "ns3/three-tier-topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Time Delay = MicroSeconds(1);

LinkOptions
Gbps(uint64_t rate)
{
    return {DataRate(rate * 1'000'000'000), Delay};
}

/// Every endpoint is a rank, in order.
WorkerGroups
FindAll(const Topology& topology)
{
    std::vector<uint32_t> ranks(topology.GetEndpoints().size());
    std::iota(ranks.begin(), ranks.end(), 0U);
    return ComputeWorkerGroups(topology, ranks);
}

SpineLeafOptions
MakeSpineLeaf(uint32_t spines, const std::vector<uint32_t>& racks)
{
    return {.spines = spines,
            .leaves = static_cast<uint32_t>(racks.size()),
            .hostsPerLeaf = 0,
            .hostsOfLeaf = racks,
            .hostLink = Gbps(40),
            .fabricLink = Gbps(40),
            .oversubscription = 0,
            .server = {}};
}

ThreeTierOptions
MakeThreeTier(uint32_t leavesPerPod)
{
    return {.pods = 2,
            .leavesPerPod = leavesPerPod,
            .aggregationsPerPod = 2,
            .cores = 2,
            .hostsPerLeaf = 4,
            .coresPerAggregation = 0,
            .hostLink = Gbps(10),
            .leafUplink = Gbps(10),
            .aggregationUplink = Gbps(5),
            .rackOversubscription = 0,
            .podOversubscription = 0,
            .server = {}};
}

TEST(GroupFinder, FindsNoLevelInAStar)
{
    const auto topology = MakeStarTopology({.hosts = 8, .hostLink = Gbps(40), .server = {}});
    EXPECT_THAT(FindAll(topology).levels, IsEmpty());
}

TEST(GroupFinder, GivesHalfTheRackSizeInTheStudyOfRat)
{
    // Reference, section 5: 2 spines, 4 leaves, equal rates: o = w_r B / (2 B) = w_r / 2.
    for (const uint32_t rackSize : {4, 8, 12, 16, 20, 24})
    {
        const auto groups = FindAll(
            MakeSpineLeafTopology(MakeSpineLeaf(2, {rackSize, rackSize, rackSize, rackSize})));
        ASSERT_EQ(groups.levels.size(), 1U);
        EXPECT_EQ(groups.levels[0].name, "rack");
        EXPECT_EQ(groups.levels[0].groupCount, 4U);
        EXPECT_DOUBLE_EQ(groups.levels[0].oversubscription, rackSize / 2.0);
        EXPECT_DOUBLE_EQ(groups.levels[0].feedRatio, rackSize / 2.0);
        EXPECT_EQ(groups.levels[0].groupOf[rackSize - 1], 0U);
        EXPECT_EQ(groups.levels[0].groupOf[rackSize], 1U);
    }
}

TEST(GroupFinder, TakesTheWorstOfUnevenRacks)
{
    const auto groups = FindAll(MakeSpineLeafTopology(MakeSpineLeaf(2, {2, 6, 1})));
    // 6 hosts * 40 / (2 * 40) = 3; the others 1 and 0.5.
    ASSERT_EQ(groups.levels.size(), 1U);
    EXPECT_DOUBLE_EQ(groups.levels[0].oversubscription, 3.0);
    EXPECT_THAT(groups.levels[0].groupOf, ElementsAre(0, 0, 1, 1, 1, 1, 1, 1, 2));
}

TEST(GroupFinder, CountsOnlyTheHostsOfTheJob)
{
    const auto topology = MakeSpineLeafTopology(MakeSpineLeaf(2, {8, 8, 8}));
    // Three ranks on leaf2, one on leaf0: 3 * 40 / (2 * 40) = 1.5. Groups count from the first rank
    // on.
    const auto groups = ComputeWorkerGroups(topology, std::vector<uint32_t>{20, 3, 17, 18});
    ASSERT_EQ(groups.levels.size(), 1U);
    EXPECT_THAT(groups.levels[0].groupOf, ElementsAre(0, 1, 0, 0));
    EXPECT_EQ(groups.levels[0].groupCount, 2U);
    EXPECT_DOUBLE_EQ(groups.levels[0].oversubscription, 1.5);
}

TEST(GroupFinder, ListsNoLevelThatGroupsNothingOrEverything)
{
    const auto topology = MakeSpineLeafTopology(MakeSpineLeaf(2, {8, 8, 8}));
    const auto find = [&](std::vector<uint32_t> ranks) {
        return ComputeWorkerGroups(topology, ranks).levels;
    };
    EXPECT_THAT(find({8, 9, 10, 15}), IsEmpty()); // all on leaf1
    EXPECT_THAT(find({0, 8, 16}), IsEmpty());     // one on each leaf
    EXPECT_THAT(find({5}), IsEmpty());
    EXPECT_THAT(find({}), IsEmpty());
}

TEST(GroupFinder, MeetsTheWantedOversubscriptionOfASpineLeaf)
{
    for (const double wanted : {0.5, 1.0, 2.0, 3.0, 7.5})
    {
        auto options = MakeSpineLeaf(3, {4, 7});
        options.oversubscription = wanted;
        const auto groups = FindAll(MakeSpineLeafTopology(options));
        // The fabric rate is a whole number of bit/s: at 12 Gbit/s that is 1e-10 of it.
        EXPECT_NEAR(groups.levels.at(0).oversubscription, wanted, wanted * 1e-9);
        EXPECT_LE(groups.levels.at(0).oversubscription, wanted); // rounded to the safe side
    }
}

TEST(GroupFinder, FindsAFatTreeNotOversubscribed)
{
    const auto groups = FindAll(MakeFatTreeTopology({.k = 4,
                                                     .hostsPerLeaf = 0,
                                                     .hostLink = Gbps(40),
                                                     .leafUplink = Gbps(40),
                                                     .aggregationUplink = Gbps(40),
                                                     .rackOversubscription = 0,
                                                     .podOversubscription = 0,
                                                     .server = {}}));
    // Rack: 2 hosts, 2 uplinks. Pod: 4 hosts, 2 aggregation switches with 2 cores each.
    ASSERT_EQ(groups.levels.size(), 2U);
    EXPECT_EQ(groups.levels[0].name, "rack");
    EXPECT_EQ(groups.levels[0].groupCount, 8U);
    EXPECT_DOUBLE_EQ(groups.levels[0].oversubscription, 1.0);
    EXPECT_EQ(groups.levels[1].name, "pod");
    EXPECT_EQ(groups.levels[1].groupCount, 4U);
    EXPECT_DOUBLE_EQ(groups.levels[1].oversubscription, 1.0);
    EXPECT_DOUBLE_EQ(groups.levels[1].feedRatio, 1.0);
    EXPECT_THAT(groups.levels[1].groupOf,
                ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3));
}

TEST(GroupFinder, TellsCumulativeFromPerLevelOversubscription)
{
    const auto groups = FindAll(MakeThreeTierTopology(MakeThreeTier(3)));
    // Rack: 4 * 10 / (2 * 10) = 2. Pod: 3 leaves hold 12 hosts, 120 Gbit/s, over 2 * 2 uplinks of
    // 5: 6. But the racks can feed only 3 * 20: 60 / 20 = 3.
    ASSERT_EQ(groups.levels.size(), 2U);
    EXPECT_DOUBLE_EQ(groups.levels[0].oversubscription, 2.0);
    EXPECT_DOUBLE_EQ(groups.levels[0].feedRatio, 2.0);
    EXPECT_DOUBLE_EQ(groups.levels[1].oversubscription, 6.0);
    EXPECT_DOUBLE_EQ(groups.levels[1].feedRatio, 3.0);
}

TEST(GroupFinder, SeesThatAPodAddsNoBottleneckBehindNarrowRacks)
{
    auto options = MakeThreeTier(3);
    options.aggregationUplink = Gbps(30);
    const auto groups = FindAll(MakeThreeTierTopology(options));
    // Pod: 120 / (4 * 30) = 1, fed with 60: 0.5.
    EXPECT_DOUBLE_EQ(groups.levels.at(1).oversubscription, 1.0);
    EXPECT_DOUBLE_EQ(groups.levels.at(1).feedRatio, 0.5);
}

TEST(GroupFinder, MergesATierThatGroupsAsTheOneBelow)
{
    const auto groups = FindAll(MakeThreeTierTopology(MakeThreeTier(1)));
    // One rack a pod. The rack's exits: 2 * 10; the pod's: 2 * 2 * 5 = 20: both 40 / 20.
    ASSERT_EQ(groups.levels.size(), 1U);
    EXPECT_EQ(groups.levels[0].name, "rack");
    EXPECT_DOUBLE_EQ(groups.levels[0].oversubscription, 2.0);
    auto narrow = MakeThreeTier(1);
    narrow.aggregationUplink = Gbps(1);
    const auto merged = FindAll(MakeThreeTierTopology(narrow));
    // Now the pod is the narrower exit: 40 / 4 = 10.
    ASSERT_EQ(merged.levels.size(), 1U);
    EXPECT_DOUBLE_EQ(merged.levels[0].oversubscription, 10.0);
    EXPECT_DOUBLE_EQ(merged.levels[0].feedRatio, 10.0);
}

/// 3 servers a rack, each 4 accelerators of 50 Gbit/s behind a NIC of 100 Gbit/s.
SpineLeafOptions
MakeAcceleratorRacks(uint32_t serversPerLeaf)
{
    auto options = MakeSpineLeaf(2, {serversPerLeaf, serversPerLeaf});
    options.hostLink = Gbps(100);
    options.fabricLink = Gbps(25);
    options.server.accelerators = 4;
    options.server.sockets = 2;
    options.server.pcie = Gbps(50);
    options.server.nvlink = Gbps(600);
    return options;
}

TEST(GroupFinder, ComparesAcceleratorsWithTheNicsOfTheirServer)
{
    const auto groups = FindAll(MakeSpineLeafTopology(MakeAcceleratorRacks(3)));
    ASSERT_EQ(groups.levels.size(), 2U);
    EXPECT_EQ(groups.levels[0].name, "server");
    EXPECT_EQ(groups.levels[0].groupCount, 6U);
    // 4 * 50 / 100; NVLink does not lead out of the server.
    EXPECT_DOUBLE_EQ(groups.levels[0].oversubscription, 2.0);
    EXPECT_EQ(groups.levels[1].name, "rack");
    // 3 servers send at most their NICs' 100 each: 300 / (2 * 25).
    EXPECT_DOUBLE_EQ(groups.levels[1].oversubscription, 6.0);
}

TEST(GroupFinder, LimitsTheDemandOfASlowAcceleratorServerToItsRanks)
{
    const auto topology = MakeSpineLeafTopology(MakeAcceleratorRacks(3));
    // One accelerator of host0, two of host1 (leaf0); two of host3 (leaf1).
    const auto groups = ComputeWorkerGroups(topology, std::vector<uint32_t>{0, 4, 5, 12, 13});
    // Servers: 50/100, 100/100, 100/100. Racks: (50 + 100)/50 and 100/50.
    ASSERT_EQ(groups.levels.size(), 2U);
    EXPECT_THAT(groups.levels[0].groupOf, ElementsAre(0, 1, 1, 2, 2));
    EXPECT_DOUBLE_EQ(groups.levels[0].oversubscription, 1.0);
    EXPECT_THAT(groups.levels[1].groupOf, ElementsAre(0, 0, 0, 1, 1));
    EXPECT_DOUBLE_EQ(groups.levels[1].oversubscription, 3.0);
}

TEST(GroupFinder, CountsTheNarrowestExitWhenAServerIsARack)
{
    const auto groups = FindAll(MakeSpineLeafTopology(MakeAcceleratorRacks(1)));
    // One level: 4 * 50 of the accelerators, through 100 of the NIC and then 50 of the leaf: 4.
    ASSERT_EQ(groups.levels.size(), 1U);
    EXPECT_EQ(groups.levels[0].name, "server");
    EXPECT_DOUBLE_EQ(groups.levels[0].oversubscription, 4.0);
}

TEST(GroupFinder, MeetsTheWantedOversubscriptionsOfThreeTiers)
{
    auto options = MakeThreeTier(3);
    options.rackOversubscription = 1.5;
    options.podOversubscription = 4.5;
    const auto groups = FindAll(MakeThreeTierTopology(options));
    EXPECT_NEAR(groups.levels.at(0).oversubscription, 1.5, 1e-9);
    EXPECT_NEAR(groups.levels.at(1).oversubscription, 4.5, 1e-8);
    EXPECT_NEAR(groups.levels.at(1).feedRatio, 3.0, 1e-8); // 4.5 / 1.5
}

TEST(GroupFinder, MeetsTheWantedOversubscriptionsOfAFatTreeOfAcceleratorServers)
{
    FatTreeOptions options{.k = 4,
                           .hostsPerLeaf = 3,
                           .hostLink = Gbps(100),
                           .leafUplink = {DataRate(0), Delay},
                           .aggregationUplink = {DataRate(0), Delay},
                           .rackOversubscription = 2,
                           .podOversubscription = 8,
                           .server = {}};
    options.server.accelerators = 4;
    options.server.pcie = Gbps(50);
    const auto groups = FindAll(MakeFatTreeTopology(options));
    ASSERT_EQ(groups.levels.size(), 3U);
    EXPECT_DOUBLE_EQ(groups.levels[0].oversubscription, 2.0); // 4 * 50 / 100
    EXPECT_NEAR(groups.levels[1].oversubscription, 2.0, 1e-9);
    EXPECT_NEAR(groups.levels[2].oversubscription, 8.0, 1e-8);
}

TEST(GroupFinder, RejectsRanksThatCannotBePlaced)
{
    const auto topology = MakeStarTopology({.hosts = 4, .hostLink = Gbps(40), .server = {}});
    const auto find = [&](std::vector<uint32_t> ranks) {
        try
        {
            ComputeWorkerGroups(topology, ranks);
        }
        catch (const std::invalid_argument& error)
        {
            return std::string(error.what());
        }
        return std::string("nothing was thrown");
    };
    EXPECT_THAT(find({0, 4}), HasSubstr("rank 1 is placed on endpoint 4"));
    EXPECT_THAT(find({2, 1, 2}), HasSubstr("rank 2 is placed on endpoint 2"));
}

} // namespace
} // namespace ns3::gradsync
