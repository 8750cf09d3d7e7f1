// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-builder.h"
#include "ns3/plan-ranks.h"
#include "ns3/rank-ends.h"
#include "ns3/rank-launches.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace ns3::gradsync
{

namespace
{

using testing::ElementsAre;
using testing::IsEmpty;

/// Two workers and a server, each with at most so many transfers under way; 0: any number.
class PlanRanksTest : public testing::TestWithParam<uint32_t>
{
  protected:
    void SetUp() override
    {
        for (auto*& application : m_pointers)
        {
            m_applications.push_back(
                CreateObjectWithAttributes<ExchangeApplication>("MaxOutstandingSends",
                                                                UintegerValue(GetParam())));
            application = PeekPointer(m_applications.back());
        }
    }

    std::vector<Ptr<ExchangeApplication>> m_applications;
    std::vector<ExchangeApplication*> m_pointers{3, nullptr};
};

TEST_P(PlanRanksTest, GiveWhatWasReadyWhenTheyStartAndOnce)
{
    PlanRanks ranks(m_pointers, 2);
    ranks.KeepUntilStart(0, 7);
    ranks.KeepUntilStart(1, 3);
    ranks.KeepUntilStart(0, 5);
    EXPECT_THAT(ranks.Start(0), ElementsAre(7, 5));
    EXPECT_THAT(ranks.Start(0), IsEmpty());
    EXPECT_FALSE(ranks.HaveWorkersStarted());
    EXPECT_THAT(ranks.Start(1), ElementsAre(3));
    EXPECT_TRUE(ranks.HaveWorkersStarted());
    EXPECT_FALSE(ranks.HaveStarted()); // the server has not
    ranks.Start(2);
    EXPECT_TRUE(ranks.HaveStarted());
    ranks.KeepUntilStart(2, 1);
    ranks.Withdraw(2);
    EXPECT_FALSE(ranks.HasStarted(2));
    EXPECT_THAT(ranks.Start(2), IsEmpty());
}

/// Whatever is sent and arrives in whatever order: no more than the limit is under way, and of what
/// is held the lowest id goes first.
TEST_P(PlanRanksTest, HoldTransfersBeyondTheLimit)
{
    PlanRanks ranks(m_pointers, 2);
    ranks.Start(1);
    std::mt19937 random(GetParam());
    std::vector<OperationId> held;
    uint32_t underWay = 0;
    for (OperationId step = 0; step < 1000; ++step)
    {
        const OperationId id = static_cast<OperationId>(random() % 10'000);
        if (random() % 3 == 0 && underWay > 0)
        {
            ranks.CountArrived(1);
            --underWay;
            std::ranges::sort(held);
            const auto next = ranks.TakeHeld(1);
            ASSERT_EQ(next.has_value(), !held.empty()) << step;
            if (next)
            {
                EXPECT_EQ(*next, held.front());
                held.erase(held.begin());
                ranks.CountSent(1);
                ++underWay;
            }
        }
        else if (ranks.MaySend(1))
        {
            ranks.CountSent(1);
            ++underWay;
        }
        else
        {
            ranks.Hold(1, id);
            held.push_back(id);
            EXPECT_FALSE(ranks.TakeHeld(1));
        }
        if (GetParam() > 0)
        {
            ASSERT_LE(underWay, GetParam()) << step;
        }
    }
    EXPECT_EQ(held.empty(), GetParam() == 0);
    ranks.Withdraw(1);
    ranks.CountArrived(1); // of before
    ranks.Start(1);
    EXPECT_TRUE(ranks.MaySend(1));
    EXPECT_FALSE(ranks.TakeHeld(1));
}

INSTANTIATE_TEST_SUITE_P(Limits, PlanRanksTest, testing::Values(0, 1, 4));

TEST(RankLaunches, EachBeginsItsOwnRanksWithoutThoseThatWithdrew)
{
    RankLaunches launches;
    std::vector<std::vector<uint32_t>> begun;
    const auto begin = [&begun](const auto& ranks) { begun.push_back(ranks); };
    const auto add = [&](const std::vector<uint32_t>& ranks, const Time& delay) {
        launches.Add(ranks, Simulator::NO_CONTEXT, delay, begin);
    };
    add({0, 1, 2}, NanoSeconds(3));
    add({3}, NanoSeconds(2)); // is over before the one that began first
    launches.Withdraw(1);
    Simulator::Run();
    EXPECT_THAT(begun, ElementsAre(ElementsAre(3), ElementsAre(0, 2)));
    EXPECT_TRUE(launches.IsEmpty());
    add({4}, NanoSeconds(1));
    launches.DropFirst();
    EXPECT_TRUE(launches.IsEmpty());
    Simulator::Run();
    EXPECT_EQ(begun.size(), 2U);
    Simulator::Destroy();
}

/// 0 sends to 1, 1 to 2: each end of a transfer has a part in it.
TEST(RankEnds, TellWhoHasDoneItsPartAndWhoEndsMeanwhile)
{
    PlanBuilder builder(3, 3, ChunkLayout::Even(1000, 1));
    builder.AddCopy(0, 1, 0, 1);
    builder.AddCopy(1, 2, 0, 1);
    RankEnds ends;
    ends.Count(builder.Build());
    std::vector<uint32_t> told;
    const auto tell = [&](uint32_t rank) {
        EXPECT_TRUE(ends.AreTold());
        told.push_back(rank);
        if (rank == 0)
        {
            ends.Finish(1, true);
        }
    };
    ends.Finish(0, true);
    ends.Finish(1, true); // it has one more
    ends.Finish(2, false);
    ends.TellAll(tell);
    EXPECT_THAT(told, ElementsAre(0, 1));
    EXPECT_FALSE(ends.AreTold());
    ends.OnStarted(2); // and has nothing left to do
    ends.TellAll(tell);
    EXPECT_THAT(told, ElementsAre(0, 1, 2));
}

} // namespace

} // namespace ns3::gradsync
