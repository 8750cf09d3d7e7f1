// SPDX-License-Identifier: GPL-2.0-only
// The slot protocol's frames, and the switch that works on frames. Part of slot-switch-test.
#include "unit/aggregation/slot-headers.h"

#include "ns3/slot-frame.h"
#include "ns3/slot-switch-frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;

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
    EXPECT_EQ(CheckFrame(bytes, SLOT_UDP_PORT), FrameCheck::Protocol);
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
        EXPECT_EQ(CheckFrame(results[worker].bytes, SLOT_UDP_PORT), FrameCheck::Protocol);
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

TEST(SlotSwitchFrames, AnswersAJobThatStartsAgainAsOneThatNeverWasThere)
{
    // Whatever came before the reset, from then on all answers are those of a new switch; without
    // it some are not, since late epochs make early ones stale.
    std::mt19937 random(20261123);
    const auto draw = [&random](uint16_t epochs) {
        const auto worker = static_cast<uint16_t>(random() % 2);
        const auto value = static_cast<int32_t>(random() % 1000);
        const auto epoch = static_cast<uint16_t>(random() % epochs);
        auto frame = MakeFrame(worker, epoch, std::vector<int32_t>(64, value));
        frame.header.slot = static_cast<uint16_t>(random() % 8);
        return std::pair(static_cast<uint16_t>(1 + worker), SerialiseSlotFrame(frame));
    };
    for (const bool resets : {true, false})
    {
        auto used = MakeBox();
        for (int i = 0; i < 300; ++i)
        {
            const auto [port, frame] = draw(1000);
            used.Process(port, frame);
        }
        used.ResetJob(JOB + 1); // of a job that is not here
        if (resets)
        {
            used.ResetJob(JOB);
        }
        auto fresh = MakeBox();
        uint32_t differences = 0;
        for (int i = 0; i < 300; ++i)
        {
            const auto [port, frame] = draw(4);
            differences += used.Process(port, frame) != fresh.Process(port, frame);
        }
        EXPECT_EQ(differences > 0, !resets);
    }
}

TEST(SlotSwitchFrames, ClearsOneCellAtATime)
{
    auto box = MakeBox();
    const auto send = [&box](uint16_t worker, uint16_t epoch) {
        const auto frame = MakeFrame(worker, epoch, std::vector<int32_t>(64, 1));
        return box.Process(1 + worker, SerialiseSlotFrame(frame)).size();
    };
    for (const uint16_t epoch : {4, 5})
    {
        EXPECT_EQ(send(0, epoch), 0U);
        EXPECT_EQ(send(1, epoch), 2U);
    }
    // Of a pool of 8 slots, cell 8 is that of odd epochs of slot 0.
    box.ClearCell(8);
    EXPECT_EQ(send(0, 4), 1U); // kept
    EXPECT_EQ(send(0, 1), 0U);
    EXPECT_EQ(send(1, 1), 2U); // started again
    EXPECT_THROW(box.ClearCell(16), std::out_of_range);
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
    EXPECT_EQ(CheckFrame(forwarded[0].bytes, SLOT_UDP_PORT), FrameCheck::OtherIpv4);
    frame.destination.ip = 0x0B000000;
    EXPECT_TRUE(box.Process(1, SerialiseSlotFrame(frame)).empty());
    EXPECT_EQ(box.GetRouteDrops(), 1U);
}

} // namespace
} // namespace ns3::gradsync
