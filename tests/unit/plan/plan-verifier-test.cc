// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-builder.h"
#include "ns3/plan-part.h"
#include "ns3/plan-verifier.h"

#include <gmock/gmock.h>
#include <numeric>

namespace ns3::gradsync
{

namespace
{

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

PlanBuilder
MakeVerifiedBuilder(uint32_t workers, uint32_t servers = 0, uint32_t chunks = 1)
{
    return {workers + servers, workers, ChunkLayout::Even(uint64_t{64} * chunks, chunks)};
}

std::vector<std::string>
Verify(PlanBuilder& builder)
{
    const auto result = PlanVerifier().Verify(builder.Build());
    EXPECT_EQ(result.ok, result.violations.empty());
    return result.violations;
}

TEST(PlanVerifier, AcceptsTheExchangeOfTwoWorkers)
{
    auto builder = MakeVerifiedBuilder(2);
    const auto push = builder.AddReduce(0, 1, 0, 1);
    builder.AddEdge(push, builder.AddCopy(1, 0, 0, 1));
    EXPECT_THAT(Verify(builder), IsEmpty());
}

TEST(PlanVerifier, AcceptsAServerThatStartsEmpty)
{
    auto builder = MakeVerifiedBuilder(2, 1);
    const auto join = builder.AddJoin(2);
    for (uint32_t worker = 0; worker < 2; ++worker)
    {
        builder.AddEdge(builder.AddReduce(worker, 2, 0, 1), join);
        builder.AddEdge(join, builder.AddCopy(2, worker, 0, 1));
    }
    EXPECT_THAT(Verify(builder), IsEmpty());
}

TEST(PlanVerifier, AcceptsASingleWorkerThatDoesNothing)
{
    auto builder = MakeVerifiedBuilder(1);
    EXPECT_THAT(Verify(builder), IsEmpty());
}

TEST(PlanVerifier, IgnoresChunksWithoutBytes)
{
    PlanBuilder builder(2, 2, ChunkLayout::Even(4, 2)); // chunk 0 is empty
    builder.AddEdge(builder.AddReduce(0, 1, 1, 1), builder.AddCopy(1, 0, 1, 1));
    EXPECT_THAT(Verify(builder), IsEmpty());
}

TEST(PlanVerifier, ReportsAGradientCountedTwice)
{
    // Worker 1 adds the gradient of worker 0, and later once more.
    auto builder = MakeVerifiedBuilder(2);
    const auto first = builder.AddReduce(0, 1, 0, 1);
    const auto second = builder.AddReduce(0, 1, 0, 1);
    builder.AddEdge(first, second);
    builder.AddEdge(second, builder.AddCopy(1, 0, 0, 1));
    EXPECT_THAT(Verify(builder),
                ElementsAre(AllOf(HasSubstr("operation 1 (reduce rank 0 -> rank 1) of chunk 0"),
                                  HasSubstr("both hold the gradient of worker 0"))));
}

TEST(PlanVerifier, AcceptsASwapThroughStagingBuffers)
{
    auto builder = MakeVerifiedBuilder(2);
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        builder.AddCopy(rank, 1 - rank, 0, 1, 0, {0, 1}); // 0, 1
    }
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        const auto sum = builder.AddReduce(rank, rank, 0, 1, 0, {1, 0});
        builder.AddEdge(0, sum);
        builder.AddEdge(1, sum);
    }
    EXPECT_THAT(Verify(builder), IsEmpty());
}

TEST(PlanVerifier, ReportsASwapThatAddsBeforeItsOwnGradientHasLeft)
{
    auto builder = MakeVerifiedBuilder(2);
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        const auto copy = builder.AddCopy(rank, 1 - rank, 0, 1, 0, {0, 1});
        builder.AddEdge(copy, builder.AddReduce(1 - rank, 1 - rank, 0, 1, 0, {1, 0}));
    }
    EXPECT_THAT(Verify(builder),
                Contains(HasSubstr("race on chunk 0 at rank 1: expected an edge or a path that "
                                   "orders operation 2 (copy rank 1 -> rank 0's buffer 1)")));
}

TEST(PlanVerifier, ReportsADatumLeftInAStagingBuffer)
{
    auto builder = MakeVerifiedBuilder(1, 1);
    const auto there = builder.AddCopy(0, 1, 0, 1, 0, {0, 2});
    builder.AddEdge(there, builder.AddCopy(1, 0, 0, 1, 0, {1, 0}));
    EXPECT_THAT(Verify(builder),
                ElementsAre(HasSubstr("expected data at rank 1's buffer 1, which holds none"),
                            HasSubstr("chunk 0 at worker 0 at the end")));
}

/// Worker 0 holds both chunks at the start; worker 1 wants chunk 1.
Collective
MakeDelivery()
{
    return {"delivery", {0}, {0, 1}};
}

TEST(PlanVerifier, HoldsAPlanToItsCollective)
{
    PlanBuilder builder(3, 3, ChunkLayout::Even(128, 2), MakeDelivery());
    builder.AddCopy(0, 1, 1, 1);
    EXPECT_THAT(Verify(builder), IsEmpty());
    PlanBuilder other(3, 3, ChunkLayout::Even(128, 2), MakeDelivery());
    other.AddCopy(0, 2, 1, 1);
    EXPECT_THAT(Verify(other),
                ElementsAre(HasSubstr("chunk 1 at worker 1 at the end: expected the gradient of "
                                      "worker 0, but 1 is missing: 0")));
}

TEST(PlanVerifier, KnowsThatOnlySourcesHoldSomethingAtTheStart)
{
    PlanBuilder builder(3, 3, ChunkLayout::Even(128, 2), MakeDelivery());
    builder.AddCopy(2, 1, 1, 1);
    EXPECT_THAT(Verify(builder),
                ElementsAre(HasSubstr("expected data at rank 2, which holds none"),
                            HasSubstr("chunk 1 at worker 1 at the end")));
}

TEST(PlanVerifier, LetsTokensBeAddedTwiceWhereTheSumIsIdempotent)
{
    for (const auto sum : {Collective::Sum::Exact, Collective::Sum::Idempotent})
    {
        PlanBuilder builder(2,
                            2,
                            ChunkLayout::Even(1, 1),
                            {"barrier", {Collective::ALL}, {1}, sum});
        builder.AddEdge(builder.AddReduce(0, 1, 0, 1), builder.AddReduce(0, 1, 0, 1));
        EXPECT_THAT(Verify(builder), SizeIs(sum == Collective::Sum::Exact ? 1 : 0));
    }
}

TEST(PlanVerifier, ReportsMissingContributions)
{
    // Worker 2 takes part in nothing: 0 and 1 lack its gradient, and it lacks those of 0 and 1.
    auto builder = MakeVerifiedBuilder(3);
    builder.AddEdge(builder.AddReduce(0, 1, 0, 1), builder.AddCopy(1, 0, 0, 1));
    EXPECT_THAT(Verify(builder),
                ElementsAre(HasSubstr("chunk 0 at worker 0 at the end: expected the gradients of "
                                      "all 3 workers, but 1 are missing: 2"),
                            HasSubstr("1 are missing: 2"),
                            HasSubstr("2 are missing: 0, 1")));
}

TEST(PlanVerifier, ReportsAChunkThatWasForgotten)
{
    auto builder = MakeVerifiedBuilder(2, 0, 3);
    builder.AddEdge(builder.AddReduce(0, 1, 0, 2), builder.AddCopy(1, 0, 0, 2));
    EXPECT_THAT(Verify(builder), AllOf(SizeIs(2), Each(HasSubstr("chunk 2 at worker"))));
}

TEST(PlanVerifier, ReportsASumThatIsOverwritten)
{
    // Worker 1 sums both gradients; then worker 0 overwrites the sum with its own gradient.
    auto builder = MakeVerifiedBuilder(2);
    builder.AddEdge(builder.AddReduce(0, 1, 0, 1), builder.AddCopy(0, 1, 0, 1));
    EXPECT_THAT(Verify(builder),
                ElementsAre(HasSubstr("at worker 0"),
                            AllOf(HasSubstr("at worker 1"), HasSubstr("missing: 1"))));
}

TEST(PlanVerifier, ReportsATransferOfNothing)
{
    auto builder = MakeVerifiedBuilder(1, 1);
    const auto early = builder.AddReduce(1, 0, 0, 1);
    const auto push = builder.AddReduce(0, 1, 0, 1);
    builder.AddEdge(early, push);
    EXPECT_THAT(Verify(builder),
                ElementsAre(AllOf(HasSubstr("operation 0 (reduce rank 1 -> rank 0)"),
                                  HasSubstr("expected data at rank 1, which holds none"))));
}

TEST(PlanVerifier, ReportsAReadThatRacesWithAWrite)
{
    // The pull does not wait for the push, though in the order of ids everything looks well.
    auto builder = MakeVerifiedBuilder(2);
    builder.AddReduce(0, 1, 0, 1);
    builder.AddCopy(1, 0, 0, 1);
    EXPECT_THAT(Verify(builder),
                Contains(AllOf(HasSubstr("race on chunk 0 at rank 1"),
                               HasSubstr("operation 0 (reduce rank 0 -> rank 1)"),
                               HasSubstr("operation 1 (copy rank 1 -> rank 0)"))));
}

TEST(PlanVerifier, ReportsARaceThatNoUsualOrderReveals)
{
    // Workers 0 and 1 push to 2 and pull from it. Pull 2 waits for push 0 alone, so it may read the
    // sum before push 1 arrives. Both pushes and both pulls are correct by ascending id, and by
    // descending id among those that are ready.
    auto builder = MakeVerifiedBuilder(3);
    const auto join = builder.AddJoin(2);
    const auto push0 = builder.AddReduce(0, 2, 0, 1);
    const auto push1 = builder.AddReduce(1, 2, 0, 1);
    builder.AddEdge(push0, join);
    builder.AddEdge(push1, join);
    builder.AddEdge(push0, builder.AddCopy(2, 0, 0, 1));
    builder.AddEdge(join, builder.AddCopy(2, 1, 0, 1));
    EXPECT_THAT(Verify(builder),
                Contains(AllOf(HasSubstr("race on chunk 0 at rank 2"),
                               HasSubstr("operation 2"),
                               HasSubstr("operation 3"))));
}

TEST(PlanVerifier, ReportsTwoUnorderedCopiesToOnePlace)
{
    // Workers 1 and 2 both hold the sum and both give it to worker 0.
    auto builder = MakeVerifiedBuilder(3);
    const auto a = builder.AddReduce(0, 1, 0, 1);
    const auto b = builder.AddReduce(2, 1, 0, 1);
    const auto c = builder.AddCopy(1, 2, 0, 1);
    builder.AddEdge(a, c);
    builder.AddEdge(b, c);
    builder.AddEdge(c, builder.AddCopy(1, 0, 0, 1));
    builder.AddEdge(c, builder.AddCopy(2, 0, 0, 1));
    EXPECT_THAT(Verify(builder), ElementsAre(HasSubstr("race on chunk 0 at rank 0")));
}

TEST(PlanVerifier, ReportsRacesOnlyOnTheChunksThatHaveThem)
{
    // Chunk 0 is ordered; the pull of chunk 1 waits for the push of chunk 0.
    auto builder = MakeVerifiedBuilder(2, 0, 2);
    const auto push = builder.AddReduce(0, 1, 0, 1);
    builder.AddReduce(0, 1, 1, 1);
    builder.AddEdge(push, builder.AddCopy(1, 0, 0, 1));
    builder.AddEdge(push, builder.AddCopy(1, 0, 1, 1));
    EXPECT_THAT(Verify(builder), AllOf(Not(IsEmpty()), Each(HasSubstr("chunk 1 "))));
}

TEST(PlanVerifier, FindsTheOrderThatATransferOfAnotherChunkMakes)
{
    // push of chunk 0 -> exchange of chunk 1 -> pull of chunk 0.
    auto builder = MakeVerifiedBuilder(2, 0, 2);
    const auto push0 = builder.AddReduce(0, 1, 0, 1);
    const auto push1 = builder.AddReduce(0, 1, 1, 1);
    const auto pull1 = builder.AddCopy(1, 0, 1, 1);
    const auto pull0 = builder.AddCopy(1, 0, 0, 1);
    builder.AddEdge(push0, push1);
    builder.AddEdge(push1, pull1);
    builder.AddEdge(pull1, pull0);
    EXPECT_THAT(Verify(builder), IsEmpty());
}

TEST(PlanVerifier, FindsTheOrderThatAChainOfJoinsMakes)
{
    auto builder = MakeVerifiedBuilder(2);
    const auto pull = builder.AddCopy(1, 0, 0, 1); // ids against the order of execution
    const auto second = builder.AddJoin(0);
    const auto first = builder.AddJoin(1);
    const auto push = builder.AddReduce(0, 1, 0, 1);
    builder.AddEdge(push, first);
    builder.AddEdge(first, second);
    builder.AddEdge(second, pull);
    EXPECT_THAT(Verify(builder), IsEmpty());
}

/// All but the last worker push to it and pull from it; `forgotten` is not waited for.
std::vector<std::string>
VerifyStar(uint32_t workers, uint32_t forgotten)
{
    auto builder = MakeVerifiedBuilder(workers);
    const uint32_t hub = workers - 1;
    const auto join = builder.AddJoin(hub);
    for (uint32_t worker = 0; worker < hub; ++worker)
    {
        const auto push = builder.AddReduce(worker, hub, 0, 1);
        if (worker != forgotten)
        {
            builder.AddEdge(push, join);
        }
    }
    for (uint32_t worker = 0; worker < hub; ++worker)
    {
        builder.AddEdge(join, builder.AddCopy(hub, worker, 0, 1));
    }
    return Verify(builder);
}

TEST(PlanVerifier, FindsRacesBeyondTheFirstBlockOfSources)
{
    // 4,200 pushes are more than the 4,096 that one pass of the race finder covers.
    EXPECT_THAT(VerifyStar(4201, 4201), IsEmpty());
    EXPECT_THAT(VerifyStar(4201, 4199), Contains(HasSubstr("race on chunk 0 at rank 4200")));
    EXPECT_THAT(VerifyStar(4201, 4095), Contains(HasSubstr("race on chunk 0 at rank 4200")));
    EXPECT_THAT(VerifyStar(4201, 4096), Contains(HasSubstr("race on chunk 0 at rank 4200")));
}

TEST(PlanVerifier, StopsAfterTheGivenNumberOfViolations)
{
    auto builder = MakeVerifiedBuilder(30);
    const auto plan = builder.Build();
    EXPECT_THAT(PlanVerifier(7).Verify(plan).violations, SizeIs(7));
    EXPECT_THAT(PlanVerifier(1000).Verify(plan).violations, SizeIs(30));
    EXPECT_THAT(PlanVerifier(1).Verify(plan).violations,
                ElementsAre(HasSubstr("29 are missing: 1, 2, 3, 4, 5, 6, 7, 8, ...")));
}

/// Clients 0 to 2 push to rank 3, which waits for two of them and answers all.
Plan
MakeRound(bool isOrdered)
{
    PlanBuilder builder(4, 3, ChunkLayout::Even(400, 1));
    const auto gate = builder.AddGate(3, 2, 1000);
    for (uint32_t client = 0; client < 3; ++client)
    {
        const auto push = builder.AddReduce(client, 3, 0, 1);
        const auto pull = builder.AddCopy(3, client, 0, 1);
        builder.AddAnswer(push, client);
        if (isOrdered)
        {
            builder.AddEdge(gate, pull);
        }
    }
    return builder.Build();
}

TEST(PlanPart, IsAWholeExchangeOfThoseThatAreLeft)
{
    const auto plan = MakeRound(true);
    EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
    const auto part = MakePlanPart(plan, {false, true, false, false});
    EXPECT_TRUE(PlanVerifier().Verify(part.plan).ok);
    EXPECT_EQ(part.plan.GetRankCount(), 3U);
    EXPECT_EQ(part.plan.GetWorkerCount(), 2U);
    // The gate, and a push and a pull of clients 0 and 2.
    EXPECT_THAT(part.operations, testing::ElementsAre(0, 1, 2, 5, 6));
    EXPECT_EQ(part.plan.GetOperations()[3].src, 1U);
    EXPECT_EQ(part.plan.GetGate()->quorum, 2U);
}

TEST(PlanPart, LeavesOutWhatWaitsForTheLost)
{
    // A chain 0 -> 1 -> 2: without 0, what 1 sends on is not known to be there.
    PlanBuilder builder(3, 3, ChunkLayout::Even(400, 1));
    const auto first = builder.AddReduce(0, 1, 0, 1);
    const auto second = builder.AddReduce(1, 2, 0, 1);
    builder.AddEdge(first, second);
    const auto plan = builder.Build();
    EXPECT_THAT(FindLeftOut(plan, {true, false, false}), testing::ElementsAre(true, true));
    EXPECT_THAT(FindLeftOut(plan, {false, false, true}), testing::ElementsAre(false, true));
    EXPECT_FALSE(PlanVerifier().Verify(MakePlanPart(plan, {true, false, false}).plan).ok);
}

TEST(PlanPart, OfAPlanWithARaceHasTheRace)
{
    const auto part = MakePlanPart(MakeRound(false), {true, false, false, false});
    EXPECT_FALSE(PlanVerifier().Verify(part.plan).ok);
}

TEST(PlanBuilder, RejectsGatesThatCannotOpen)
{
    PlanBuilder alone(2, 1, ChunkLayout::Even(4, 1));
    alone.AddGate(1, 1, 1000); // nobody answers
    EXPECT_THROW(alone.Build(), std::logic_error);
    PlanBuilder builder(2, 1, ChunkLayout::Even(4, 1));
    EXPECT_THROW(builder.AddAnswer(0, 0), std::logic_error);
    builder.AddGate(1, 1, 1000);
    EXPECT_THROW(builder.AddGate(1, 1, 1000), std::logic_error);
}

TEST(PlanVerifier, AcceptsAnAggregationOfAll)
{
    auto builder = MakeVerifiedBuilder(3, 0, 2);
    const auto group = builder.AddAggregationGroup({0, 1, 2}, {.name = "any"});
    builder.AddAggregate(group, 0, 1);
    builder.AddAggregate(group, 1, 1);
    EXPECT_THAT(Verify(builder), IsEmpty());
}

TEST(PlanVerifier, AcceptsAggregationsWithinServersAndThenAmongThem)
{
    // Reduce 1 -> 0 and 3 -> 2, aggregate 0 and 2, copy back: each rank waits for what it needs.
    auto builder = MakeVerifiedBuilder(4);
    const auto first = builder.AddReduce(1, 0, 0, 1);
    const auto second = builder.AddReduce(3, 2, 0, 1);
    const auto sum =
        builder.AddAggregate(builder.AddAggregationGroup({0, 2}, {.name = "any"}), 0, 1);
    builder.AddEdge(first, sum);
    builder.AddEdge(second, sum + 1);
    builder.AddEdge(sum, builder.AddCopy(0, 1, 0, 1));
    builder.AddEdge(sum + 1, builder.AddCopy(2, 3, 0, 1));
    EXPECT_THAT(Verify(builder), IsEmpty());
}

TEST(PlanVerifier, ReportsAWorkerThatAnAggregationLeavesOut)
{
    auto builder = MakeVerifiedBuilder(3);
    builder.AddAggregate(builder.AddAggregationGroup({0, 1}, {.name = "any"}), 0, 1);
    EXPECT_THAT(Verify(builder), Contains(HasSubstr("chunk 0 at worker 2 at the end")));
}

TEST(PlanVerifier, ReportsAGradientThatAnAggregationCountsTwice)
{
    auto builder = MakeVerifiedBuilder(2);
    const auto copy = builder.AddCopy(0, 1, 0, 1);
    const auto sum =
        builder.AddAggregate(builder.AddAggregationGroup({0, 1}, {.name = "any"}), 0, 1);
    builder.AddEdge(copy, sum);
    builder.AddEdge(copy, sum + 1);
    EXPECT_THAT(Verify(builder),
                Contains(AllOf(HasSubstr("aggregate of group 0 at rank 1"),
                               HasSubstr("both hold the gradient of worker 0"))));
}

TEST(PlanVerifier, ReportsAMemberOfAnAggregationThatHasNothingToGive)
{
    // Rank 2 is a server: it starts empty, whichever place it has in the group.
    auto builder = MakeVerifiedBuilder(2, 1);
    builder.AddAggregate(builder.AddAggregationGroup({0, 1, 2}, {.name = "any"}), 0, 1);
    EXPECT_THAT(Verify(builder),
                Contains(AllOf(HasSubstr("aggregate of group 0 at rank 2"),
                               HasSubstr("which holds none"))));
}

TEST(PlanVerifier, ReportsAnAggregationThatDoesNotWaitForItsData)
{
    auto builder = MakeVerifiedBuilder(3);
    builder.AddReduce(2, 1, 0, 1);
    const auto sum =
        builder.AddAggregate(builder.AddAggregationGroup({0, 1}, {.name = "any"}), 0, 1);
    builder.AddEdge(sum, builder.AddCopy(0, 2, 0, 1));
    EXPECT_THAT(Verify(builder), Contains(HasSubstr("race on chunk 0 at rank 1")));
}

/// Three ranks whose chunk i is reduced to rank i and multicast from it, in the network.
PlanBuilder
MakeShards(uint32_t ranks)
{
    auto builder = MakeVerifiedBuilder(ranks, 0, ranks);
    std::vector<uint32_t> all(ranks);
    std::iota(all.begin(), all.end(), 0U);
    for (uint32_t root = 0; root < ranks; ++root)
    {
        const auto sum = builder.AddAggregate(
            builder.AddAggregationGroup(all, {.name = "any"}, {AggregationFlow::Reduce, root}),
            root,
            1);
        const auto copy = builder.AddAggregate(
            builder.AddAggregationGroup(all, {.name = "any"}, {AggregationFlow::Multicast, root}),
            root,
            1);
        for (uint32_t rank = 0; rank < ranks; ++rank)
        {
            builder.AddEdge(sum + rank, copy + rank);
        }
    }
    return builder;
}

TEST(PlanVerifier, AcceptsReductionsAndMulticastsOfShards)
{
    for (const uint32_t ranks : {2U, 3U, 8U})
    {
        auto builder = MakeShards(ranks);
        EXPECT_THAT(Verify(builder), IsEmpty());
    }
}

TEST(PlanVerifier, GivesTheSumOfAReductionToItsRootAlone)
{
    auto builder = MakeVerifiedBuilder(3);
    builder.AddAggregate(
        builder.AddAggregationGroup({0, 1, 2}, {.name = "any"}, {AggregationFlow::Reduce, 1}),
        0,
        1);
    const auto violations = Verify(builder);
    EXPECT_THAT(violations, Contains(HasSubstr("chunk 0 at worker 0 at the end")));
    EXPECT_THAT(violations, Not(Contains(HasSubstr("at worker 1 at the end"))));
    EXPECT_THAT(violations, Contains(HasSubstr("chunk 0 at worker 2 at the end")));
}

TEST(PlanVerifier, TakesNothingButTheRootsOfAMulticast)
{
    // Rank 2 has the sum of nobody but itself; what the others had is gone.
    auto builder = MakeVerifiedBuilder(3);
    builder.AddAggregate(
        builder.AddAggregationGroup({0, 1, 2}, {.name = "any"}, {AggregationFlow::Multicast, 2}),
        0,
        1);
    EXPECT_THAT(
        Verify(builder),
        Contains(AllOf(HasSubstr("chunk 0 at worker 0 at the end"), HasSubstr("missing: 0, 1"))));
}

TEST(PlanVerifier, ReportsAMulticastThatDoesNotWaitForAReductionAtAMember)
{
    auto builder = MakeVerifiedBuilder(2);
    const auto sum = builder.AddAggregate(
        builder.AddAggregationGroup({0, 1}, {.name = "any"}, {AggregationFlow::Reduce, 0}),
        0,
        1);
    const auto copy = builder.AddAggregate(
        builder.AddAggregationGroup({0, 1}, {.name = "any"}, {AggregationFlow::Multicast, 0}),
        0,
        1);
    builder.AddEdge(sum, copy); // at the root alone
    EXPECT_THAT(Verify(builder), Contains(HasSubstr("race on chunk 0 at rank 1")));
}

} // namespace

} // namespace ns3::gradsync
