// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/atp-server.h"
#include "ns3/atp-switch.h"
#include "ns3/slot-frame.h"
#include "ns3/slot-switch-frames.h"
#include "ns3/slot-switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;

constexpr uint16_t JOB = 7;

SlotHeader
MakeHeader(uint16_t worker, uint16_t slot, uint16_t epoch, uint16_t count = 2)
{
    SlotHeader header;
    header.job = JOB;
    header.worker = worker;
    header.count = count;
    header.slot = slot;
    header.epoch = epoch;
    return header;
}

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
    EXPECT_EQ(slots.GetSlot(MakeHeader(0, 0, 0), 2).bitmap, 0U);
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

SlotFrame
MakeFrame(uint16_t worker, uint16_t epoch, std::vector<int32_t> values)
{
    SlotFrame frame;
    frame.source = {{2, 0, 0, 0, 0, static_cast<uint8_t>(worker)}, 0x0A000000U + worker};
    frame.destination = {{2, 0, 0, 0, 1, 0}, 0x0A0000FE};
    frame.sourcePort = 40000;
    frame.header = MakeHeader(worker, 0, epoch, static_cast<uint16_t>(values.size()));
    frame.values = std::move(values);
    return frame;
}

/// Two workers at ports 1 and 2 with 64 values each.
SlotSwitchFrames
MakeBox()
{
    SlotSwitchFrames box({.poolSize = 8, .valueCount = 64});
    for (uint16_t worker = 0; worker < 2; ++worker)
    {
        const auto port = static_cast<uint16_t>(1 + worker);
        box.AddWorker({JOB, worker, port},
                      {.bit = 1U << worker, .all = 3, .base = 0, .slots = 8},
                      5);
        box.AddAddress(JOB, worker, MakeFrame(worker, 0, {}).source);
    }
    box.SetGroup(5, {{0, 1}, {1, 2}});
    box.SetSource(JOB, MakeFrame(0, 0, {}).destination);
    return box;
}

TEST(SlotFrame, HasThreeHundredAndEighteenBytesAndSumsToZero)
{
    const auto bytes = SerialiseSlotFrame(MakeFrame(1, 3, std::vector<int32_t>(64, -5)));
    EXPECT_EQ(bytes.size(), 318U); // 14 + 20 + 8 + 20 + 256
    EXPECT_EQ(CheckFrame(bytes), FrameCheck::Slot);
    const auto parsed = ParseSlotFrame(bytes);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->header, MakeHeader(1, 0, 3, 64));
    EXPECT_EQ(parsed->values, std::vector<int32_t>(64, -5));
}

TEST(SlotFrame, ChecksTheInternetChecksumOfTheLiterature)
{
    // The IPv4 header of many textbooks: its checksum is B861.
    const std::vector<uint8_t> header{0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
                                      0x00, 0x00, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7};
    EXPECT_EQ(ComputeInternetChecksum(header), 0xB861);
}

TEST(SlotSwitchFrames, AnswersEachPortWithTheAddressesOfItsWorker)
{
    auto box = MakeBox();
    EXPECT_TRUE(
        box.Process(1, SerialiseSlotFrame(MakeFrame(0, 0, std::vector<int32_t>(64, 3)))).empty());
    const auto results =
        box.Process(2, SerialiseSlotFrame(MakeFrame(1, 0, std::vector<int32_t>(64, 4))));
    ASSERT_EQ(results.size(), 2U);
    for (uint16_t worker = 0; worker < 2; ++worker)
    {
        EXPECT_EQ(results[worker].port, 1 + worker);
        const auto result = ParseSlotFrame(results[worker].bytes);
        ASSERT_TRUE(result);
        EXPECT_EQ(CheckFrame(results[worker].bytes), FrameCheck::Slot);
        EXPECT_EQ(result->destination, MakeFrame(worker, 0, {}).source);
        EXPECT_EQ(result->source, MakeFrame(worker, 0, {}).destination);
        EXPECT_EQ(result->sourcePort, SLOT_UDP_PORT);
        EXPECT_EQ(result->header.messageType, 1);
        EXPECT_EQ(result->header.worker, worker);
        EXPECT_EQ(result->values, std::vector<int32_t>(64, 7));
    }
    // Worker 0 asks again: its own port only.
    const auto again =
        box.Process(1, SerialiseSlotFrame(MakeFrame(0, 0, std::vector<int32_t>(64, 3))));
    EXPECT_THAT(again, ElementsAre(results[0]));
}

TEST(SlotSwitchFrames, DropsWhatABitFlippedAndTakesWhatHasNoUdpChecksum)
{
    const auto good = SerialiseSlotFrame(MakeFrame(0, 0, std::vector<int32_t>(64, 3)));
    for (const size_t at : {size_t{26}, size_t{34}, size_t{60}, good.size() - 1})
    {
        auto box = MakeBox();
        auto bad = good;
        bad[at] ^= 4;
        EXPECT_TRUE(box.Process(1, bad).empty());
        EXPECT_EQ(box.GetChecksumDrops(), 1U) << at;
        EXPECT_EQ(box.GetSwitch().GetCount(SlotVerdict::Held), 0U);
    }
    auto box = MakeBox();
    auto without = good;
    without[40] = without[41] = 0;
    without.back() ^= 4; // nobody can tell
    EXPECT_TRUE(box.Process(1, without).empty());
    EXPECT_EQ(box.GetSwitch().GetCount(SlotVerdict::Held), 1U);
}

TEST(SlotSwitchFrames, RoutesWhatIsNotForItByTheLongestPrefix)
{
    auto box = MakeBox();
    box.AddRoute(0x0A000000, 8, 1);
    box.AddRoute(0x0A010000, 16, 2);
    auto frame = MakeFrame(0, 0, {1});
    frame.destinationPort = 53;
    frame.destination.ip = 0x0A010203;
    const auto bytes = SerialiseSlotFrame(frame);
    const auto forwarded = box.Process(1, bytes);
    ASSERT_EQ(forwarded.size(), 1U);
    EXPECT_EQ(forwarded[0].port, 2);
    EXPECT_EQ(forwarded[0].bytes[22], 63); // time to live
    EXPECT_EQ(CheckFrame(forwarded[0].bytes), FrameCheck::OtherIpv4);
    frame.destination.ip = 0x0B000000;
    EXPECT_TRUE(box.Process(1, SerialiseSlotFrame(frame)).empty());
    EXPECT_EQ(box.GetRouteDrops(), 1U);
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

AtpHeader
MakeAtpHeader(uint32_t worker, uint32_t sequence, bool isResend = false)
{
    return {.bitmap = 1U << worker, .sequence = sequence, .job = JOB, .isResend = isResend};
}

/// What becomes of a packet of two values.
struct AtpOutcome
{
    AtpVerdict verdict;
    AtpHeader header;
    std::vector<int32_t> values;
};

AtpOutcome
SendAtp(AtpSwitch& atp, const AtpHeader& header, std::vector<int32_t> values)
{
    AtpOutcome outcome{AtpVerdict::Held, header, std::move(values)};
    outcome.verdict = atp.Contribute(7, outcome.header, outcome.values);
    return outcome;
}

TEST(AtpSwitch, SendsTheSumOnWithTheLastAndWaitsForTheAnswer)
{
    AtpSwitch atp({.aggregators = 8, .valueCount = 2});
    EXPECT_EQ(SendAtp(atp, MakeAtpHeader(0, 3), {1, 10}).verdict, AtpVerdict::Held);
    EXPECT_EQ(SendAtp(atp, MakeAtpHeader(2, 3), {2, 20}).verdict, AtpVerdict::Held);
    const auto last = SendAtp(atp, MakeAtpHeader(1, 3), {4, 40});
    EXPECT_EQ(last.verdict, AtpVerdict::Complete);
    EXPECT_EQ(last.header.bitmap, 7U);
    EXPECT_THAT(last.values, ElementsAre(7, 70));
    EXPECT_EQ(atp.GetUsed(), 1U);  // freed by the answer, not by completion
    atp.Free(MakeAtpHeader(0, 4)); // of another packet
    EXPECT_EQ(atp.GetUsed(), 1U);
    atp.Free(MakeAtpHeader(0, 3));
    EXPECT_EQ(atp.GetUsed(), 0U);
}

TEST(AtpSwitch, ForwardsWhatCollidesAsItIs)
{
    AtpSwitch atp({.aggregators = 8, .valueCount = 2});
    SendAtp(atp, MakeAtpHeader(0, 3), {1, 10});
    const auto other = SendAtp(atp, MakeAtpHeader(1, 11), {5, 5}); // 11 = 3 modulo 8
    EXPECT_EQ(other.verdict, AtpVerdict::Forward);
    EXPECT_TRUE(other.header.hasCollided);
    EXPECT_THAT(other.values, ElementsAre(5, 5));
    EXPECT_EQ(atp.GetCollisions(), 1U);
}

TEST(AtpSwitch, TakesAnAggregatorFromAPacketThatIsAWindowBehind)
{
    AtpSwitch atp({.aggregators = 8, .valueCount = 2, .window = 8});
    SendAtp(atp, MakeAtpHeader(0, 3), {1, 10}); // its answer was lost, say
    EXPECT_EQ(SendAtp(atp, MakeAtpHeader(1, 11), {5, 5}).verdict, AtpVerdict::Held);
    EXPECT_EQ(SendAtp(atp, MakeAtpHeader(0, 3), {1, 10}).verdict, AtpVerdict::Forward);
}

TEST(AtpSwitch, EvictsThePartialSumWhenAPacketIsSentAgain)
{
    AtpSwitch atp({.aggregators = 8, .valueCount = 2});
    SendAtp(atp, MakeAtpHeader(0, 3), {1, 10});
    const auto joins = SendAtp(atp, MakeAtpHeader(1, 3, true), {2, 20});
    EXPECT_EQ(joins.verdict, AtpVerdict::Evict);
    EXPECT_EQ(joins.header.bitmap, 3U);
    EXPECT_THAT(joins.values, ElementsAre(3, 30));
    EXPECT_EQ(atp.GetUsed(), 0U);
    // Nothing to evict: straight to the server, and no aggregator is taken.
    EXPECT_EQ(SendAtp(atp, MakeAtpHeader(1, 3, true), {2, 20}).verdict, AtpVerdict::Forward);
    EXPECT_EQ(atp.GetUsed(), 0U);
    // One that is in the sum already is not added again.
    SendAtp(atp, MakeAtpHeader(0, 4), {1, 10});
    const auto again = SendAtp(atp, MakeAtpHeader(0, 4, true), {1, 10});
    EXPECT_EQ(again.verdict, AtpVerdict::Evict);
    EXPECT_THAT(again.values, ElementsAre(1, 10));
}

TEST(AtpServer, CountsAPartialSumOnlyIfNoneOfItsWorkersWasCounted)
{
    AtpServer server(7, 100);
    const auto merge = [&server](uint32_t bitmap, int32_t value) {
        auto header = MakeAtpHeader(0, 3);
        header.bitmap = bitmap;
        return server.Merge(header, std::vector{value});
    };
    EXPECT_EQ(merge(1, 1), nullptr);
    EXPECT_EQ(merge(3, 100), nullptr); // overlaps: worker 0 again
    EXPECT_EQ(server.GetOverlaps(), 1U);
    EXPECT_EQ(merge(2, 2), nullptr);
    const auto* sum = merge(4, 4);
    ASSERT_NE(sum, nullptr);
    EXPECT_THAT(sum->values, ElementsAre(7));
    // Whoever asks again gets the answer again.
    EXPECT_EQ(merge(1, 1), sum);
    EXPECT_THAT(sum->values, ElementsAre(7));
}

} // namespace
} // namespace ns3::gradsync
