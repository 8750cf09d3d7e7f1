// SPDX-License-Identifier: GPL-2.0-only
// Aggregation in the switches of the fabric: times against closed forms, and sums whatever is lost.
#include "unit/aggregation/slot-aggregation-fixture.h"

#include <gmock/gmock.h>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Packets, slots and time of an oracle of reference section 6, with t = 1 us and d = 2 us.
struct WindowCase
{
    uint32_t packets;
    uint32_t slots;
    int64_t microseconds;
};

class SlotWindow : public SlotAggregationTest, public testing::WithParamInterface<WindowCase>
{
};

TEST_P(SlotWindow, TakesTheTimeOfTheClosedForm)
{
    // RTT = 2t + 2d = 6. W t < RTT: floor((M-1)/W) RTT + ((M-1) mod W) t + RTT, else (M+1) t + 2d.
    const auto& [packets, slots, microseconds] = GetParam();
    Set("slot.Slots", UintegerValue(slots));
    InstallStar(3);
    EXPECT_EQ(Run(MakeJob(3, packets * PACKET_BYTES)).front(), MicroSeconds(microseconds));
}

INSTANTIATE_TEST_SUITE_P(Reference,
                         SlotWindow,
                         testing::Values(WindowCase{4, 2, 13},
                                         WindowCase{4, 4, 9},
                                         WindowCase{8, 6, 13},
                                         WindowCase{100, 6, 105}));

TEST_F(SlotAggregationTest, FillsTheLinkOfPassingWithItsWindow)
{
    // 322 bytes on the wire (59 values), 10 Gb/s: t = 257.6 ns. 32 t = 8.24 us is more than the
    // round trip of 2.5 us, so 100 packets take 101 t + 2 us = 28.0176 us (reference section
    // 6: 28.02).
    Set("slot.Slots", UintegerValue(32));
    Set("slot.ValuesPerPacket", UintegerValue(59));
    InstallStar(4, DataRate("10Gbps"), MicroSeconds(1));
    EXPECT_EQ(Run(MakeJob(4, uint64_t{100} * 59 * 4)).front(), PicoSeconds(28'017'600));
}

TEST_F(SlotAggregationTest, TakesTwoMoreHopsEachWayThroughALevelOfSwitchesMore)
{
    // Four links there and back, each t + d, and one t for each packet after the first.
    InstallRacks(2, 3);
    EXPECT_EQ(Run(MakeJob(6, 50 * PACKET_BYTES)).front(), MicroSeconds(49 + 4 * 3));
    // Each leaf sends one partial sum up, and gets one result.
    const auto links = m_transport->GetLinkStatistics();
    EXPECT_EQ(links[0].packets, 50U);
    EXPECT_EQ(links[1].packets, 50U);
    EXPECT_EQ(GetSlots("core").GetCount(SlotVerdict::Multicast), 50U);
    EXPECT_EQ(GetSlots("leaf0").GetCount(SlotVerdict::ForwardUp), 50U);
}

TEST_F(SlotAggregationTest, SumsInTheRackWhenAllAreInIt)
{
    InstallRacks(2, 3);
    EXPECT_EQ(Run(MakeJob(3, 50 * PACKET_BYTES)).front(), MicroSeconds(51 + 4));
    EXPECT_EQ(m_transport->GetLinkStatistics()[0].packets, 0U);
}

TEST_F(SlotAggregationTest, GoesOnThroughPiecesAndIterations)
{
    // Pieces follow each other through the window: as long as one gradient of 40 packets.
    Set("slot.Slots", UintegerValue(16));
    Set("Values", StringValue("real"));
    InstallStar(4);
    const auto times = Run(MakeJob(4, 40 * PACKET_BYTES, 3, 5));
    EXPECT_EQ(times, std::vector<Time>(3, MicroSeconds(41 + 4)));
    const auto statistics = m_transport->GetAggregation()->GetStatistics();
    EXPECT_EQ(statistics.checkedSums, 3U * 40 * 4);
    EXPECT_EQ(statistics.wrongSums, 0U);
    EXPECT_EQ(statistics.retransmissions, 0U);
    EXPECT_EQ(m_transport->GetStatistics().goodputBytes, uint64_t{3} * 40 * 4 * PACKET_BYTES);
}

TEST_F(SlotAggregationTest, PadsTheLastPacket)
{
    InstallStar(2);
    EXPECT_EQ(Run(MakeJob(2, 3 * PACKET_BYTES + 4)).front(), MicroSeconds(5 + 4));
    EXPECT_EQ(m_transport->GetStatistics().goodputBytes, 2 * (3 * PACKET_BYTES + 4));
}

/// Loss rate in percent.
class SlotLoss : public SlotAggregationTest, public testing::WithParamInterface<int>
{
};

TEST_P(SlotLoss, LeavesEveryWorkerWithTheExactSumOfAll)
{
    Set("slot.Slots", UintegerValue(8));
    SetLoss(GetParam() / 100.0);
    InstallStar(5);
    Run(MakeJob(5, 60 * PACKET_BYTES, 2));
    const auto statistics = m_transport->GetAggregation()->GetStatistics();
    EXPECT_EQ(statistics.checkedSums, 2U * 5 * 60);
    EXPECT_EQ(statistics.wrongSums, 0U);
    EXPECT_GT(statistics.retransmissions, 0U);
    EXPECT_GT(statistics.repeatedResults, 0U);
}

TEST_P(SlotLoss, LeavesEveryWorkerWithTheExactSumOverTwoLevels)
{
    Set("slot.Slots", UintegerValue(8));
    SetLoss(GetParam() / 100.0);
    InstallRacks(3, 2);
    Run(MakeJob(6, 60 * PACKET_BYTES, 2));
    const auto statistics = m_transport->GetAggregation()->GetStatistics();
    EXPECT_EQ(statistics.checkedSums, 2U * 6 * 60);
    EXPECT_EQ(statistics.wrongSums, 0U);
    EXPECT_GT(statistics.retransmissions, 0U);
}

INSTANTIATE_TEST_SUITE_P(Percent, SlotLoss, testing::Values(1, 5, 10, 20, 40));

TEST_F(SlotAggregationTest, GivesUpWithAReasonWhenNothingComesThrough)
{
    SetLoss(1.0);
    Set("RetryLimit", UintegerValue(3));
    InstallStar(2);
    m_engine->AddJob(MakeJob(2, PACKET_BYTES));
    EXPECT_TRUE(Run().empty());
    ASSERT_TRUE(m_engine->GetFailure());
    EXPECT_THAT(m_engine->GetFailure()->reason,
                HasSubstr("no sum from the switches for slot 0 of worker 0 after 3 timeouts"));
    // 100, 200, 400 and 800 us.
    EXPECT_EQ(Simulator::Now(), MicroSeconds(1500));
}

TEST_F(SlotAggregationTest, WaitsForAWorkerThatIsLate)
{
    Set("slot.Timeout", StringValue("20us"));
    InstallStar(3);
    const auto job = m_engine->AddJob(MakeJob(3, 4 * PACKET_BYTES));
    m_engine->GetApplication(job, 2)->SetAttribute("ComputeTime", TimeValue(MicroSeconds(100)));
    // From the 100th microsecond on as ever; the others asked at 20 and 60 us, in vain.
    EXPECT_EQ(Run().front(), MicroSeconds(100 + 5 + 4));
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().retransmissions, 2U * 2 * 4);
    EXPECT_EQ(GetSlots("leaf0").GetCount(SlotVerdict::Duplicate), 2U * 2 * 4);
}

TEST_F(SlotAggregationTest, SharesTheSwitchAmongJobs)
{
    Set("slot.Slots", UintegerValue(64));
    Set("slot.PoolSlots", UintegerValue(128));
    Set("Values", StringValue("real"));
    InstallStar(4);
    auto first = MakeJob(2, 100 * PACKET_BYTES);
    auto second = MakeJob(2, 100 * PACKET_BYTES);
    second.endpointOf = {2, 3};
    m_engine->AddJob(std::move(first));
    m_engine->AddJob(std::move(second));
    EXPECT_THAT([&] { m_engine->AddJob(MakeJob(2, 100)); },
                ThrowsMessage<std::runtime_error>(HasSubstr("no 64 slots left of 128")));
    EXPECT_EQ(Run(), std::vector<Time>(2, MicroSeconds(101 + 4)));
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().wrongSums, 0U);
    EXPECT_NO_THROW(m_engine->AddJob(MakeJob(2, 100))); // they are done, and have none any more
}

TEST_F(SlotAggregationTest, RefusesMoreWorkersThanABitmapHolds)
{
    InstallStar(257);
    EXPECT_THAT([&] { m_engine->AddJob(MakeJob(257, 100)); },
                ThrowsMessage<std::runtime_error>(HasSubstr(
                    "switch leaf0 would have to aggregate 257 workers, but its bitmaps hold 256")));
    EXPECT_NO_THROW(m_engine->AddJob(MakeJob(256, 100)));
}

TEST_F(SlotAggregationTest, RefusesMoreWorkersThanTheProgramsBitmapsHold)
{
    Set("Engine", StringValue("p4"));
    InstallStar(33);
    EXPECT_THAT([&] { m_engine->AddJob(MakeJob(33, 100)); },
                ThrowsMessage<std::runtime_error>(
                    HasSubstr("33 workers, but the bitmaps of the P4 program hold 32")));
}

TEST_F(SlotAggregationTest, AggregatesFortyWorkersAtOneSwitch)
{
    // As long as for two, and each with the exact sum, whatever is lost.
    Set("Values", StringValue("real"));
    InstallStar(40);
    EXPECT_EQ(Run(MakeJob(40, 50 * PACKET_BYTES)).front(), MicroSeconds(51 + 4));
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().checkedSums, 40U * 50);
    TearDown();
    SetUp();
    SetLoss(0.05);
    InstallStar(40);
    Run(MakeJob(40, 50 * PACKET_BYTES));
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().checkedSums, 40U * 50);
    EXPECT_GT(m_transport->GetAggregation()->GetStatistics().repeatedResults, 0U);
}

TEST_F(SlotAggregationTest, IsRefusedByTransportsThatDoNotAggregate)
{
    m_transport->SetAggregation(nullptr);
    InstallStar(2);
    EXPECT_THAT(
        [&] { m_engine->AddJob(MakeJob(2, 100)); },
        ThrowsMessage<std::runtime_error>(HasSubstr("do not aggregate under this transport")));
}

} // namespace
} // namespace ns3::gradsync
