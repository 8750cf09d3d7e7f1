// SPDX-License-Identifier: GPL-2.0-only
#include "unit/aggregation/slot-headers.h"

#include "ns3/slot-switch.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;

/// `workers` workers of one job, worker w at port 10 + w, with the slots [2, 6) of a pool of 8.
SlotSwitch
MakeSwitch(uint16_t workers, bool saturate = false, bool isRoot = true)
{
    SlotSwitch slots({.poolSize = 8, .valueCount = 2, .saturate = saturate});
    const auto all = workers == 32 ? UINT32_MAX : (1U << workers) - 1;
    for (uint16_t worker = 0; worker < workers; ++worker)
    {
        slots.AddWorker({JOB, worker, static_cast<uint16_t>(10 + worker)},
                        {.bit = 1U << worker, .all = all, .base = 2, .slots = 4, .isRoot = isRoot});
    }
    return slots;
}

SlotVerdict
Send(SlotSwitch& slots, const SlotHeader& header, const std::vector<int32_t>& values)
{
    return slots.Contribute(header, static_cast<uint16_t>(10 + header.worker), values);
}

std::vector<int32_t>
GetSums(const SlotSwitch& slots, const SlotHeader& header)
{
    const auto values = slots.GetValues(header, 2);
    return {values.begin(), values.end()};
}

TEST(SlotHeader, IsBigEndianInTheOrderOfItsMembers)
{
    const SlotHeader header{.messageType = 1,
                            .flags = 2,
                            .job = 0x0304,
                            .worker = 0x0506,
                            .count = 0x0708,
                            .slot = 0x090A,
                            .epoch = 0x0B0C,
                            .offset = 0x0D0E0F10,
                            .exponentA = 0x11,
                            .exponentB = -2,
                            .reserved = 0x1314};
    const auto bytes = SerialiseSlotHeader(header);
    EXPECT_THAT(
        bytes,
        ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 0xFE, 19, 20));
    EXPECT_EQ(ParseSlotHeader(bytes), header);
}

TEST(SlotSwitch, SumsTheContributionsAndMulticastsWithTheLast)
{
    auto slots = MakeSwitch(3);
    EXPECT_EQ(Send(slots, MakeHeader(0, 0, 0), {1, 10}), SlotVerdict::Held);
    EXPECT_EQ(Send(slots, MakeHeader(2, 0, 0), {2, 20}), SlotVerdict::Held);
    EXPECT_EQ(Send(slots, MakeHeader(1, 0, 0), {4, 40}), SlotVerdict::Multicast);
    EXPECT_THAT(GetSums(slots, MakeHeader(0, 0, 0)), ElementsAre(7, 70));
}

TEST(SlotSwitch, CompletesAtOnceForASingleWorker)
{
    auto slots = MakeSwitch(1);
    EXPECT_EQ(Send(slots, MakeHeader(0, 3, 5), {1, 2}), SlotVerdict::Multicast);
    EXPECT_EQ(Send(slots, MakeHeader(0, 3, 5), {1, 2}), SlotVerdict::Unicast);
}

TEST(SlotSwitch, HoldsThirtyTwoWorkersInItsBitmap)
{
    auto slots = MakeSwitch(32);
    for (uint16_t worker = 0; worker < 31; ++worker)
    {
        EXPECT_EQ(Send(slots, MakeHeader(worker, 0, 0), {1, -1}), SlotVerdict::Held);
    }
    EXPECT_EQ(Send(slots, MakeHeader(31, 0, 0), {1, -1}), SlotVerdict::Multicast);
    EXPECT_THAT(GetSums(slots, MakeHeader(0, 0, 0)), ElementsAre(32, -32));
}

TEST(SlotSwitch, DropsOtherTypesAndCounts)
{
    auto slots = MakeSwitch(2);
    auto result = MakeHeader(0, 0, 0);
    result.messageType = 1;
    EXPECT_EQ(Send(slots, result, {1, 1}), SlotVerdict::Malformed);
    EXPECT_EQ(Send(slots, MakeHeader(0, 0, 0, 3), {1, 1, 1}), SlotVerdict::Malformed);
    EXPECT_EQ(slots.GetCount(SlotVerdict::Malformed), 2U);
    EXPECT_EQ(slots.GetSlot(MakeHeader(0, 0, 0), 2).bitmap, SlotSwitch::Bitmap());
}

TEST(SlotSwitch, KnowsWorkersByJobRankAndPort)
{
    auto slots = MakeSwitch(2);
    auto otherJob = MakeHeader(0, 0, 0);
    otherJob.job = JOB + 1;
    EXPECT_EQ(slots.Contribute(otherJob, 10, std::vector{1, 1}), SlotVerdict::UnknownWorker);
    // Rank 1 at the port of rank 0: an impostor.
    EXPECT_EQ(slots.Contribute(MakeHeader(1, 0, 0), 10, std::vector{1, 1}),
              SlotVerdict::UnknownWorker);
    EXPECT_EQ(slots.Contribute(MakeHeader(2, 0, 0), 12, std::vector{1, 1}),
              SlotVerdict::UnknownWorker);
    EXPECT_EQ(slots.GetCount(SlotVerdict::UnknownWorker), 3U);
}

TEST(SlotSwitch, GuardsTheJobsSlotsAndThePool)
{
    auto slots = MakeSwitch(2);
    EXPECT_EQ(Send(slots, MakeHeader(0, 3, 0), {1, 1}), SlotVerdict::Held);
    EXPECT_EQ(Send(slots, MakeHeader(0, 4, 0), {1, 1}), SlotVerdict::OutOfRange);
    EXPECT_EQ(Send(slots, MakeHeader(0, UINT16_MAX, 1), {1, 1}), SlotVerdict::OutOfRange);
    // A job whose table entry promises more than the pool has.
    slots.AddWorker({9, 0, 1}, {.bit = 1, .all = 3, .base = 6, .slots = 4});
    auto header = MakeHeader(0, 2, 0);
    header.job = 9;
    EXPECT_EQ(slots.Contribute(header, 1, std::vector{1, 1}), SlotVerdict::OutOfRange);
    EXPECT_EQ(slots.GetCount(SlotVerdict::OutOfRange), 3U);
}

TEST(SlotSwitch, DropsRepetitionsBeforeAndAnswersThemAfterCompletion)
{
    auto slots = MakeSwitch(2);
    Send(slots, MakeHeader(0, 0, 0), {1, 1});
    EXPECT_EQ(Send(slots, MakeHeader(0, 0, 0), {1, 1}), SlotVerdict::Duplicate);
    EXPECT_EQ(Send(slots, MakeHeader(1, 0, 0), {2, 2}), SlotVerdict::Multicast);
    EXPECT_EQ(Send(slots, MakeHeader(0, 0, 0), {1, 1}), SlotVerdict::Unicast);
    EXPECT_THAT(GetSums(slots, MakeHeader(0, 0, 0)), ElementsAre(3, 3)); // each counted once
    EXPECT_EQ(slots.GetCount(SlotVerdict::Duplicate), 1U);
}

TEST(SlotSwitch, KeepsTheResultOfTheOtherSet)
{
    auto slots = MakeSwitch(2);
    Send(slots, MakeHeader(0, 0, 0), {1, 1});
    Send(slots, MakeHeader(1, 0, 0), {2, 2});
    // Worker 0 is a packet ahead: the result of epoch 0 must stay for worker 1.
    EXPECT_EQ(Send(slots, MakeHeader(0, 0, 1), {5, 5}), SlotVerdict::Held);
    EXPECT_EQ(Send(slots, MakeHeader(1, 0, 0), {2, 2}), SlotVerdict::Unicast);
    EXPECT_THAT(GetSums(slots, MakeHeader(1, 0, 0)), ElementsAre(3, 3));
}

TEST(SlotSwitch, OverwritesWithTheFirstPacketOfANewEpoch)
{
    auto slots = MakeSwitch(2);
    Send(slots, MakeHeader(0, 0, 0), {1, 1});
    Send(slots, MakeHeader(1, 0, 0), {2, 2});
    EXPECT_EQ(Send(slots, MakeHeader(1, 0, 2), {100, 200}), SlotVerdict::Held);
    EXPECT_EQ(Send(slots, MakeHeader(0, 0, 2), {1, 2}), SlotVerdict::Multicast);
    EXPECT_THAT(GetSums(slots, MakeHeader(0, 0, 2)), ElementsAre(101, 202));
}

TEST(SlotSwitch, DropsStalePacketsAlsoWhenTheEpochGoesRound)
{
    auto slots = MakeSwitch(2);
    Send(slots, MakeHeader(0, 0, 0xFFFE), {1, 1});
    EXPECT_EQ(Send(slots, MakeHeader(1, 0, 0xFFFC), {9, 9}), SlotVerdict::Stale);
    // 0 comes after 0xFFFE: int16(0 - 0xFFFE) = 2.
    EXPECT_EQ(Send(slots, MakeHeader(0, 0, 0), {5, 5}), SlotVerdict::Held);
    EXPECT_EQ(Send(slots, MakeHeader(1, 0, 0xFFFE), {1, 1}), SlotVerdict::Stale);
    EXPECT_EQ(Send(slots, MakeHeader(1, 0, 0), {6, 6}), SlotVerdict::Multicast);
    EXPECT_THAT(GetSums(slots, MakeHeader(0, 0, 0)), ElementsAre(11, 11));
    EXPECT_EQ(slots.GetCount(SlotVerdict::Stale), 2U);
}

TEST(SlotSwitch, TakesAnyEpochForASlotThatWasNeverUsed)
{
    auto slots = MakeSwitch(1);
    // int16(0x8002 - 0) is negative, but there is no earlier use.
    EXPECT_EQ(Send(slots, MakeHeader(0, 0, 0x8002), {1, 1}), SlotVerdict::Multicast);
}

TEST(SlotSwitch, CombinesExponentsByMaximumAndEchoesTheOffset)
{
    auto slots = MakeSwitch(2);
    auto first = MakeHeader(0, 0, 0);
    first.offset = 4711;
    first.exponentA = -3;
    first.exponentB = 4;
    auto second = MakeHeader(1, 0, 0);
    second.exponentA = -2;
    second.exponentB = -128;
    Send(slots, first, {0, 0});
    Send(slots, second, {0, 0});
    const auto& slot = slots.GetSlot(first, 2);
    EXPECT_EQ(slot.offset, 4711U);
    EXPECT_EQ(slot.exponentA, -2);
    EXPECT_EQ(slot.exponentB, 4);
}

TEST(SlotSwitch, WrapsOrSaturatesAndSaysSo)
{
    for (const bool saturate : {false, true})
    {
        auto slots = MakeSwitch(2, saturate);
        Send(slots, MakeHeader(0, 0, 0), {INT32_MAX, INT32_MIN});
        Send(slots, MakeHeader(1, 0, 0), {2, -1});
        const auto header = MakeHeader(0, 0, 0);
        // 2^31 - 1 + 2 = -2^31 + 1 and -2^31 - 1 = 2^31 - 1 modulo 2^32.
        EXPECT_THAT(GetSums(slots, header),
                    saturate ? ElementsAre(INT32_MAX, INT32_MIN)
                             : ElementsAre(INT32_MIN + 1, INT32_MAX));
        EXPECT_EQ(slots.GetSlot(header, 2).flags, SlotFlag::OVERFLOWED);
        EXPECT_EQ(slots.GetOverflows(), 1U);
        // The next use of the slot starts without the flag, whatever a worker sends.
        auto next = MakeHeader(0, 0, 2);
        next.flags = SlotFlag::OVERFLOWED;
        Send(slots, next, {1, 1});
        EXPECT_EQ(slots.GetSlot(next, 2).flags, 0);
    }
}

TEST(SlotSwitch, BelowAnotherSwitchForwardsUntilTheAnswerIsThere)
{
    auto slots = MakeSwitch(2, false, false);
    Send(slots, MakeHeader(0, 1, 0), {1, 1});
    EXPECT_EQ(Send(slots, MakeHeader(1, 1, 0), {2, 2}), SlotVerdict::ForwardUp);
    // Nobody knows whether the packet up or the answer was lost: the partial sum goes up again.
    EXPECT_EQ(Send(slots, MakeHeader(0, 1, 0), {1, 1}), SlotVerdict::ForwardUp);
    EXPECT_THAT(GetSums(slots, MakeHeader(0, 1, 0)), ElementsAre(3, 3));
    EXPECT_EQ(slots.AcceptResult(MakeHeader(0, 1, 0), std::vector{30, 31}), SlotVerdict::Multicast);
    EXPECT_EQ(slots.AcceptResult(MakeHeader(0, 1, 0), std::vector{30, 31}), SlotVerdict::Duplicate);
    EXPECT_EQ(Send(slots, MakeHeader(0, 1, 0), {1, 1}), SlotVerdict::Unicast);
    EXPECT_THAT(GetSums(slots, MakeHeader(0, 1, 0)), ElementsAre(30, 31));
    Send(slots, MakeHeader(0, 1, 2), {1, 1});
    EXPECT_EQ(slots.AcceptResult(MakeHeader(0, 1, 0), std::vector{30, 31}), SlotVerdict::Stale);
}

TEST(SlotSwitch, TakesNoResultsWhereItIsTheRoot)
{
    auto slots = MakeSwitch(2);
    EXPECT_EQ(slots.AcceptResult(MakeHeader(0, 1, 0), std::vector{1, 1}),
              SlotVerdict::UnknownWorker);
}

/// Two workers that repeat at random what has no answer yet, over a switch that forgets packets.
TEST(SlotSwitch, LosesNothingWhatEverIsLost)
{
    for (const double loss : {0.01, 0.1, 0.4})
    {
        std::mt19937 random(1);
        std::uniform_real_distribution<double> draw(0.0, 1.0);
        auto slots = MakeSwitch(2);
        constexpr uint16_t PACKETS = 200;
        std::array<uint16_t, 2> next{}; // epoch that each worker is at, in the one slot
        while (next[0] < PACKETS || next[1] < PACKETS)
        {
            const auto worker = static_cast<uint16_t>(random() % 2);
            if (next[worker] == PACKETS || draw(random) < loss)
            {
                continue;
            }
            const auto header = MakeHeader(worker, 0, next[worker]);
            const auto epoch = int32_t{next[worker]};
            const auto verdict = Send(slots, header, {epoch, worker + 1});
            ASSERT_NE(verdict, SlotVerdict::Stale);
            for (size_t to = 0; to < 2; ++to)
            {
                const bool isSent = verdict == SlotVerdict::Multicast ||
                                    (verdict == SlotVerdict::Unicast && to == worker);
                if (isSent && next[to] == header.epoch && draw(random) >= loss)
                {
                    ASSERT_THAT(GetSums(slots, header), ElementsAre(2 * epoch, 3));
                    ++next[to];
                }
            }
        }
    }
}

} // namespace
} // namespace ns3::gradsync
