// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/distant-ends.h"
#include "ns3/plan-builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

namespace ns3::gradsync
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

/// Ranks 0 and 1 are of process 0, 2 and 3 of process 1; one chunk of 1,000 bytes.
class DistantEndsTest : public testing::Test
{
  protected:
    /// What was built is in m_plan from now on.
    DistantEnds Find(double reduceSecondsPerByte = 0, bool limitsSends = false, uint32_t copies = 1)
    {
        m_plan = m_builder.Build({.count = copies, .chunks = 0});
        return {m_plan, {0, 0, 1, 1}, reduceSecondsPerByte, limitsSends};
    }

    PlanBuilder m_builder{4, 4, ChunkLayout::Even(1000, 1)};
    Plan m_plan;
};

TEST_F(DistantEndsTest, NothingIsToldWhereRanksWaitForWhatTheyReceive)
{
    const auto there = m_builder.AddCopy(0, 2, 0, 1);
    const auto back = m_builder.AddCopy(2, 0, 0, 1);
    m_builder.AddEdge(there, back);
    const auto ends = Find();
    EXPECT_THAT(ends.FindWaiting(there), IsEmpty());
    EXPECT_FALSE(ends.FindDemands().areAny);
}

TEST_F(DistantEndsTest, WhoWaitsUntilItsMessageHasArrivedIsTold)
{
    const auto first = m_builder.AddCopy(0, 2, 0, 1);
    const auto second = m_builder.AddCopy(0, 3, 0, 1);
    m_builder.AddEdge(first, second);
    const auto ends = Find();
    EXPECT_THAT(ends.FindWaiting(first), ElementsAre(0)); // by process 1, where it arrives
    EXPECT_THAT(ends.FindWaiting(second), IsEmpty());
    const auto demands = ends.FindDemands();
    EXPECT_TRUE(demands.areAny);
    EXPECT_THAT(demands.receivers, ElementsAre(Pair(2, false)));
    EXPECT_FALSE(demands.leastWork);
    EXPECT_THAT(demands.obstacle, IsEmpty());
}

TEST_F(DistantEndsTest, OfEachCopyWhoWaitsIsTold)
{
    const auto first = m_builder.AddCopy(0, 2, 0, 1);
    const auto second = m_builder.AddCopy(0, 3, 0, 1);
    m_builder.AddEdge(first, second);
    const auto ends = Find(0, false, 3);
    for (const OperationId copy : {0, 2, 4})
    {
        EXPECT_THAT(ends.FindWaiting(first + copy), ElementsAre(0));
        EXPECT_THAT(ends.FindWaiting(second + copy), IsEmpty());
    }
    EXPECT_TRUE(ends.FindDemands().areAny);
}

TEST_F(DistantEndsTest, ABarrierIsFollowedByThoseWhoWaitForIt)
{
    const auto there = m_builder.AddCopy(0, 2, 0, 1);
    const auto back = m_builder.AddCopy(2, 0, 0, 1);
    const auto barrier = m_builder.AddJoin(0);
    const auto after = m_builder.AddCopy(2, 3, 0, 1);
    m_builder.AddEdge(there, barrier);
    m_builder.AddEdge(back, barrier);
    m_builder.AddEdge(barrier, after);
    const auto ends = Find();
    EXPECT_TRUE(ends.IsFollowed(barrier, 1));
    EXPECT_FALSE(ends.IsFollowed(barrier, 0)); // its own rank's
    EXPECT_FALSE(ends.IsFollowed(after, 1));
    EXPECT_THAT(ends.FindWaiting(there), ElementsAre(0)); // to end it at rank 0
    EXPECT_THAT(ends.FindWaiting(back), ElementsAre(1));  // to follow it
    EXPECT_THAT(ends.FindWaiting(barrier), IsEmpty());    // nobody is told of it
    const auto demands = ends.FindDemands();
    EXPECT_THAT(demands.receivers, ElementsAre(Pair(0, false), Pair(2, false)));
    EXPECT_THAT(demands.obstacle, IsEmpty());
    EXPECT_THAT(demands.needsStarts, IsEmpty()); // rank 0 has begun: it has sent `there`
}

TEST_F(DistantEndsTest, WhatIsFollowedIsFollowedThroughWhatItWaitsFor)
{
    // Edges against the order of operations, too.
    const auto last = m_builder.AddCopy(0, 1, 0, 1);
    const auto second = m_builder.AddJoin(2);
    const auto first = m_builder.AddJoin(0);
    const auto own = m_builder.AddCopy(0, 1, 0, 1);
    m_builder.AddEdge(own, first);
    m_builder.AddEdge(first, second);
    m_builder.AddEdge(second, last);
    const auto ends = Find();
    EXPECT_TRUE(ends.IsFollowed(second, 0));
    EXPECT_TRUE(ends.IsFollowed(first, 1)); // to end `second` at rank 2
    EXPECT_THAT(ends.FindWaiting(own), ElementsAre(1));
    EXPECT_THAT(ends.FindDemands().receivers, ElementsAre(Pair(1, true))); // from its own process
    // All before `second` may be done before rank 2 begins: process 0 must know when that is.
    EXPECT_THAT(ends.FindDemands().needsStarts, HasSubstr("operation 1 of rank 2"));
    EXPECT_THAT(ends.FindDemands().obstacle, IsEmpty());
    EXPECT_TRUE(ends.IsStartFollowed(2, 0));
    EXPECT_FALSE(ends.IsStartFollowed(2, 1)); // its own
    EXPECT_FALSE(ends.IsStartFollowed(0, 1)); // `own` tells that it has begun
}

TEST_F(DistantEndsTest, WhatIsDoneAsARankBeginsIsFollowedByThatAlone)
{
    const auto keep = m_builder.AddJoin(0);
    const auto add = m_builder.AddReduce(2, 0, 0, 1);
    m_builder.AddEdge(keep, add);
    const auto ends = Find();
    EXPECT_TRUE(ends.IsFollowed(keep, 1));
    EXPECT_TRUE(ends.IsStartFollowed(0, 1));
    const auto demands = ends.FindDemands();
    EXPECT_TRUE(demands.areAny); // though nothing is told
    EXPECT_THAT(demands.receivers, IsEmpty());
    EXPECT_THAT(demands.obstacle, IsEmpty());
    EXPECT_THAT(demands.needsStarts, HasSubstr("operation 0 of rank 0"));
}

TEST_F(DistantEndsTest, AnEndAfterWorkIsToldWhenThatBegins)
{
    const auto sum = m_builder.AddReduce(0, 2, 0, 1);
    const auto next = m_builder.AddCopy(0, 3, 0, 1);
    m_builder.AddEdge(sum, next);
    const auto ends = Find(1e-9);
    EXPECT_THAT(ends.FindWaiting(sum), ElementsAre(0));
    const auto demands = ends.FindDemands();
    EXPECT_THAT(demands.receivers, IsEmpty());
    EXPECT_EQ(demands.leastWork, MicroSeconds(1)); // 1,000 bytes of 1 ns
    EXPECT_THAT(demands.obstacle, IsEmpty());
}

TEST_F(DistantEndsTest, SendersWithALimitAreToldWhatHasArrived)
{
    const auto sum = m_builder.AddReduce(0, 2, 0, 1);
    m_builder.AddCopy(0, 1, 0, 1);
    m_builder.AddCopy(3, 1, 0, 1);
    const auto ends = Find(1e-9, true);
    const auto operations = m_plan.GetOperations();
    EXPECT_EQ(ends.FindSender(operations[sum]), 0U);
    EXPECT_FALSE(ends.FindSender(operations[1])); // within a process
    EXPECT_EQ(ends.FindSender(operations[2]), 1U);
    const auto demands = ends.FindDemands();
    EXPECT_THAT(demands.receivers,
                ElementsAre(Pair(1, false), Pair(2, false))); // before it is added
    EXPECT_FALSE(demands.leastWork);
}

TEST_F(DistantEndsTest, WorkOfNoTimeCannotBeTold)
{
    const auto work = m_builder.AddCompute(OperationKind::Encode, 2, 0);
    const auto next = m_builder.AddCopy(0, 1, 0, 1);
    m_builder.AddEdge(work, next);
    EXPECT_THAT(Find().FindDemands().obstacle, HasSubstr("the end of operation 0"));
}

TEST_F(DistantEndsTest, WhatSwitchesAggregateEndsForItsOwnRankAlone)
{
    const auto group = m_builder.AddAggregationGroup({0, 1, 2, 3}, {.name = "switchml"});
    const auto parts = m_builder.AddAggregate(group, 0, 1); // operations 0 to 3
    const auto own = m_builder.AddCopy(0, 2, 0, 1);
    m_builder.AddEdge(parts, own);
    EXPECT_THAT(Find().FindDemands().obstacle, IsEmpty());
}

TEST_F(DistantEndsTest, NobodyTellsAheadWhenSwitchesAnswerAnotherRank)
{
    const auto group = m_builder.AddAggregationGroup({0, 1, 2, 3}, {.name = "switchml"});
    const auto parts = m_builder.AddAggregate(group, 0, 1);
    const auto other = m_builder.AddCopy(2, 3, 0, 1);
    m_builder.AddEdge(parts, other); // rank 2 waits for what rank 0 gets
    EXPECT_THAT(Find().FindDemands().obstacle, HasSubstr("operation 0, an aggregation"));
}

} // namespace

} // namespace ns3::gradsync
