// SPDX-License-Identifier: GPL-2.0-only
#include "unit/scheme/scheme-test-support.h"

#include "ns3/aggregation-trees.h"
#include "ns3/plan-builder.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace ns3::gradsync
{

namespace
{

using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

SchemeRequest
MakeRatRequest(uint32_t workers,
               uint64_t gradientBytes,
               std::vector<GroupLevel> levels,
               int64_t pipelineChunks = 1,
               bool barrier = false)
{
    return MakeRequest("rat",
                       workers,
                       gradientBytes,
                       {{"pipelineChunks", pipelineChunks}, {"barrier", barrier}},
                       std::move(levels));
}

TEST(RatScheme, IsAnAllReduceOnAnyRacks)
{
    for (uint32_t w = 2; w <= 33; ++w)
    {
        for (const auto& level : MakeRackShapes(w, 2.0))
        {
            for (const bool barrier : {false, true})
            {
                SCOPED_TRACE(fmt::format("w {} groups {} barrier {}",
                                         w,
                                         fmt::join(level.groupOf, ","),
                                         barrier));
                EXPECT_THAT(BuildPlan("rat", MakeRatRequest(w, 10007, {level}, 3, barrier)),
                            IsAllReduce());
            }
        }
    }
}

TEST(RatScheme, IsAnAllReduceOnServersRacksAndPods)
{
    // Uneven at every level: servers of 1, 2, 3, 1, 1, 4, 2, 3, racks of them, pods of the racks.
    const std::vector<GroupLevel> levels = {MakeLevel("server", {1, 2, 3, 1, 1, 4, 2, 3}, 1.5),
                                            MakeLevel("rack", {3, 3, 2, 6, 3}, 2.0),
                                            MakeLevel("pod", {6, 2, 9}, 4.0)};
    for (const int64_t m : {1, 4})
    {
        for (const bool barrier : {false, true})
        {
            const auto request = MakeRatRequest(17, 17 * uint64_t{160}, levels, m, barrier);
            EXPECT_THAT(BuildPlan("rat", request), IsAllReduce());
            const auto statistics = ComputeStatistics("rat", request);
            // 2(R_j - 1)K at every level j, however uneven; chain 2(3 + 1).
            EXPECT_EQ(statistics.crossings.at(0).bytes, uint64_t{160} * 17 * 2 * 7);
            EXPECT_EQ(statistics.crossings.at(1).bytes, uint64_t{160} * 17 * 2 * 4);
            EXPECT_EQ(statistics.crossings.at(2).bytes, uint64_t{160} * 17 * 2 * 2);
            EXPECT_EQ(statistics.GetLongestChain(), 8u);
        }
    }
}

TEST(RatScheme, IsAnAllReduceForOneWorker)
{
    EXPECT_THAT(BuildPlan("rat", MakeRatRequest(1, 100, {MakeLevel("rack", {1}, 2.0)}, 8, true)),
                IsAllReduce());
    EXPECT_THAT(BuildPlan("rat", MakeRatRequest(1, 100, {}, 8, false)), IsAllReduce());
}

TEST(RatScheme, CrossesRacksAsTheClosedFormOnUnevenRacks)
{
    for (uint32_t w = 2; w <= 33; ++w)
    {
        for (const auto& level : MakeRackShapes(w, 2.0))
        {
            const auto statistics =
                ComputeStatistics("rat", MakeRatRequest(w, w * SHARD_BYTES, {level}));
            EXPECT_EQ(statistics.crossings.at(0).bytes,
                      2 * SHARD_BYTES * w * (level.groupCount - 1));
            // In each phase each rank but the root sends (receives) one shard per tree.
            EXPECT_EQ(statistics.totalBytes, 2 * SHARD_BYTES * w * (w - 1));
        }
    }
}

/// The claim of the paper: in both phases every rank sends and receives exactly (w-1)K/w.
void
ExpectBalanced(const Plan& plan)
{
    const auto w = plan.GetWorkerCount();
    const auto share = (w - 1) * plan.GetLayout().GetTotalBytes() / w;
    for (const auto kind : {OperationKind::TransferReduce, OperationKind::TransferCopy})
    {
        const auto bytes = CountPhase(plan, kind);
        EXPECT_THAT(bytes.sent, Each(share));
        EXPECT_THAT(bytes.received, Each(share));
    }
}

TEST(RatScheme, BalancesEveryHostInEqualRacks)
{
    for (const uint32_t racks : {1u, 2u, 3u, 4u, 7u})
    {
        for (const uint32_t size : {1u, 2u, 3u, 8u})
        {
            const uint32_t w = racks * size;
            SCOPED_TRACE(fmt::format("{} racks of {}", racks, size));
            const auto contiguous = MakeLevel("rack", Repeat(racks, size), 2.0);
            ExpectBalanced(BuildPlan("rat", MakeRatRequest(w, w * SHARD_BYTES, {contiguous}, 3)));
            const auto interleaved = MakeInterleavedLevel(w, racks, 2.0);
            ExpectBalanced(BuildPlan("rat", MakeRatRequest(w, w * SHARD_BYTES, {interleaved}, 3)));
        }
    }
}

TEST(RatScheme, BalancesEveryHostInEqualPodsOfEqualRacks)
{
    for (const auto& [pods, racks, size] : std::vector<std::array<uint32_t, 3>>{{2, 2, 2},
                                                                                {2, 3, 4},
                                                                                {3, 2, 5},
                                                                                {4, 4, 2},
                                                                                {2, 4, 1}})
    {
        const uint32_t w = pods * racks * size;
        SCOPED_TRACE(fmt::format("{} pods of {} racks of {}", pods, racks, size));
        const auto request = MakeRatRequest(w,
                                            w * SHARD_BYTES,
                                            {MakeLevel("rack", Repeat(pods * racks, size), 2.0),
                                             MakeLevel("pod", Repeat(pods, racks * size), 2.0)});
        ExpectBalanced(BuildPlan("rat", request));
        const auto statistics = ComputeStatistics("rat", request);
        EXPECT_EQ(statistics.crossings.at(0).bytes, 2 * SHARD_BYTES * w * (pods * racks - 1));
        EXPECT_EQ(statistics.crossings.at(1).bytes, 2 * SHARD_BYTES * w * (pods - 1));
        EXPECT_EQ(statistics.GetLongestChain(), size > 1 ? 6u : 4u);
    }
}

TEST(RatScheme, BalancesAggregatorsWithinOneInUnevenRacks)
{
    const AggregationTrees trees(13, {MakeLevel("rack", {5, 1, 3, 4}, 2.0)});
    std::vector<uint32_t> aggregates(13, 0); // [rank] trees of other racks that it aggregates
    const std::vector<uint32_t> rackBegin = {0, 5, 6, 9, 13};
    for (uint32_t root = 0; root < 13; ++root)
    {
        const auto tree = trees.MakeTree(root);
        for (uint32_t rank = 0; rank < 13; ++rank)
        {
            aggregates[rank] += rank != root && tree.stage[rank] == 1 ? 1 : 0;
        }
    }
    for (uint32_t rack = 0; rack < 4; ++rack)
    {
        const auto [least, most] = std::minmax_element(aggregates.begin() + rackBegin[rack],
                                                       aggregates.begin() + rackBegin[rack + 1]);
        EXPECT_LE(*most - *least, 1u);
        // 13 - size trees have their root in another rack.
        const auto size = rackBegin[rack + 1] - rackBegin[rack];
        EXPECT_EQ(*most, (13 - size + size - 1) / size);
    }
}

TEST(RatScheme, TakesTheAggregatorThatThePaperNames)
{
    // Racks {0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}: in rack q the member rho mod 4.
    const AggregationTrees trees(12, {MakeLevel("rack", Repeat(3, 4), 2.0)});
    for (uint32_t root = 0; root < 12; ++root)
    {
        const auto tree = trees.MakeTree(root);
        for (uint32_t rank = 0; rank < 12; ++rank)
        {
            const uint32_t aggregator = rank / 4 == root / 4 ? root : rank / 4 * 4 + root % 4;
            EXPECT_EQ(tree.parent[rank], rank == aggregator ? root : aggregator);
        }
    }
}

/// RAT with the classic bug: in every rack the first member aggregates for all trees.
Plan
BuildFixedAggregators(uint32_t racks, uint32_t size)
{
    const uint32_t w = racks * size;
    PlanBuilder builder(w, w, ChunkLayout::Even(w * SHARD_BYTES, w));
    for (uint32_t root = 0; root < w; ++root)
    {
        const auto total = builder.AddJoin(root);
        for (uint32_t rack = 0; rack < racks; ++rack)
        {
            const bool own = rack == root / size;
            const uint32_t aggregator = own ? root : rack * size;
            const auto partial = own ? total : builder.AddReduce(aggregator, root, root, 1, root);
            const auto result = own ? total : builder.AddCopy(root, aggregator, root, 1, root);
            if (!own)
            {
                builder.AddEdge(partial, total);
                builder.AddEdge(total, result);
            }
            for (uint32_t rank = rack * size; rank < (rack + 1) * size; ++rank)
            {
                if (rank != aggregator)
                {
                    builder.AddEdge(builder.AddReduce(rank, aggregator, root, 1, root), partial);
                    builder.AddEdge(result, builder.AddCopy(aggregator, rank, root, 1, root));
                }
            }
        }
    }
    return builder.Build();
}

TEST(RatScheme, WouldBeCaughtWithFixedAggregators)
{
    const auto plan = BuildFixedAggregators(2, 4);
    // It is a correct all-reduce with the same bytes across racks: only the balance tells.
    EXPECT_THAT(plan, IsAllReduce());
    const WorkerGroups groups{{MakeLevel("rack", {4, 4}, 2.0)}};
    const auto statistics = ComputePlanStatistics(plan, groups);
    EXPECT_EQ(statistics.crossings.at(0).bytes, 2 * SHARD_BYTES * 8);
    EXPECT_EQ(statistics.GetLongestChain(), 4u);
    const auto received = CountPhase(plan, OperationKind::TransferReduce).received;
    EXPECT_THAT(received, Not(Each(7 * SHARD_BYTES)));
    // Rank 0 gets 3 shards for each of the 4 trees of the other rack, and 3 + 1 for its own; rank 1
    // only the 3 + 1.
    EXPECT_EQ(received[0], SHARD_BYTES * (3 * 4 + 4));
    EXPECT_EQ(received[1], 4u * SHARD_BYTES);
}

TEST(RatScheme, IsThePsChainWhenNothingIsOversubscribed)
{
    for (const double oversubscription : {0.5, 1.0, 1.0 + 1e-12})
    {
        const auto level = MakeLevel("rack", Repeat(3, 4), oversubscription);
        const auto statistics =
            ComputeStatistics("rat", MakeRatRequest(12, 12 * SHARD_BYTES, {level}, 2));
        const auto ps = ComputeStatistics(
            "ps",
            MakeRequest("ps", 12, 12 * SHARD_BYTES, {{"pipelineChunks", int64_t{2}}}, {level}));
        EXPECT_EQ(statistics.GetLongestChain(), 2u);
        EXPECT_EQ(statistics.sentBytes, ps.sentBytes);
        EXPECT_EQ(statistics.receivedBytes, ps.receivedBytes);
        EXPECT_EQ(statistics.transfersPerRound, ps.transfersPerRound);
        EXPECT_EQ(statistics.crossings.at(0).bytes, ps.crossings.at(0).bytes);
    }
}

TEST(RatScheme, TakesOnlyTheOversubscribedLevelsUnlessToldOtherwise)
{
    const std::vector<GroupLevel> levels = {MakeLevel("rack", Repeat(6, 2), 1.0),
                                            MakeLevel("pod", Repeat(2, 6), 3.0)};
    auto request = MakeRatRequest(12, 12 * SHARD_BYTES, levels);
    // Pods only: chain 2(1 + 1), 2(2 - 1)K across pods.
    auto statistics = ComputeStatistics("rat", request);
    EXPECT_EQ(statistics.GetLongestChain(), 4u);
    EXPECT_EQ(statistics.crossings.at(1).bytes, 2 * SHARD_BYTES * 12);
    request.parameters.Set("levels", std::string("all"));
    statistics = ComputeStatistics("rat", request);
    EXPECT_EQ(statistics.GetLongestChain(), 6u);
    EXPECT_EQ(statistics.crossings.at(0).bytes, 2 * SHARD_BYTES * 12 * 5);
}

TEST(RatScheme, CopiesSubChunksOnlyWhereAllAreAlike)
{
    // Six workers with four sub-chunks each: 24 chunks, for which 24 floats are just enough. With
    // 23 one is empty, and the sub-chunk that has it has fewer operations. A barrier has edges
    // between sub-chunks.
    const auto level = MakeLevel("rack", {2, 1, 3}, 2.0);
    for (const auto& [floats, barrier, copies] :
         {std::tuple{24U, false, 4U}, {25U, false, 4U}, {23U, false, 1U}, {24U, true, 1U}})
    {
        SCOPED_TRACE(fmt::format("{} floats, barrier {}", floats, barrier));
        const auto plan = BuildPlan("rat", MakeRatRequest(6, floats * 4, {level}, 4, barrier));
        EXPECT_EQ(plan.GetCopyCount(), copies);
        EXPECT_THAT(plan, IsAllReduce());
    }
}

TEST(RatScheme, GivesEachTreeTheShareOfItsWeight)
{
    auto request = MakeRatRequest(4, 800, {MakeLevel("rack", {2, 2}, 2.0)}, 2);
    request.parameters.Set("weights", std::vector<double>{1, 0, 2, 5});
    const auto plan = BuildPlan("rat", request);
    EXPECT_THAT(plan, IsAllReduce());
    std::vector<uint64_t> bytesOfTree(4, 0);
    for (OperationId id = 0; id < plan.GetOperations().size(); ++id)
    {
        bytesOfTree[plan.GetOperations()[id].stream] += plan.GetBytes(id);
    }
    // Shares of 100, 0, 200 and 500 B, each over 3 edges in 2 phases.
    EXPECT_THAT(bytesOfTree, testing::ElementsAre(600, 0, 1200, 3000));
}

TEST(RatScheme, KeepsEachTreeOnConnectionsOfItsOwn)
{
    const auto plan = BuildPlan("rat", MakeRatRequest(8, 640, {MakeLevel("rack", {4, 4}, 4.0)}, 2));
    for (const auto& operation : plan.GetOperations())
    {
        if (operation.IsTransfer())
        {
            EXPECT_EQ(operation.stream, operation.firstChunk / 2);
        }
    }
}

TEST(RatScheme, RejectsWeightsThatDoNotFit)
{
    auto request = MakeRatRequest(4, 800, {});
    const auto build = [&request] { BuildPlan("rat", request); };
    request.parameters.Set("weights", std::vector<double>{1, 2, 3});
    EXPECT_THAT(build, ThrowsMessage<SchemeError>(HasSubstr("3 entries")));
    request.parameters.Set("weights", std::vector<double>{1, 2, 3, -1});
    EXPECT_THAT(build, ThrowsMessage<SchemeError>(HasSubstr("not negative")));
}

TEST(RatScheme, RejectsLevelsThatAreNotNested)
{
    const auto request =
        MakeRatRequest(4, 800, {MakeInterleavedLevel(4, 2, 2.0), MakeLevel("pod", {2, 2}, 2.0)});
    EXPECT_THAT([&] { BuildPlan("rat", request); },
                ThrowsMessage<SchemeError>(HasSubstr("lies in two groups")));
}

} // namespace

} // namespace ns3::gradsync
