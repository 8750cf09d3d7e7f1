// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/operation-ledger.h"
#include "ns3/plan-builder.h"

#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Joins of one rank. Each of the last `late` ones waits for all the others.
Plan
MakeJoins(uint32_t early, uint32_t late)
{
    PlanBuilder builder(1, 1, ChunkLayout::Even(4, 1, 4));
    for (uint32_t i = 0; i < early + late; ++i)
    {
        builder.AddJoin(0);
    }
    for (uint32_t i = 0; i < early; ++i)
    {
        for (uint32_t k = 0; k < late; ++k)
        {
            builder.AddEdge(i, early + k);
        }
    }
    return builder.Build();
}

TEST(OperationLedger, CountsWhatOperationsWaitFor)
{
    // Around the 252 up to which a byte counts, and the 4,096 of a page.
    for (const uint32_t early : {1U, 251U, 252U, 253U, 1'000U, 4'095U, 4'096U, 9'000U})
    {
        const auto plan = MakeJoins(early, 3);
        OperationLedger ledger(plan, false);
        ASSERT_EQ(ledger.GetSize(), early + 3);
        for (uint32_t i = 0; i < early; ++i)
        {
            ASSERT_EQ(ledger.GetWaiting(early + 2), early - i);
            ASSERT_EQ(ledger.GetWaiting(i), 0u);
            ledger.MarkDone(i);
            ASSERT_TRUE(ledger.IsDone(i));
            for (uint32_t k = 0; k < 3; ++k)
            {
                ASSERT_FALSE(ledger.IsDone(early + k));
                ASSERT_EQ(ledger.Release(early + k), i + 1 == early) << i;
            }
            ASSERT_EQ(ledger.GetLeft(), early + 2 - i);
        }
    }
}

TEST(OperationLedger, KnowsStatesInAnyOrder)
{
    constexpr uint32_t OPERATIONS = 10'000;
    const auto plan = MakeJoins(OPERATIONS, 0);
    OperationLedger ledger(plan, true);

    enum State
    {
        Waiting,
        Sent,
        Delivered,
        Done
    };

    std::vector<State> states(OPERATIONS, Waiting);
    std::mt19937 random(1);
    uint32_t left = OPERATIONS;
    while (left > 0)
    {
        const auto id = static_cast<OperationId>(random() % OPERATIONS);
        switch (states[id])
        {
        case Waiting:
            ledger.MarkSent(id);
            states[id] = Sent;
            break;
        case Sent:
            ledger.MarkDelivered(id);
            states[id] = Delivered;
            break;
        case Delivered:
            ledger.MarkDone(id);
            states[id] = Done;
            --left;
            break;
        case Done:
            ASSERT_FALSE(ledger.Release(id)); // what was left out is not made ready
        }
        ASSERT_EQ(ledger.IsSent(id), states[id] == Sent);
        ASSERT_EQ(ledger.IsDelivered(id), states[id] == Delivered);
        ASSERT_EQ(ledger.IsDone(id), states[id] == Done);
        ASSERT_EQ(ledger.GetLeft(), left);
    }
    for (uint32_t id = 0; id < OPERATIONS; ++id)
    {
        ASSERT_TRUE(ledger.IsDone(id));
    }
}

TEST(OperationLedger, LeavesOutWhatWaitsForMany)
{
    const auto plan = MakeJoins(300, 1);
    OperationLedger ledger(plan, false);
    ledger.MarkDone(300);
    EXPECT_TRUE(ledger.IsDone(300));
    ledger.MarkDone(0);
    EXPECT_FALSE(ledger.Release(300));
    EXPECT_EQ(ledger.GetLeft(), 299u);
}

} // namespace

} // namespace ns3::gradsync
