// SPDX-License-Identifier: GPL-2.0-only
// Jobs that share the slots of switches. Part of slot-aggregation-test.
#include "unit/aggregation/slot-aggregation-fixture.h"

#include <gmock/gmock.h>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

/// Two jobs of two workers each on one switch, whose slots they share.
class SlotSharingTest : public SlotAggregationTest
{
  protected:
    void SetUp() override
    {
        SlotAggregationTest::SetUp();
        Set("Values", StringValue("real"));
        Set("slot.PoolSlots", UintegerValue(4));
    }

    void SetDynamic(uint32_t slots)
    {
        Set("slot.Sharing", StringValue("dynamic"));
        Set("slot.Slots", UintegerValue(slots));
    }

    /// Workers at endpoints from `first` on. \returns the number of the job
    uint32_t AddJob(uint32_t first, uint32_t workers, uint64_t packets)
    {
        auto job = MakeJob(workers, packets * PACKET_BYTES);
        std::iota(job.endpointOf.begin(), job.endpointOf.end(), first);
        return m_engine->AddJob(std::move(job));
    }

    void Delay(uint32_t job, uint32_t workers, const Time& time)
    {
        for (uint32_t rank = 0; rank < workers; ++rank)
        {
            m_engine->GetApplication(job, rank)->SetAttribute("ComputeTime", TimeValue(time));
        }
    }

    /// \returns times, in the order in which jobs end
    std::vector<Time> RunExactly(uint64_t sums)
    {
        auto times = Run();
        const auto statistics = m_transport->GetAggregation()->GetStatistics();
        EXPECT_FALSE(m_engine->GetFailure()) << m_engine->GetFailure()->reason;
        EXPECT_EQ(statistics.checkedSums, sums);
        EXPECT_EQ(statistics.wrongSums, 0U);
        return times;
    }
};

// Times for M packets through W slots that bind, RTT = 2t + 2d = 6, t = 1: T(M, W) =
// floor((M-1)/W) RTT + ((M-1) mod W) t + RTT, as above.

TEST_F(SlotSharingTest, KeepsHalfOfTheSlotsWhenTheOtherJobEnds)
{
    Set("slot.Slots", UintegerValue(2));
    InstallStar(4);
    AddJob(0, 2, 30);
    AddJob(2, 2, 12);
    // T(12, 2) = 5 * 6 + 1 + 6, T(30, 2) = 14 * 6 + 1 + 6.
    EXPECT_EQ(RunExactly(uint64_t{2} * 42), (std::vector{MicroSeconds(37), MicroSeconds(91)}));
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().resizes, 0U);
}

TEST_F(SlotSharingTest, LendsAllSlotsWhenTheOtherJobEnds)
{
    SetDynamic(4);
    InstallStar(4);
    AddJob(0, 2, 30);
    AddJob(2, 2, 12);
    // Two slots each until the second job ends, T(12, 2) = 37. The first has 12 sums then too, and
    // its port is about to send packet 13, for nothing, until 38. From there on 18 packets go by
    // four slots: T(18, 4) = 4 * 6 + 1 + 6.
    EXPECT_EQ(RunExactly(uint64_t{2} * 42), (std::vector{MicroSeconds(37), MicroSeconds(38 + 31)}));
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().resizes, 1U);
}

TEST_F(SlotSharingTest, ShrinksTheWindowWhenAnotherJobBegins)
{
    SetDynamic(4);
    InstallStar(4);
    AddJob(0, 2, 12);
    Delay(AddJob(2, 2, 30), 2, NanoSeconds(6500));
    // The first job has four slots until 6.5. It has one sum then, and its port sends until 7: 11
    // packets by two slots, T(11, 2) = 5 * 6 + 6 = 36, until 43. The second has 11 sums by then
    // (the 11th at 6.5 + 6 * 6) and its port sends until 43.5: T(19, 4) = 4 * 6 + 2 + 6 = 32.
    EXPECT_EQ(RunExactly(uint64_t{2} * 42), (std::vector{MicroSeconds(43), NanoSeconds(75'500)}));
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().resizes, 2U);
}

TEST_F(SlotSharingTest, LeavesWhatAJobCannotUseToOthers)
{
    // Of seven slots each of three jobs gets two at first, and one gets three. One that may have at
    // most three leaves four when it is one of two.
    Set("slot.PoolSlots", UintegerValue(7));
    SetDynamic(4);
    InstallStar(6);
    AddJob(0, 2, 40);
    AddJob(2, 2, 8);
    AddJob(4, 2, 40);
    RunExactly(uint64_t{2} * 88);
    // When the second ends: 3 and 4 in place of 2 and 3; when the first of the others ends: 4.
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().resizes, 3U);
}

TEST_F(SlotSharingTest, FailsTheJobForWhichThereIsNoSlot)
{
    Set("slot.PoolSlots", UintegerValue(1));
    SetDynamic(4);
    InstallStar(4);
    AddJob(0, 2, 10);
    AddJob(2, 2, 10);
    EXPECT_EQ(Run(), std::vector{MicroSeconds(9 * 6 + 6)}); // T(10, 1) of the first
    ASSERT_TRUE(m_engine->GetFailure());
    EXPECT_THAT(m_engine->GetFailure()->reason,
                testing::HasSubstr("a switch has 1 slots, fewer than aggregations"));
}

class SlotSharingLoss : public SlotSharingTest, public testing::WithParamInterface<int>
{
};

TEST_P(SlotSharingLoss, LosesNoExchangeWhenWindowsChange)
{
    // Jobs that come and go, over two levels; odd shares, so that slots of one are in the way of
    // another's.
    SetDynamic(8);
    Set("slot.PoolSlots", UintegerValue(11));
    SetLoss(GetParam() / 100.0);
    Set("RetryLimit", UintegerValue(1000));
    InstallRacks(2, 6);
    uint64_t sums = 0;
    for (uint32_t i = 0; i < 4; ++i)
    {
        const uint64_t packets = 60 + uint64_t{97} * (3 - i);
        Delay(AddJob(3 * i, 3, packets), 3, MicroSeconds(int64_t{130} * i));
        sums += 3 * packets;
    }
    RunExactly(sums);
    EXPECT_GT(m_transport->GetAggregation()->GetStatistics().resizes, 3U);
}

INSTANTIATE_TEST_SUITE_P(Percent, SlotSharingLoss, testing::Values(0, 1, 10, 40));

} // namespace
} // namespace ns3::gradsync
