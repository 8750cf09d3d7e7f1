// SPDX-License-Identifier: GPL-2.0-only
// Whole arrays against double precision, on every gradient and length. Part of quantiser-test.
#include "support/nasty-gradients.h"

#include "ns3/float-bits.h"
#include "ns3/gradient-reductions.h"
#include "ns3/quantisers.h"
#include "ns3/sparse-selection.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gmock/gmock.h>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;

constexpr size_t BEYOND_24_BITS = (size_t{1} << 24) + 5;

/// Calls `check` with each gradient of each length, which end and begin blocks, words and packets.
void
ForEveryGradient(const std::function<void(const std::vector<float>&)>& check)
{
    for (const size_t length : GetNastyLengths())
    {
        for (const auto& [name, values] : MakeNastyGradients(length))
        {
            SCOPED_TRACE(name + " " + std::to_string(length));
            check(values);
            if (testing::Test::HasFatalFailure())
            {
                return;
            }
        }
    }
}

/// Same bits, and of NaN the canonical one.
bool
IsExactly(float found, double expected)
{
    return ToBits(found) ==
           (std::isnan(expected) ? FLOAT_NAN : ToBits(static_cast<float>(expected)));
}

/// \param step half the distance of two numbers next to 1; \param smallest half the least number
/// \param beyond from here on infinite
void
CheckRounded(float found, float value, double step, double smallest, double beyond)
{
    const double magnitude = std::abs(double{value});
    if (std::isnan(value))
    {
        ASSERT_TRUE(std::isnan(found));
    }
    else if (magnitude >= beyond)
    {
        ASSERT_EQ(found, std::copysign(std::numeric_limits<float>::infinity(), value));
    }
    else
    {
        ASSERT_NEAR(found, value, std::max(magnitude * step, smallest));
        ASSERT_EQ(std::signbit(found), std::signbit(value));
    }
}

TEST(SixteenBits, AreWithinHalfAStepOfEveryGradient)
{
    ForEveryGradient([](const std::vector<float>& values) {
        std::vector<uint16_t> half(values.size(), 0xdead);
        std::vector<uint16_t> bfloat(values.size(), 0xdead);
        std::vector<float> fromHalf(values.size(), 77.0F);
        std::vector<float> fromBfloat(values.size(), 77.0F);
        EncodeHalf(values, half);
        DecodeHalf(half, fromHalf);
        EncodeBfloat(values, bfloat);
        DecodeBfloat(bfloat, fromBfloat);
        for (size_t i = 0; i < values.size(); ++i)
        {
            // binary16: 11 bits, the least number 2^-24, and 65,520 is half way to 2^16.
            ASSERT_NO_FATAL_FAILURE(
                CheckRounded(fromHalf[i], values[i], 0x1p-11, 0x1p-25, 65520.0));
            // bfloat16: 8 bits, the least number 2^-133, and half a step below 2^128.
            ASSERT_NO_FATAL_FAILURE(
                CheckRounded(fromBfloat[i], values[i], 0x1p-8, 0x1p-134, 0x1.ffp127));
        }
    });
}

TEST(TwoBits, SendWhatReachesTheThresholdOfEveryGradient)
{
    constexpr double THRESHOLD = 0.0078125; // exact, and 0.8 of the random gradients' deviation
    ForEveryGradient([](const std::vector<float>& values) {
        const auto before = MakeRandomGradient(values.size(), 11);
        auto residual = before;
        std::vector<uint32_t> words(CountBlocks(values.size(), 16), 0xdeadbeefU);
        std::vector<float> sent(values.size(), 77.0F);
        EncodeTwoBits(values, residual, THRESHOLD, words);
        DecodeTwoBits(words, THRESHOLD, sent);
        for (size_t i = 0; i < values.size(); ++i)
        {
            // The sum of two floats in double, rounded, is that in float: 53 >= 2 * 24 + 2 bits.
            const double gathered = static_cast<float>(double{before[i]} + values[i]);
            const double expected = gathered >= THRESHOLD    ? THRESHOLD
                                    : gathered <= -THRESHOLD ? -THRESHOLD
                                                             : 0.0;
            const double kept = std::isfinite(gathered) ? gathered - expected : 0.0;
            ASSERT_EQ(sent[i], expected);
            ASSERT_EQ(residual[i], static_cast<float>(kept));
        }
    });
}

TEST(FixedPoint, ComesBackWithinHalfAStepOfEveryGradientThatFits)
{
    constexpr double FACTOR = 1e6;
    ForEveryGradient([](const std::vector<float>& values) {
        std::vector<int32_t> codes(values.size(), 99);
        std::vector<float> decoded(values.size(), 77.0F);
        EncodeFixedPoints(values, FACTOR, codes);
        DecodeFixedPoints(codes, FACTOR, decoded);
        for (size_t i = 0; i < values.size(); ++i)
        {
            const double largest = 2147483647 / FACTOR;
            const double expected =
                std::isnan(values[i]) ? 0.0 : std::clamp(double{values[i]}, -largest, largest);
            // Four roundings to 24 bits beside that to whole steps.
            ASSERT_NEAR(decoded[i], expected, 0.5 / FACTOR + 4 * 0x1p-24 * std::abs(expected));
        }
    });
}

TEST(PacketExponents, BringEveryGradientBackWithinAStepOfItsPacket)
{
    constexpr uint32_t PACKET = 64;
    constexpr uint32_t WORKERS = 7;
    ForEveryGradient([](const std::vector<float>& values) {
        std::vector<int8_t> exponents(CountBlocks(values.size(), PACKET), 99);
        std::vector<int32_t> codes(values.size(), 99);
        std::vector<float> decoded(values.size(), 77.0F);
        FindPacketExponents(values, PACKET, exponents);
        EncodeWithExponents(values, PACKET, WORKERS, exponents, codes);
        DecodeWithExponents(codes, PACKET, WORKERS, exponents, decoded);
        for (size_t i = 0; i < values.size(); ++i)
        {
            // A packet holds (-2^e, 2^e) in 2 F steps, F = 2^31 / 7 cut to 24 bits.
            const double limit = std::ldexp(1.0, exponents[i / PACKET]);
            const double expected =
                std::isnan(values[i]) ? 0.0 : std::clamp(double{values[i]}, -limit, limit);
            const double step = limit / (0x1p31 / WORKERS) * (1 + 0x1p-22);
            ASSERT_NEAR(decoded[i], expected, 0.5 * step + 4 * 0x1p-24 * std::abs(expected));
            ASSERT_LE(std::abs(int64_t{codes[i]}) * WORKERS, 2147483647);
        }
    });
}

TEST(Updates, AreRoundedOnceForEachOperationOnEveryGradient)
{
    ForEveryGradient([](const std::vector<float>& values) {
        const auto before = MakeRandomGradient(values.size(), 12);
        auto sum = before;
        auto velocity = before;
        auto residual = before;
        auto sparse = before;
        AddDense(values, sum);
        StepMomentum(values, 0.9F, velocity);
        KeepResidual(values, residual);
        std::vector<uint32_t> indices;
        std::vector<float> selected;
        for (uint32_t i = 1; i < values.size(); i += 3)
        {
            indices.push_back(i);
            selected.push_back(values[i]);
        }
        AddSparse({indices, selected}, sparse);
        for (size_t i = 0; i < values.size(); ++i)
        {
            // Sums and products of two floats in double, rounded, are those in float.
            const double value = values[i];
            ASSERT_TRUE(IsExactly(sum[i], before[i] + value));
            const double decayed = static_cast<float>(double{0.9F} * before[i]);
            ASSERT_TRUE(IsExactly(velocity[i], decayed + value));
            const auto left = static_cast<float>(before[i] - value);
            ASSERT_EQ(residual[i], std::isfinite(left) ? left : 0.0F);
            ASSERT_TRUE(i % 3 == 1 ? std::isnan(value) || IsExactly(sparse[i], before[i] + value)
                                   : ToBits(sparse[i]) == ToBits(before[i]));
        }
    });
}

TEST(Arrays, ReachBeyond24BitsOfIndex)
{
    // All zeros but one element, which a float could not count to.
    constexpr size_t LAST = BEYOND_24_BITS - 1;
    std::vector<float> values(BEYOND_24_BITS, 0.0F);
    values[LAST] = -4096.0F;
    std::vector<uint32_t> bitmap(CountBlocks(values.size(), 8192), 0xdeadbeefU);
    EXPECT_EQ(FindNonZeroBlocks(values, bitmap), 1U);
    EXPECT_EQ(bitmap.back(), 1U); // 2^24 is a multiple of 8192: the first block of the last word
    std::vector<float> scores(CountBlocks(values.size(), 4096), 0.0F);
    ScoreBlocks(values, 0.0F, scores);
    EXPECT_EQ(scores.back(), 4096.0F / 5); // five elements are left for the last block
    EXPECT_EQ(scores[scores.size() - 2], 0.0F);
    EXPECT_EQ(ComputeNorm(values), 4096.0);
    std::vector<uint32_t> indices(2, 99);
    std::vector<float> selected(2, 77.0F);
    EXPECT_EQ(SelectFromKey(values, 1, indices, selected), 1U);
    EXPECT_THAT(indices, ElementsAre(LAST, 99));
    std::vector<int8_t> exponents(CountBlocks(values.size(), 64), 99);
    FindPacketExponents(values, 64, exponents);
    EXPECT_EQ(exponents.back(), 13); // 4096 = 0.5 * 2^13
    EXPECT_EQ(exponents[exponents.size() - 2], -95);
    std::vector<float> sum(BEYOND_24_BITS, 1.0F);
    AddDense(values, sum);
    StepMomentum(values, 0.5F, sum);
    KeepResidual(values, sum);
    AddSparse({std::span(indices).first(1), std::span(selected).first(1)}, sum);
    EXPECT_EQ(sum[LAST - 1], 0.5F);
    // 1 - 4096 = -4095; half of it and -4096 more; without what was received; and with it again.
    EXPECT_EQ(sum[LAST], -4095.0F / 2 - 4096.0F);
}

} // namespace
} // namespace ns3::gradsync
