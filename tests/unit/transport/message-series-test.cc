// SPDX-License-Identifier: GPL-2.0-only
#include "support/message-collector.h"

#include "ns3/message-series.h"
#include "ns3/roce-reservation.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using tests::MessageCollector;

// 8 B of tag, 8 of handler, 6 and 2 of sizes, 4 of the tags' step, 2 of long ones, 1 of the count.
// What waits: 8 B of tag, 2 of shape, 1 of the first sequence number, 4 of turn, and 63 bits of
// connection and handler.
static_assert(sizeof(MessageSeries) == 32);
static_assert(sizeof(RoceReservation) == 24);

struct Sent
{
    uint64_t bytes;
    uint64_t tag;
};

void
ExpectSame(const MessageSeries& series, const std::vector<Sent>& sent)
{
    ASSERT_EQ(series.GetCount(), sent.size());
    const auto [least, most] = std::ranges::minmax_element(sent, {}, &Sent::bytes);
    EXPECT_EQ(series.GetLeastBytes(), least->bytes);
    EXPECT_EQ(series.GetMostBytes(), most->bytes);
    for (uint32_t i = 0; i < sent.size(); ++i)
    {
        EXPECT_EQ(series.GetBytes(i), sent[i].bytes) << i;
        EXPECT_EQ(series.GetTag(i), sent[i].tag) << i;
    }
}

/// Whether a message goes on as those before it, by the definition of a series.
bool
GoesOn(const std::vector<Sent>& sent, const Sent& next)
{
    std::set<uint64_t> sizes{next.bytes};
    for (const auto& message : sent)
    {
        sizes.insert(message.bytes);
    }
    const auto step = next.tag - sent.back().tag;
    const bool isEven = sent.size() == 1 ? step <= UINT32_MAX : step == sent[1].tag - sent[0].tag;
    return sent.size() < MessageSeries::MAX_COUNT && isEven && sizes.size() <= 2 &&
           *sizes.rbegin() - *sizes.begin() <= UINT16_MAX;
}

TEST(MessageSeries, HoldsWhatWasAppendedAndRefusesWhatDoesNotGoOn)
{
    // Few sizes and steps, so that both come often; messages are dropped from the front, after
    // which what is left is a series as good as one of these alone.
    const std::vector<uint64_t> sizes{0, 120, 124, 124 + UINT16_MAX, (uint64_t{1} << 48) - 1};
    MessageCollector handler;
    std::mt19937_64 random(5);
    size_t refused = 0;
    size_t taken = 0;
    for (int round = 0; round < 3000; ++round)
    {
        const auto low = random() % (sizes.size() - 1);
        std::vector<Sent> sent{{sizes[low], random()}};
        const auto step = random() % 4 == 0 ? random() : random() % 3;
        MessageSeries series(sent[0].bytes, sent[0].tag, &handler);
        for (int i = 0; i < 24; ++i)
        {
            const auto size = random() % 12 == 0 ? random() % sizes.size() : low + random() % 2;
            const Sent next{sizes[size], sent.back().tag + step + (random() % 12 == 0 ? 1 : 0)};
            const bool goesOn = GoesOn(sent, next);
            ASSERT_EQ(series.Append(next.bytes, next.tag, &handler), goesOn);
            (goesOn ? taken : refused) += 1;
            if (goesOn)
            {
                sent.push_back(next);
            }
            if (random() % 5 == 0)
            {
                const auto dropped = random() % sent.size();
                series.Drop(static_cast<uint32_t>(dropped));
                sent.erase(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(dropped));
            }
            ExpectSame(series, sent);
        }
    }
    EXPECT_GT(taken, 10'000U);
    EXPECT_GT(refused, 10'000U);
}

TEST(RoceReservation, GivesBackWhatFits)
{
    // Any numbers that fit, up to the largest ones, set in any order.
    constexpr uint32_t MAX_NAME = (1U << 20) - 1;
    std::mt19937_64 random(6);
    const auto draw = [&random](uint64_t most) {
        return random() % 4 == 0 ? most : random() % (most + 1);
    };
    RoceReservation reservation;
    for (int round = 0; round < 5000; ++round)
    {
        const auto tag = draw(UINT64_MAX - 1);
        const auto shape = static_cast<uint16_t>(draw(UINT16_MAX));
        const RoceConnection connection{static_cast<uint32_t>(draw(MAX_NAME)),
                                        static_cast<uint32_t>(draw(MAX_NAME)),
                                        static_cast<uint32_t>(draw(MAX_NAME))};
        ASSERT_TRUE(RoceReservation::Fits(connection));
        const auto packets = static_cast<uint32_t>(draw(RoceReservation::MAX_SENT));
        const auto number = static_cast<uint32_t>(draw(RoceHandlers::MAX_COUNT - 1));
        const auto index = static_cast<uint32_t>(draw(INT32_MAX));
        reservation.SetConnection(connection);
        reservation.SetQueuePair(index);
        ASSERT_FALSE(reservation.IsWaiting());
        ASSERT_EQ(reservation.GetQueuePair(), index);
        reservation.Wait(packets);
        reservation.SetMessages(shape, tag, number);
        ASSERT_TRUE(reservation.IsWaiting());
        ASSERT_EQ(reservation.GetSent(), packets);
        ASSERT_EQ(reservation.GetHandler(), number);
        ASSERT_EQ(reservation.GetShape(), shape);
        ASSERT_EQ(reservation.GetTag(), tag);
        ASSERT_TRUE(reservation.GetConnection() == connection);
    }
}

TEST(RoceReservation, TellsWhatDoesNotFit)
{
    constexpr uint32_t LARGE = 1U << 20;
    EXPECT_TRUE(RoceReservation::Fits(RoceConnection{LARGE - 1, LARGE - 1, LARGE - 1}));
    EXPECT_FALSE(RoceReservation::Fits(RoceConnection{LARGE, 0, 0}));
    EXPECT_FALSE(RoceReservation::Fits(RoceConnection{0, LARGE, 0}));
    EXPECT_FALSE(RoceReservation::Fits(RoceConnection{0, 0, LARGE}));
}

TEST(MessageSeries, IsForOneHandler)
{
    MessageCollector one;
    MessageCollector other;
    MessageSeries series(100, 1, &one);
    EXPECT_FALSE(series.Append(100, 2, &other));
    EXPECT_TRUE(series.Append(100, 2, &one));
    EXPECT_EQ(series.GetHandler(), &one);
}

} // namespace
} // namespace ns3::gradsync
