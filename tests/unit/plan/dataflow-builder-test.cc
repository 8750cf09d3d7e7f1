// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/dataflow-builder.h"
#include "ns3/plan-verifier.h"

#include <gmock/gmock.h>
#include <random>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

DataflowBuilder
MakeDataflow(uint32_t ranks, uint32_t chunks = 1)
{
    return {ranks, ranks, ChunkLayout::Even(uint64_t{64} * chunks, chunks)};
}

TEST(DataflowBuilder, LetsReducesIntoOnePlaceRunTogetherAndReadsWaitForAll)
{
    auto builder = MakeDataflow(4);
    builder.AddReduce(0, 3, 0, 1); // 0
    builder.AddReduce(1, 3, 0, 1); // 1
    builder.AddCopy(3, 2, 0, 1);   // 2, with the join 3
    builder.AddCopy(3, 1, 0, 1);   // 4
    const auto plan = builder.Build();
    EXPECT_THAT(plan.GetSuccessors(0), ElementsAre(3));
    // Operation 4 overwrites rank 1, which operation 1 reads; that goes through the join as well.
    EXPECT_THAT(plan.GetSuccessors(1), ElementsAre(3, 4));
    EXPECT_THAT(plan.GetSuccessors(2), IsEmpty());
    EXPECT_THAT(plan.GetSuccessors(3), ElementsAre(2, 4));
}

TEST(DataflowBuilder, OrdersAWriteAfterTheReadsBeforeIt)
{
    auto builder = MakeDataflow(3);
    builder.AddCopy(0, 1, 0, 1); // reads rank 0
    builder.AddCopy(2, 0, 0, 1); // overwrites rank 0
    const auto plan = builder.Build();
    EXPECT_THAT(plan.GetSuccessors(0), ElementsAre(1));
}

TEST(DataflowBuilder, OrdersCopiesToOnePlace)
{
    auto builder = MakeDataflow(3);
    builder.AddCopy(0, 1, 0, 1);
    builder.AddCopy(2, 1, 0, 1);
    const auto plan = builder.Build();
    EXPECT_THAT(plan.GetSuccessors(0), ElementsAre(1));
}

TEST(DataflowBuilder, LeavesOtherChunksAlone)
{
    auto builder = MakeDataflow(3, 4);
    builder.AddReduce(0, 1, 0, 2);
    builder.AddReduce(1, 2, 2, 2); // other chunks of rank 1
    builder.AddReduce(1, 2, 1, 2); // chunk 1 of the first
    const auto plan = builder.Build();
    EXPECT_THAT(plan.GetSuccessors(0), ElementsAre(2));
    EXPECT_THAT(plan.GetSuccessors(1), IsEmpty());
}

TEST(DataflowBuilder, DrawsBarriers)
{
    auto builder = MakeDataflow(6);
    builder.AddBarrier();          // nothing before it: nothing to draw
    builder.AddReduce(0, 1, 0, 1); // 0
    builder.AddReduce(2, 3, 0, 1); // 1
    builder.AddBarrier();          // 2
    builder.AddReduce(4, 5, 0, 1); // 3
    builder.AddCopy(5, 4, 0, 1);   // 4: after 3, and so after the barrier
    const auto plan = builder.Build();
    EXPECT_THAT(plan.GetSuccessors(0), ElementsAre(2));
    EXPECT_THAT(plan.GetSuccessors(1), ElementsAre(2));
    EXPECT_THAT(plan.GetSuccessors(2), ElementsAre(3));
    EXPECT_THAT(plan.GetSuccessors(3), ElementsAre(4));
}

TEST(DataflowBuilder, MakesPlansWithoutRaces)
{
    std::mt19937 random(1);
    const auto draw = [&random](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
    for (int round = 0; round < 200; ++round)
    {
        DataflowBuilder builder(4, 4, ChunkLayout::Even(192, 3), {}, 2);
        for (int transfer = 0; transfer < 25; ++transfer)
        {
            const uint32_t src = draw(4);
            const uint32_t dst = draw(4);
            const auto from = static_cast<uint8_t>(draw(2));
            const auto to = static_cast<uint8_t>(src == dst ? 1 - from : draw(2));
            const uint32_t first = draw(3);
            const uint32_t count = 1 + draw(3 - first);
            if (draw(10) == 0)
            {
                builder.AddBarrier();
            }
            draw(2) == 0 ? builder.AddReduce(src, dst, first, count, 0, {from, to})
                         : builder.AddCopy(src, dst, first, count, 0, {from, to});
        }
        // Random transfers are no all-reduce, but they are ordered wherever the order matters.
        EXPECT_THAT(PlanVerifier(1000).Verify(builder.Build()).violations,
                    testing::Each(Not(HasSubstr("race"))));
    }
}

TEST(DataflowBuilder, KeepsBuffersApart)
{
    DataflowBuilder builder(2, 2, ChunkLayout::Even(64, 1), {}, 2);
    builder.AddCopy(0, 1, 0, 1, 0, {0, 1});   // 0
    builder.AddCopy(1, 0, 0, 1, 0, {0, 1});   // 1: a swap, so neither waits
    builder.AddReduce(0, 0, 0, 1, 0, {1, 0}); // 2: after both
    const auto plan = builder.Build();
    EXPECT_EQ(plan.GetBufferCount(), 2u);
    EXPECT_THAT(plan.GetSuccessors(0), ElementsAre(2));
    EXPECT_THAT(plan.GetSuccessors(1), ElementsAre(2));
}

TEST(DataflowBuilder, DrawsTheEdgesThatAreAskedFor)
{
    auto builder = MakeDataflow(4);
    const auto first = builder.AddCopy(0, 1, 0, 1);
    builder.AddEdge(first, builder.AddCopy(2, 3, 0, 1));
    EXPECT_THAT(builder.Build().GetSuccessors(first), ElementsAre(1));
}

TEST(DataflowBuilder, RejectsABufferThatWasNotAnnounced)
{
    auto builder = MakeDataflow(2);
    EXPECT_THROW(builder.AddCopy(0, 1, 0, 1, 0, {0, 1}), std::logic_error);
}

TEST(DataflowBuilder, RejectsWhatPlanBuilderRejects)
{
    auto builder = MakeDataflow(2);
    builder.AddReduce(0, 2, 0, 1);
    EXPECT_THROW(builder.Build(), std::logic_error);
    auto other = MakeDataflow(2);
    other.AddReduce(0, 1, 0, 2);
    EXPECT_THROW(other.Build(), std::logic_error);
}

} // namespace

} // namespace ns3::gradsync
