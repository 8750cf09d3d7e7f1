// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-builder.h"
#include "ns3/plan-statistics.h"

#include <gmock/gmock.h>

namespace ns3::gradsync
{

namespace
{

using testing::ElementsAre;
using testing::IsEmpty;

/// Workers 0 and 1 in rack 0, worker 2 in rack 1, server 3 in none; chunks of 8 and 12 bytes.
Plan
MakePlan()
{
    PlanBuilder builder(4, 3, ChunkLayout::Even(20, 2));
    const auto inRack = builder.AddReduce(0, 1, 0, 1);   // 8 B
    const auto across = builder.AddReduce(1, 2, 0, 2);   // 20 B
    const auto toServer = builder.AddReduce(2, 3, 1, 1); // 12 B
    const auto join = builder.AddJoin(3);
    const auto back = builder.AddCopy(3, 0, 1, 1); // 12 B
    builder.AddEdge(inRack, across);
    builder.AddEdge(toServer, join);
    builder.AddEdge(across, join);
    builder.AddEdge(join, back);
    return builder.Build();
}

TEST(PlanStatistics, CountsBytesPerRank)
{
    const auto statistics = ComputePlanStatistics(MakePlan());
    EXPECT_THAT(statistics.sentBytes, ElementsAre(8, 20, 12, 12));
    EXPECT_THAT(statistics.receivedBytes, ElementsAre(12, 8, 20, 12));
    EXPECT_EQ(statistics.totalBytes, 52u);
    EXPECT_EQ(statistics.GetPeakSentBytes(), 20u);
    EXPECT_EQ(statistics.GetPeakReceivedBytes(), 20u);
    EXPECT_EQ(statistics.transferCount, 4u);
    EXPECT_EQ(statistics.joinCount, 1u);
    EXPECT_THAT(statistics.crossings, IsEmpty());
}

TEST(PlanStatistics, CountsWhatCrossesEachLevel)
{
    WorkerGroups groups;
    groups.levels.push_back({"server", {0, 1, 2}, 3, 1.0});
    groups.levels.push_back({"rack", {0, 0, 1}, 2, 2.0});
    const auto statistics = ComputePlanStatistics(MakePlan(), groups);
    ASSERT_EQ(statistics.crossings.size(), 2u);
    EXPECT_EQ(statistics.crossings[0].level, "server");
    EXPECT_EQ(statistics.crossings[0].bytes, 52u);
    EXPECT_EQ(statistics.crossings[1].level, "rack");
    EXPECT_EQ(statistics.crossings[1].bytes, 44u); // all but 0 -> 1; the server is in no rack
    EXPECT_EQ(statistics.crossings[1].transfers, 3u);
}

TEST(PlanStatistics, CountsChainsInTransfers)
{
    // 0 -> 1 and 2 -> 3 start at once; 1 -> 2 follows; 3 -> 0 comes after it, the join counts
    // nothing.
    const auto statistics = ComputePlanStatistics(MakePlan());
    EXPECT_THAT(statistics.transfersPerRound, ElementsAre(2, 1, 1));
    EXPECT_EQ(statistics.GetLongestChain(), 3u);
}

TEST(PlanStatistics, AreAllZeroForAnEmptyPlan)
{
    const auto statistics = ComputePlanStatistics(Plan());
    EXPECT_EQ(statistics.totalBytes, 0u);
    EXPECT_EQ(statistics.GetLongestChain(), 0u);
    EXPECT_EQ(statistics.GetPeakReceivedBytes(), 0u);
}

TEST(PlanStatistics, CountsWhatTheNetworkAggregatesOnceForEachRank)
{
    PlanBuilder builder(4, 4, ChunkLayout::Even(100, 1));
    const auto wait = builder.AddReduce(1, 0, 0, 1);
    const auto sum =
        builder.AddAggregate(builder.AddAggregationGroup({0, 2, 3}, {.name = "any"}), 0, 1);
    builder.AddEdge(wait, sum);
    WorkerGroups groups;
    groups.levels.push_back({"rack", {0, 0, 1, 1}, 2});
    groups.levels.push_back({"pod", {0, 0, 0, 0}, 1});
    const auto statistics = ComputePlanStatistics(builder.Build(), groups);
    EXPECT_THAT(statistics.sentBytes, testing::ElementsAre(100, 100, 100, 100));
    EXPECT_THAT(statistics.receivedBytes, testing::ElementsAre(200, 0, 100, 100));
    EXPECT_EQ(statistics.totalBytes, 400U);
    // Of each of the two racks one partial sum leaves.
    EXPECT_EQ(statistics.crossings[0].bytes, 200U);
    EXPECT_EQ(statistics.crossings[0].transfers, 2U);
    EXPECT_EQ(statistics.crossings[1].bytes, 0U);
    // Nobody has the sum before rank 0 has what it waits for.
    EXPECT_THAT(statistics.transfersPerRound, testing::ElementsAre(1, 3));
}

TEST(PlanStatistics, CountsWhatARootGivesAndGetsByItself)
{
    // All of three give 100 bytes and rank 2 gets the sum; rank 2 gives 100, and all get them.
    WorkerGroups groups;
    groups.levels.push_back({"rack", {0, 0, 1}, 2});
    for (const auto flow : {AggregationFlow::Reduce, AggregationFlow::Multicast})
    {
        PlanBuilder builder(3, 3, ChunkLayout::Even(100, 1));
        builder.AddAggregate(builder.AddAggregationGroup({0, 1, 2}, {.name = "any"}, {flow, 2}),
                             0,
                             1);
        const auto statistics = ComputePlanStatistics(builder.Build(), groups);
        const bool isReduce = flow == AggregationFlow::Reduce;
        const auto& whole = isReduce ? statistics.sentBytes : statistics.receivedBytes;
        const auto& root = isReduce ? statistics.receivedBytes : statistics.sentBytes;
        EXPECT_THAT(whole, testing::ElementsAre(100, 100, 100));
        EXPECT_THAT(root, testing::ElementsAre(0, 0, 100));
        EXPECT_EQ(statistics.totalBytes, isReduce ? 300U : 100U);
        // One partial sum, or one copy, between the two racks.
        EXPECT_EQ(statistics.crossings[0].bytes, 100U);
        EXPECT_EQ(statistics.crossings[0].transfers, 1U);
    }
}

} // namespace

} // namespace ns3::gradsync
