// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-builder.h"
#include "ns3/plan-statistics.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <random>
#include <span>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace ns3::gradsync
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

PlanBuilder
MakeBuilder()
{
    return {3, 2, ChunkLayout::Even(40, 4)}; // ranks 0, 1 work, rank 2 serves; 4 chunks
}

TEST(PlanBuilder, KeepsOperationsInTheOrderAdded)
{
    auto builder = MakeBuilder();
    EXPECT_EQ(builder.AddReduce(0, 1, 1, 3, 7), 0u);
    EXPECT_EQ(builder.AddCopy(1, 2, 0, 1), 1u);
    EXPECT_EQ(builder.AddJoin(2), 2u);
    const auto plan = builder.Build();
    ASSERT_EQ(plan.GetOperations().size(), 3u);
    EXPECT_EQ(plan.GetOperations()[0].stream, 7u);
    EXPECT_EQ(plan.GetOperations()[1].kind, OperationKind::TransferCopy);
    EXPECT_EQ(plan.GetOperations()[2].dst, 2u);
    EXPECT_EQ(plan.GetRankCount(), 3u);
    EXPECT_EQ(plan.GetWorkerCount(), 2u);
    // 10 floats in 4 chunks: cuts at 0, 2, 5, 7 floats, so chunks 1 to 3 hold 8 floats.
    EXPECT_EQ(plan.GetBytes(0), 32u);
    EXPECT_EQ(plan.GetBytes(2), 0u);
}

TEST(PlanBuilder, RefusesOperationsAndEdgesBeyondItsLimit)
{
    // The limit is 2^32-1, the most that 32-bit ids tell apart; here it is 4.
    auto builder = MakeBuilder();
    builder.SetLimit(4);
    for (uint32_t i = 0; i < 4; ++i)
    {
        EXPECT_EQ(builder.AddJoin(0), i);
    }
    EXPECT_THAT([&] { builder.AddJoin(0); },
                ThrowsMessage<std::length_error>("plan: more than 4 operations"));
    for (OperationId later = 1; later < 4; ++later)
    {
        builder.AddEdge(0, later);
    }
    builder.AddEdge(1, 2);
    builder.AddEdge(2, 3);
    EXPECT_THAT([&] { builder.Build(); },
                ThrowsMessage<std::length_error>("plan: more than 4 edges"));
}

TEST(PlanBuilder, SortsSuccessorsAndDropsRepeatedEdges)
{
    auto builder = MakeBuilder();
    for (int i = 0; i < 5; ++i)
    {
        builder.AddJoin(0);
    }
    builder.AddEdge(0, 4);
    builder.AddEdge(3, 4);
    builder.AddEdge(0, 1);
    builder.AddEdge(0, 4);
    builder.AddEdge(2, 0); // against the order of ids
    builder.AddEdge(0, 3);
    const auto plan = builder.Build();
    EXPECT_THAT(plan.GetSuccessors(0), ElementsAre(1, 3, 4));
    EXPECT_THAT(plan.GetSuccessors(1), ElementsAre());
    EXPECT_THAT(plan.GetSuccessors(2), ElementsAre(0));
    EXPECT_THAT(plan.GetSuccessors(3), ElementsAre(4));
    EXPECT_THAT(plan.GetSuccessors(4), ElementsAre());
    EXPECT_THAT(plan.CountPredecessors(), ElementsAre(1, 1, 0, 1, 2));
}

TEST(PlanBuilder, IsEmptyAfterBuild)
{
    auto builder = MakeBuilder();
    builder.AddJoin(0);
    builder.Build();
    const auto plan = builder.Build();
    EXPECT_TRUE(plan.GetOperations().empty());
    EXPECT_EQ(plan.GetRankCount(), 0u);
}

/// A sub-chunk: moves of its chunk and joins, drawn, with edges that all lead forward.
void
AddDrawn(PlanBuilder& builder, std::mt19937 random, OperationId first, uint32_t chunk)
{
    const auto count = random() % 300 + 1;
    for (uint32_t i = 0; i < count; ++i)
    {
        const auto src = static_cast<uint32_t>(random() % 3);
        const auto dst = static_cast<uint32_t>(src + 1 + random() % 2) % 3;
        const auto kind = random() % 4;
        kind == 0   ? builder.AddJoin(src)
        : kind == 1 ? builder.AddCopy(src, dst, chunk, 2)
                    : builder.AddReduce(src, dst, chunk + 1, 1, 5);
        if (i > 0)
        {
            builder.AddEdge(first + static_cast<OperationId>(random() % i), first + i);
        }
    }
}

auto
ShowStatistics(const Plan& plan, const WorkerGroups& groups)
{
    const auto statistics = ComputePlanStatistics(plan, groups);
    return std::tuple(statistics.transferCount,
                      statistics.localCount,
                      statistics.joinCount,
                      statistics.totalBytes,
                      statistics.sentBytes,
                      statistics.receivedBytes,
                      statistics.transfersPerRound,
                      statistics.crossings.front().bytes,
                      statistics.crossings.front().transfers);
}

TEST(PlanBuilder, CopiesAsIfAllHadBeenAdded)
{
    for (uint32_t seed = 0; seed < 40; ++seed)
    {
        const std::mt19937 random(seed);
        const uint32_t copies = seed % 5 + 1;
        PlanBuilder adding(3, 2, ChunkLayout::Even(400, 11));
        PlanBuilder copying(3, 2, ChunkLayout::Even(400, 11));
        AddDrawn(copying, random, 0, 0);
        const auto copied = copying.Build({.count = copies, .chunks = 2});
        for (uint32_t copy = 0; copy < copies; ++copy)
        {
            const auto first = static_cast<OperationId>(adding.GetOperations().size());
            AddDrawn(adding, random, first, 2 * copy);
        }
        const auto added = adding.Build();
        ASSERT_EQ(copied.GetOperations().size(), added.GetOperations().size());
        EXPECT_EQ(copied.GetCopyCount(), copies);
        EXPECT_EQ(added.GetCopyCount(), 1U);
        const WorkerGroups groups{{GroupLevel{"rack", {0, 0, 1}, 2}}};
        EXPECT_EQ(ShowStatistics(copied, groups), ShowStatistics(added, groups));
        EXPECT_EQ(copied.CountPredecessors(), added.CountPredecessors());
        for (OperationId id = 0; id < added.GetOperations().size(); ++id)
        {
            const auto one = copied.GetOperations()[id];
            const auto other = added.GetOperations()[id];
            const auto show = [](const Operation& operation) {
                return std::tuple(operation.kind,
                                  operation.src,
                                  operation.dst,
                                  operation.firstChunk,
                                  operation.chunkCount,
                                  operation.stream);
            };
            ASSERT_EQ(show(one), show(other)) << id;
            const auto successors = copied.GetSuccessors(id);
            ASSERT_THAT(std::vector<OperationId>(successors.begin(), successors.end()),
                        testing::ElementsAreArray(added.GetSuccessors(id)));
        }
    }
}

TEST(PlanBuilder, RefusesCopiesThatCannotBe)
{
    auto beyond = MakeBuilder(); // 4 chunks, of which the third copy would move the fifth
    beyond.AddReduce(0, 1, 2, 1);
    EXPECT_THAT(([&] { beyond.Build({.count = 3, .chunks = 1}); }),
                ThrowsMessage<std::logic_error>(
                    "plan: operation 2 moves 1 chunks from chunk 4, but there are 4"));
    // 1 + (2^32 - 1) is chunk 0 again in 32 bits.
    auto around = MakeBuilder();
    around.AddReduce(0, 1, 1, 1);
    EXPECT_THAT(([&] { around.Build({.count = 2, .chunks = UINT32_MAX}); }),
                ThrowsMessage<std::logic_error>(
                    "plan: copies move chunks 4294967295 further, but there are 4"));
    auto many = MakeBuilder();
    many.SetLimit(5);
    many.AddJoin(0);
    many.AddJoin(0);
    EXPECT_THROW(many.Build({.count = 3, .chunks = 0}), std::length_error);
    auto signal = MakeBuilder();
    signal.AddSignal(0, 1, 8);
    EXPECT_THROW(signal.Build({.count = 2, .chunks = 0}), std::logic_error);
    // Two of three joins wait for each other, in each of four copies.
    auto cycle = MakeBuilder();
    for (uint32_t rank = 0; rank < 3; ++rank)
    {
        cycle.AddJoin(rank);
    }
    cycle.AddEdge(1, 2);
    cycle.AddEdge(2, 1);
    EXPECT_THAT(([&] { cycle.Build({.count = 4, .chunks = 0}); }),
                ThrowsMessage<std::logic_error>(HasSubstr("8 operations from starting, among "
                                                          "them operation 1")));
    auto sized = MakeBuilder();
    sized.SetMessageBytes(sized.AddReduce(0, 1, 0, 1), 3);
    EXPECT_THROW(sized.Build({.count = 2, .chunks = 1}), std::logic_error);
}

TEST(PlanBuilder, RejectsMoreWorkersThanRanks)
{
    EXPECT_THROW(PlanBuilder(2, 3, ChunkLayout::Even(4, 1)), std::logic_error);
}

TEST(PlanBuilder, RejectsRanksAndChunksOutOfRange)
{
    const auto buildWith = [](uint32_t src, uint32_t dst, uint32_t first, uint32_t count) {
        return [=] {
            auto builder = MakeBuilder();
            builder.AddReduce(src, dst, first, count);
            builder.Build();
        };
    };
    EXPECT_NO_THROW(buildWith(0, 2, 3, 1)());
    EXPECT_THAT(buildWith(0, 3, 0, 1), ThrowsMessage<std::logic_error>(HasSubstr("3 ranks")));
    EXPECT_THAT(buildWith(3, 0, 0, 1), ThrowsMessage<std::logic_error>(HasSubstr("3 ranks")));
    EXPECT_THAT(buildWith(1, 1, 0, 1), ThrowsMessage<std::logic_error>(HasSubstr("to itself")));
    EXPECT_THAT(buildWith(0, 1, 3, 2), ThrowsMessage<std::logic_error>(HasSubstr("there are 4")));
    EXPECT_THAT(buildWith(0, 1, 3, 0xffffffff),
                ThrowsMessage<std::logic_error>(HasSubstr("there are 4")));
    EXPECT_THAT(buildWith(0, 1, 0, 0), ThrowsMessage<std::logic_error>(HasSubstr("0 chunks")));
}

TEST(PlanBuilder, MovesWithinARankFromOneBufferToAnother)
{
    auto builder = MakeBuilder();
    builder.AddReduce(1, 1, 0, 2, 0, {3, 0});
    const auto plan = builder.Build();
    EXPECT_TRUE(plan.GetOperations()[0].IsMove());
    EXPECT_FALSE(plan.GetOperations()[0].IsTransfer());
    EXPECT_EQ(plan.GetBufferCount(), 4u);
    auto self = MakeBuilder();
    self.AddReduce(1, 1, 0, 2, 0, {3, 3});
    EXPECT_THAT([&] { self.Build(); }, ThrowsMessage<std::logic_error>(HasSubstr("to itself")));
}

TEST(PlanBuilder, RejectsACollectiveThatDoesNotFit)
{
    const auto buildWith = [](const std::vector<uint32_t>& sources,
                              const std::vector<uint32_t>& targets) {
        return [=] {
            PlanBuilder(3, 2, ChunkLayout::Even(64, 4), {"delivery", sources, targets}).Build();
        };
    };
    EXPECT_NO_THROW(buildWith({1}, {0, 1, 0, Collective::ALL})());
    for (const auto& build : {buildWith({2}, {0}), buildWith({0}, {2}), buildWith({0}, {0, 1, 0})})
    {
        EXPECT_THAT(build, ThrowsMessage<std::logic_error>(HasSubstr("a delivery do not fit 2")));
    }
}

TEST(PlanBuilder, GivesOneMessageAnotherSizeAndLeavesTheOthers)
{
    auto builder = MakeBuilder();
    const auto coded = builder.AddReduce(0, 1, 1, 3);
    builder.AddCopy(1, 2, 1, 3);
    builder.AddJoin(2);
    builder.SetMessageBytes(coded, 5);
    const auto plan = builder.Build();
    EXPECT_TRUE(plan.IsCompressed());
    // Chunks 1 to 3 hold 8 floats; a join moves nothing.
    EXPECT_EQ(plan.GetBytes(0), 5u);
    EXPECT_EQ(plan.GetBytes(1), 32u);
    EXPECT_EQ(plan.GetBytes(2), 0u);
}

TEST(PlanBuilder, RejectsEdgesToUnknownOperations)
{
    auto builder = MakeBuilder();
    const auto join = builder.AddJoin(0);
    builder.AddEdge(join, 1);
    EXPECT_THROW(builder.Build(), std::logic_error);
}

TEST(PlanBuilder, RejectsCycles)
{
    auto builder = MakeBuilder();
    for (int i = 0; i < 4; ++i)
    {
        builder.AddJoin(0);
    }
    builder.AddEdge(0, 1);
    builder.AddEdge(1, 2);
    builder.AddEdge(2, 1);
    builder.AddEdge(2, 3);
    // 1 and 2 wait for each other and 3 for them; 0 can run.
    EXPECT_THAT([&] { builder.Build(); },
                ThrowsMessage<std::logic_error>(HasSubstr("3 operations")));
    auto self = MakeBuilder();
    self.AddJoin(0);
    self.AddEdge(0, 0);
    EXPECT_THROW(self.Build(), std::logic_error);
}

/// Joins in a row of random places, each of which waits for some before it in that row. \returns
/// their ids, as they can be passed
std::vector<OperationId>
AddInHiddenOrder(PlanBuilder& builder, uint32_t count, std::mt19937& random)
{
    std::vector<OperationId> order;
    for (uint32_t i = 0; i < count; ++i)
    {
        order.push_back(builder.AddJoin(random() % 3));
    }
    std::shuffle(order.begin(), order.end(), random);
    for (uint32_t later = 1; later < count; ++later)
    {
        for (uint32_t edges = random() % 3; edges > 0; --edges)
        {
            builder.AddEdge(order[random() % later], order[later]);
        }
    }
    return order;
}

TEST(PlanBuilder, TakesAnyOrderThatIsNoCycle)
{
    std::mt19937 random(5);
    for (int repeat = 0; repeat < 50; ++repeat)
    {
        const auto count = 2 + static_cast<uint32_t>(random()) % 3000;
        auto builder = MakeBuilder();
        AddInHiddenOrder(builder, count, random);
        EXPECT_EQ(builder.Build().GetOperations().size(), count);
        // A chain through all of them, and back from a later to an earlier one.
        auto cyclic = MakeBuilder();
        const auto order = AddInHiddenOrder(cyclic, count, random);
        for (uint32_t i = 1; i < count; ++i)
        {
            cyclic.AddEdge(order[i - 1], order[i]);
        }
        const auto later = 1 + static_cast<uint32_t>(random()) % (count - 1);
        cyclic.AddEdge(order[later], order[random() % later]);
        EXPECT_THROW(cyclic.Build(), std::logic_error);
    }
}

TEST(PlanBuilder, ShowsAllOperationsWithTheirSuccessorsInARow)
{
    std::mt19937 random(6);
    for (const uint32_t count : {1U, 2U, 1023U, 1024U, 1025U, 5000U})
    {
        auto builder = MakeBuilder();
        AddInHiddenOrder(builder, count, random);
        const auto plan = builder.Build();
        OperationId next = 0;
        const auto visit = [&](OperationId id,
                               const Operation& operation,
                               std::span<const OperationId> successors) {
            EXPECT_EQ(id, next++);
            EXPECT_EQ(operation.src, plan.GetOperations()[id].src);
            const auto expected = plan.GetSuccessors(id);
            EXPECT_TRUE(std::ranges::equal(successors, expected)) << id;
        };
        plan.ForEachWithSuccessors(count, visit);
        EXPECT_EQ(next, count);
        std::vector<std::pair<OperationId, OperationId>> edges;
        for (OperationId id = 0; id < count; ++id)
        {
            for (const auto successor : plan.GetSuccessors(id))
            {
                edges.emplace_back(id, successor);
            }
        }
        std::vector<std::pair<OperationId, OperationId>> shown;
        plan.ForEachEdge(count, [&](OperationId earlier, OperationId later) {
            shown.emplace_back(earlier, later);
        });
        EXPECT_EQ(shown, edges);
    }
}

TEST(PlanBuilder, ShowsTheRanksOfAllOperations)
{
    std::mt19937 random(7);
    for (const uint32_t count : {1U, 2U, 128U, 129U, 5000U})
    {
        auto builder = MakeBuilder();
        AddInHiddenOrder(builder, count, random);
        const auto plan = builder.Build();
        size_t next = 0;
        plan.ForEachSrc(count, [&](size_t id, uint32_t rank) {
            EXPECT_EQ(id, next++);
            EXPECT_EQ(rank, plan.GetOperations()[static_cast<OperationId>(id)].src);
        });
        EXPECT_EQ(next, count);
        next = 0;
        plan.ForEachDst(count, [&](size_t id, uint32_t rank) {
            EXPECT_EQ(id, next++);
            EXPECT_EQ(rank, plan.GetOperations()[static_cast<OperationId>(id)].dst);
        });
        EXPECT_EQ(next, count);
    }
}

TEST(PlanBuilder, ListsTheOperationsOfAnAggregation)
{
    PlanBuilder builder(4, 4, ChunkLayout::Even(64, 1));
    builder.AddJoin(0);
    const auto group = builder.AddAggregationGroup({0, 2, 3}, {.name = "any"});
    EXPECT_EQ(builder.AddAggregate(group, 0, 1), 1U);
    const auto plan = builder.Build();
    EXPECT_EQ(plan.GetOperations()[2].src, 2U);
    for (OperationId id = 1; id < 4; ++id)
    {
        EXPECT_EQ(plan.GetMembers(id).first, 1U);
        EXPECT_EQ(plan.GetMembers(id).last, 4U);
    }
    EXPECT_EQ(plan.GetMembers(0).last, 1U);
    EXPECT_EQ(plan.GetBytes(3), 64U);
}

TEST(PlanBuilder, RefusesAggregationsThatWaitForEachOther)
{
    // Rank 0 gives to the second only when it has the first, rank 1 the other way round.
    PlanBuilder builder(2, 2, ChunkLayout::Even(64, 2));
    const auto group = builder.AddAggregationGroup({0, 1}, {.name = "any"});
    const auto first = builder.AddAggregate(group, 0, 1);
    const auto second = builder.AddAggregate(group, 1, 1);
    builder.AddEdge(first, second);
    builder.AddEdge(second + 1, first + 1);
    EXPECT_THROW(builder.Build(), std::logic_error);
}

TEST(PlanBuilder, RefusesGroupsThatAreNoGroups)
{
    for (const std::vector<uint32_t>& ranks : {std::vector<uint32_t>{1}, {1, 0}, {0, 0}})
    {
        PlanBuilder builder(2, 2, ChunkLayout::Even(64, 1));
        builder.AddAggregate(builder.AddAggregationGroup(ranks, {.name = "any"}), 0, 1);
        EXPECT_THROW(builder.Build(), std::logic_error);
    }
}

TEST(PlanBuilder, RefusesAnAggregationWithoutItsRoot)
{
    PlanBuilder builder(4, 4, ChunkLayout::Even(100, 1));
    builder.AddAggregate(
        builder.AddAggregationGroup({0, 2}, {.name = "any"}, {AggregationFlow::Reduce, 1}),
        0,
        1);
    EXPECT_THROW(builder.Build(), std::logic_error);
}

} // namespace

} // namespace ns3::gradsync
