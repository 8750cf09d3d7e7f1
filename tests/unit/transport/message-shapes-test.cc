// SPDX-License-Identifier: GPL-2.0-only
#include "support/message-collector.h"

#include "ns3/message-shapes.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using tests::MessageCollector;

void
ExpectAlike(const MessageSeries& one, const MessageSeries& other)
{
    ASSERT_EQ(one.GetCount(), other.GetCount());
    ASSERT_EQ(one.GetHandler(), other.GetHandler());
    for (uint32_t i = 0; i < one.GetCount(); ++i)
    {
        ASSERT_EQ(one.GetTag(i), other.GetTag(i));
        ASSERT_EQ(one.GetBytes(i), other.GetBytes(i));
    }
}

TEST(MessageShapes, GiveBackTheSeries)
{
    // Random series of one or two sizes, from which random ones are dropped; what is given back is
    // the same, and goes on with the same messages.
    std::mt19937_64 random(5);
    MessageShapes shapes;
    MessageCollector collector;
    auto* handler = &collector;
    for (int i = 0; i < 20'000; ++i)
    {
        const auto bits = 1 + random() % 47;
        const auto bytes = random() % (uint64_t{1} << bits);
        const auto times = random() % 3; // 0: one size, 2: mostly too far apart
        const auto other = bytes + times * (random() % 65536);
        const auto tagStep = random() % UINT32_MAX;
        MessageSeries series(bytes, random(), handler);
        const auto more = random() % 18;
        for (uint64_t j = 0; j < more; ++j)
        {
            series.Append(random() % 2 == 0 ? bytes : other,
                          series.GetTag(0) + (j + 1) * tagStep,
                          handler);
        }
        series.Drop(static_cast<uint32_t>(random() % series.GetCount()));
        auto again = shapes.Get(shapes.Provide(series), series.GetTag(0), handler);
        ExpectAlike(series, again);
        const auto next = random() % 2 == 0 ? bytes : bytes + random() % 70'000;
        const auto tag = series.GetTag(series.GetCount() - 1) + tagStep;
        ASSERT_EQ(series.Append(next, tag, handler), again.Append(next, tag, handler));
        ExpectAlike(series, again);
        if (!shapes.HasRoom())
        {
            shapes.Clear();
        }
    }
}

TEST(MessageShapes, AreAsManyAsSeriesDifferInMoreThanTheirTags)
{
    // One message of each of two sizes, and both in either order with one of two steps: 2 + 2 * 2.
    // What is left of a longer series when all but one are dropped is like one that was alone.
    MessageShapes shapes;
    MessageCollector collector;
    auto* handler = &collector;
    for (uint64_t tag = 0; tag < 1000; ++tag)
    {
        for (const uint64_t first : {100, 104})
        {
            shapes.Provide({first, tag, handler});
            for (const uint64_t step : {7, 9})
            {
                MessageSeries two(first, tag, handler);
                ASSERT_TRUE(two.Append(204 - first, tag + step, handler));
                shapes.Provide(two);
                two.Drop(1);
                shapes.Provide(two);
            }
        }
    }
    EXPECT_EQ(shapes.GetSize(), 6U);
}

TEST(MessageShapes, HaveRoomForTwoBytes)
{
    // 2^16 - 1 of them; all are told apart, and room comes again.
    MessageShapes shapes;
    std::vector<uint16_t> numbers;
    for (uint64_t bytes = 0; shapes.HasRoom(); ++bytes)
    {
        numbers.push_back(shapes.Provide({bytes, 0, nullptr}));
    }
    ASSERT_EQ(numbers.size(), 65535U);
    for (uint64_t bytes = 0; bytes < numbers.size(); ++bytes)
    {
        ASSERT_EQ(shapes.Get(numbers[bytes], 0, nullptr).GetBytes(0), bytes);
    }
    shapes.Clear();
    EXPECT_TRUE(shapes.HasRoom());
    EXPECT_EQ(shapes.Get(shapes.Provide({77, 0, nullptr}), 0, nullptr).GetBytes(0), 77U);
}

} // namespace
} // namespace ns3::gradsync
