// SPDX-License-Identifier: GPL-2.0-only
// What is known beforehand of when communications follow each other.
#include "support/workload-fixture.h"

#include "ns3/channel-timing.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using tests::COMMUNICATES;
using tests::COMPUTES;
using tests::MakePlan;
using tests::MICROSECOND;

constexpr uint32_t BESIDE = 2; //!< computes, too

/// Two ranks that exchange again and again.
class ChannelTimingTest : public tests::WorkloadFixture
{
  protected:
    void SetUp() override
    {
        Begin({{"compute"}, {"communicate"}, {"beside"}});
    }

    void Begin(std::vector<StreamSpec> streams)
    {
        m_builder = std::make_unique<WorkloadBuilder>(2, std::move(streams));
        m_group = m_builder->AddGroup({0, 1});
        m_uses.clear();
    }

    /// \returns [rank] its part
    std::vector<TaskId> AddUse()
    {
        m_uses.push_back(m_builder->AddCommunication(m_group, m_plan, "use"));
        return {m_builder->AddPart(0, COMMUNICATES, m_uses.back()),
                m_builder->AddPart(1, COMMUNICATES, m_uses.back())};
    }

    TaskId AddCompute(uint32_t rank, uint32_t stream, uint64_t microseconds)
    {
        return m_builder->AddCompute(rank, stream, microseconds * MICROSECOND, "compute");
    }

    std::vector<ChannelUse> Find()
    {
        const auto workload = m_builder->Build();
        return ChannelTiming(workload).Find(m_uses);
    }

    std::shared_ptr<const Plan> m_plan{MakePlan("ring", 2, 8)};
    std::unique_ptr<WorkloadBuilder> m_builder;
    uint32_t m_group{0};
    std::vector<CommunicationId> m_uses;
};

TEST_F(ChannelTimingTest, WhatIsComputedBetweenTwoTakesItsTime)
{
    const auto first = AddUse();
    const auto second = AddUse();
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        // Two computations, one after the other, of 5 + 2 us at rank 0 and of 5 + 3 at rank 1.
        const auto one = AddCompute(rank, COMPUTES, 5);
        const auto other = AddCompute(rank, BESIDE, 2 + rank);
        m_builder->AddEdge(first[rank], one);
        m_builder->AddEdge(one, other);
        m_builder->AddEdge(other, second[rank]);
        // And 4 us or 6 us before the end of the iteration.
        m_builder->AddEdge(second[rank], AddCompute(rank, COMPUTES, 4 + 2 * rank));
    }
    const auto uses = Find();
    ASSERT_EQ(uses.size(), 2U);
    EXPECT_FALSE(uses[0].isFollowedAtOnce);
    EXPECT_EQ(uses[0].idlePicoseconds, 7 * MICROSECOND);
    EXPECT_FALSE(uses[1].isFollowedAtOnce);
    EXPECT_EQ(uses[1].idlePicoseconds, 4 * MICROSECOND);
}

TEST_F(ChannelTimingTest, WhatWaitsForNothingElseFollowsAtOnce)
{
    const auto before = AddCompute(0, COMPUTES, 5);
    const auto first = AddUse();
    const auto second = AddUse();
    m_builder->AddEdge(before, first[0]);
    m_builder->AddEdge(before, second[0]); // it is over when the first one begins
    const auto uses = Find();
    ASSERT_EQ(uses.size(), 2U);
    EXPECT_TRUE(uses[0].isFollowedAtOnce);
    EXPECT_FALSE(uses[1].isFollowedAtOnce);
    EXPECT_EQ(uses[1].idlePicoseconds, 0U);
}

TEST_F(ChannelTimingTest, OfWhatRunsBesideNothingIsKnown)
{
    // The computation begins with the first use, and may be over with it, before it or after it.
    const auto before = AddCompute(0, COMPUTES, 5);
    const auto beside = AddCompute(0, BESIDE, 9);
    const auto first = AddUse();
    const auto second = AddUse();
    m_builder->AddEdge(before, first[0]);
    m_builder->AddEdge(before, beside);
    m_builder->AddEdge(beside, second[0]);
    const auto uses = Find();
    ASSERT_EQ(uses.size(), 2U);
    EXPECT_FALSE(uses[0].isFollowedAtOnce);
    EXPECT_EQ(uses[0].idlePicoseconds, 0U);
}

TEST_F(ChannelTimingTest, StreamsThatChooseSayNothing)
{
    for (const auto& stream : {StreamSpec{"communicate", StreamPolicy::Priority},
                               StreamSpec{"communicate", StreamPolicy::Program, 1000}})
    {
        Begin({{"compute"}, stream, {"beside"}});
        AddUse();
        AddUse();
        EXPECT_TRUE(Find().empty());
    }
}

/// Random tasks on three streams, any of which waits for any that was added before.
TEST_F(ChannelTimingTest, RandomWorkloadsKeepToIt)
{
    uint32_t followed = 0;
    uint32_t apart = 0;
    for (uint32_t round = 0; round < 1000 && !HasFailure(); ++round)
    {
        SCOPED_TRACE(round);
        Begin({{"compute"}, {"communicate"}, {"beside"}});
        std::vector<std::vector<TaskId>> tasks(2);
        std::vector<std::vector<TaskId>> parts;
        const auto wait = [&](uint32_t rank, TaskId task) {
            for (auto left = Draw(0, 2); left > 0 && !tasks[rank].empty(); --left)
            {
                const auto last = tasks[rank].size() - 1;
                m_builder->AddEdge(tasks[rank][last - Draw(0, std::min<uint64_t>(last, 2))], task);
            }
            tasks[rank].push_back(task);
        };
        for (auto left = Draw(3, 20); left > 0; --left)
        {
            const auto kind = Draw(0, 4);
            if (kind < 2)
            {
                parts.push_back(AddUse());
                wait(0, parts.back()[0]);
                wait(1, parts.back()[1]);
                continue;
            }
            const auto rank = static_cast<uint32_t>(Draw(0, 1));
            wait(rank, AddCompute(rank, kind < 4 ? COMPUTES : BESIDE, Draw(0, 20)));
        }
        if (parts.empty())
        {
            continue;
        }
        auto workload = m_builder->Build();
        const auto uses = ChannelTiming(workload).Find(m_uses);
        ASSERT_EQ(uses.size(), parts.size());
        const auto end = Run(std::move(workload));
        for (size_t i = 0; i < parts.size(); ++i)
        {
            EXPECT_EQ(uses[i].id, m_uses[i]);
            for (uint32_t rank = 0; rank < 2; ++rank)
            {
                const auto done = GetLog().GetEnd(parts[i][rank]);
                const auto next =
                    i + 1 < parts.size() ? GetLog().GetBegin(parts[i + 1][rank]) : end;
                if (uses[i].isFollowedAtOnce)
                {
                    EXPECT_EQ(next, done);
                    ++followed;
                }
                else
                {
                    EXPECT_GE(next, done + PicoSeconds(uses[i].idlePicoseconds));
                    apart += uses[i].idlePicoseconds > 0 ? 1 : 0;
                }
            }
        }
        Reset();
    }
    // Else it would show nothing.
    EXPECT_GT(followed, 100U);
    EXPECT_GT(apart, 100U);
}

} // namespace
} // namespace ns3::gradsync
