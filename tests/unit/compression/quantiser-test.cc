// SPDX-License-Identifier: GPL-2.0-only
#include "support/nasty-gradients.h"

#include "ns3/quantiser-arithmetic.h"
#include "ns3/quantisers.h"
#include "ns3/sum-error-study.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <numeric>

namespace ns3::gradsync
{
namespace
{

using testing::Each;
using testing::ElementsAre;

constexpr float INFINITE = std::numeric_limits<float>::infinity();
constexpr float NOT_A_NUMBER = std::numeric_limits<float>::quiet_NaN();

/// Same bits; all NaN are equal.
bool
AreSameBits(float a, float b)
{
    return ToBits(a) == ToBits(b) || (std::isnan(a) && std::isnan(b));
}

/// The binary16 numbers next to a value, by the definition of the format.
double
GetHalfValue(uint32_t half)
{
    const int exponent = static_cast<int>(half >> 10 & 31U);
    const double fraction = half & 1023U;
    return exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024.0 + fraction, exponent - 25);
}

TEST(Rounding, GoesToTheNearestAndTiesToEven)
{
    std::mt19937 generator(7);
    for (int i = 0; i < 1'000'000; ++i)
    {
        const float value = FromBits(static_cast<uint32_t>(generator()));
        EXPECT_TRUE(std::isnan(value) || AreSameBits(RoundToEven(value), std::nearbyint(value)))
            << value;
    }
    EXPECT_EQ(RoundToEven(0.5F), 0.0F);
    EXPECT_EQ(RoundToEven(1.5F), 2.0F);
    EXPECT_EQ(RoundToEven(-2.5F), -2.0F);
    EXPECT_EQ(RoundToEven(4194304.5F), 4194304.0F);
}

TEST(HalfPrecision, EveryHalfComesBackAndMidpointsGoToEven)
{
    for (uint32_t half = 0; half < 0x7c00; ++half)
    {
        const double value = GetHalfValue(half);
        ASSERT_EQ(HalfToFloat(static_cast<uint16_t>(half)), value);
        ASSERT_EQ(FloatToHalf(static_cast<float>(value)), half);
        // Above the last half comes 2^16, which rounds to infinity, as does the tie before it.
        const auto middle = static_cast<float>((value + GetHalfValue(half + 1)) / 2);
        ASSERT_EQ(FloatToHalf(middle), half % 2 == 0 ? half : half + 1);
        ASSERT_EQ(FloatToHalf(std::nextafter(middle, 0.0F)), half);
        ASSERT_EQ(FloatToHalf(std::nextafter(middle, INFINITE)), half + 1);
        ASSERT_EQ(FloatToHalf(-middle), (half % 2 == 0 ? half : half + 1) | 0x8000U);
    }
    EXPECT_EQ(FloatToHalf(INFINITE), 0x7c00);
    EXPECT_EQ(FloatToHalf(-std::numeric_limits<float>::max()), 0xfc00);
    EXPECT_EQ(FloatToHalf(-NOT_A_NUMBER), HALF_NAN);
    EXPECT_EQ(HalfToFloat(0xfc00), -INFINITE);
    EXPECT_EQ(ToBits(HalfToFloat(0xffff)), FLOAT_NAN);
}

TEST(Bfloat, IsTheNearestOfTheTwoAroundAndEvenOnTies)
{
    std::mt19937 generator(8);
    for (int i = 0; i < 1'000'000; ++i)
    {
        // Every other case is a tie, half way between two.
        const auto bits = static_cast<uint32_t>(generator());
        const float value = FromBits(i % 2 == 0 ? bits : (bits & ~0xffffU) | 0x8000U);
        if (!std::isfinite(value))
        {
            continue;
        }
        const uint32_t below = ToBits(value) >> 16;
        const double low = FromBits(below << 16);
        const double high = FromBits((below & 0x7fffU) == 0x7f7fU ? 0 : (below + 1) << 16);
        const double toLow = std::abs(value - low);
        const double toHigh = std::abs(high - value);
        const bool isUp = toHigh < toLow || (toHigh == toLow && below % 2 == 1);
        if (high != 0)
        {
            ASSERT_EQ(FloatToBfloat(value), below + (isUp ? 1 : 0)) << value;
        }
    }
    EXPECT_EQ(FloatToBfloat(std::numeric_limits<float>::max()), 0x7f80);
    EXPECT_EQ(FloatToBfloat(-INFINITE), 0xff80);
    EXPECT_EQ(FloatToBfloat(-NOT_A_NUMBER), BFLOAT_NAN);
    EXPECT_EQ(ToBits(BfloatToFloat(0xffff)), FLOAT_NAN);
    EXPECT_EQ(BfloatToFloat(0xbf80), -1.0F);
}

/// Checks one block against the definition in double precision.
void
CheckInt8Block(std::span<const float> values,
               std::span<const int8_t> codes,
               float scale,
               std::span<const float> decoded)
{
    const bool isFinite =
        std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
    if (!isFinite)
    {
        EXPECT_THAT(codes, Each(0));
        EXPECT_TRUE(std::all_of(decoded.begin(), decoded.end(), [](float value) {
            return std::isnan(value);
        }));
        return;
    }
    double maximum = 0;
    for (const float value : values)
    {
        maximum = std::max(maximum, std::abs(double{value}));
    }
    for (size_t i = 0; i < values.size(); ++i)
    {
        // Half a step, and two roundings of the quotient, each 2^-24 of at most 127.
        const double step = maximum < 0x1p-120 ? 0x1p-119 : maximum / 127;
        ASSERT_NEAR(decoded[i], values[i], step * (0.5 + 127 * 0x1p-22));
        ASSERT_LE(std::abs(codes[i]), 127);
        ASSERT_TRUE(AreSameBits(decoded[i], static_cast<float>(codes[i]) * scale));
    }
}

TEST(Int8, IsTheNearestOf255StepsAndNonFiniteBlocksDecodeToNaN)
{
    for (const size_t length : GetNastyLengths())
    {
        for (const auto& [name, values] : MakeNastyGradients(length))
        {
            SCOPED_TRACE(name + " " + std::to_string(length));
            constexpr uint32_t BLOCK = 256;
            const auto blocks = CountBlocks(length, BLOCK);
            std::vector<int8_t> codes(length, 99);
            std::vector<float> scales(blocks, -1.0F);
            std::vector<float> decoded(length, 77.0F);
            EncodeInt8Blocks(values, BLOCK, codes, scales);
            DecodeInt8Blocks(codes, scales, BLOCK, decoded);
            for (uint64_t block = 0; block < blocks; ++block)
            {
                const size_t first = block * BLOCK;
                const size_t count = std::min<size_t>(BLOCK, length - first);
                CheckInt8Block(std::span(values).subspan(first, count),
                               std::span(codes).subspan(first, count),
                               scales[block],
                               std::span(decoded).subspan(first, count));
            }
        }
    }
}

TEST(Int8, TiesGoToEvenAndTheLargestIs127)
{
    // Scale 1: the codes are the rounded values.
    const std::vector<float> values{127.0F, 0.5F, 1.5F, -2.5F, -126.5F, 126.6F};
    std::vector<int8_t> codes(values.size(), 99);
    std::vector<float> scales(1, -1.0F);
    EncodeInt8Blocks(values, 8192, codes, scales);
    EXPECT_THAT(codes, ElementsAre(127, 0, 2, -2, -126, 127));
    EXPECT_EQ(scales[0], 1.0F);
}

TEST(TwoBits, WhatIsSentAndWhatIsKeptAddUpToTheGradient)
{
    // In steps of 2^-10 sums and differences are exact, so nothing may be lost in ten iterations.
    std::mt19937 generator(9);
    const size_t length = 1003;
    std::vector<float> residual(length, 0.0F);
    std::vector<double> owed(length, 0.0);
    for (int iteration = 0; iteration < 10; ++iteration)
    {
        std::vector<float> gradient(length);
        for (size_t i = 0; i < length; ++i)
        {
            gradient[i] = std::ldexp(static_cast<float>(generator() % 2048) - 1024.0F, -10);
            owed[i] += gradient[i];
        }
        std::vector<uint32_t> words(CountBlocks(length, 16), 0xdeadbeefU);
        std::vector<float> sent(length, 77.0F);
        EncodeTwoBits(gradient, residual, 0.5F, words);
        DecodeTwoBits(words, 0.5F, sent);
        for (size_t i = 0; i < length; ++i)
        {
            ASSERT_THAT(sent[i], testing::AnyOf(-0.5F, 0.0F, 0.5F));
            owed[i] -= sent[i];
            ASSERT_EQ(residual[i], owed[i]);
        }
        EXPECT_EQ(words.back() >> 22, 0U) << "eleven codes in the last word, the rest is 0";
    }
}

TEST(TwoBits, NothingThatIsNotFiniteStays)
{
    std::vector<float> residual(4, 0.25F);
    std::vector<uint32_t> words(1, 0xdeadbeefU);
    EncodeTwoBits(std::vector<float>{INFINITE, -INFINITE, NOT_A_NUMBER, 0.25F},
                  residual,
                  0.5F,
                  words);
    // Codes from the lowest: + (1), - (2), 0, + (1).
    EXPECT_EQ(words[0], 1U | 2U << 2 | 0U << 4 | 1U << 6);
    EXPECT_THAT(residual, ElementsAre(0.0F, 0.0F, 0.0F, 0.0F));
}

TEST(FixedPoint, RoundsInDoublePrecisionsSenseAndSaturates)
{
    for (const auto& [name, values] : MakeNastyGradients(8193))
    {
        SCOPED_TRACE(name);
        std::vector<int32_t> codes(values.size(), 99);
        EncodeFixedPoints(values, 1e8F, codes);
        for (size_t i = 0; i < values.size(); ++i)
        {
            const auto product = static_cast<double>(values[i] * 1e8F);
            const double expected =
                std::isnan(product)
                    ? 0.0
                    : std::clamp(std::nearbyint(product), -2147483647.0, 2147483647.0);
            ASSERT_EQ(codes[i], expected) << values[i];
        }
    }
    std::vector<float> decoded(3, 77.0F);
    DecodeFixedPoints(std::vector<int32_t>{100'000'000, -50'000'000, 0}, 1e8F, decoded);
    EXPECT_THAT(decoded, ElementsAre(1.0F, -0.5F, 0.0F));
}

TEST(PacketExponents, AreThoseOfFrexpWithinTheirLimits)
{
    for (const auto& [name, values] : MakeNastyGradients(1025))
    {
        if (name == "infinities" || name == "NaN")
        {
            continue;
        }
        SCOPED_TRACE(name);
        std::vector<int8_t> exponents(CountBlocks(values.size(), 64), 99);
        FindPacketExponents(values, 64, exponents);
        for (size_t packet = 0; packet < exponents.size(); ++packet)
        {
            float maximum = 0;
            for (size_t i = packet * 64; i < std::min(values.size(), packet * 64 + 64); ++i)
            {
                maximum = std::max(maximum, std::abs(values[i]));
            }
            int exponent = -1000;
            if (maximum > 0)
            {
                std::frexp(maximum, &exponent);
            }
            ASSERT_EQ(exponents[packet], std::clamp(exponent, -95, 127));
        }
    }
}

TEST(PacketExponents, ASumOfAllWorkersNeverOverflowsAndIsClose)
{
    for (const uint32_t workers : {1U, 2U, 3U, 7U, 8U, 100U, 1024U})
    {
        // The worst case: every worker sends the largest value below 2^3.
        const std::vector<float> values(64, std::nextafter(8.0F, 0.0F));
        std::vector<int8_t> exponents(1, 99);
        std::vector<int32_t> codes(64, 99);
        FindPacketExponents(values, 64, exponents);
        ASSERT_EQ(exponents[0], 3);
        EncodeWithExponents(values, 64, workers, exponents, codes);
        const int64_t sum = int64_t{codes[0]} * workers;
        ASSERT_LE(sum, 2147483647);
        std::vector<float> decoded(64, 77.0F);
        DecodeWithExponents(std::vector<int32_t>(64, static_cast<int32_t>(sum)),
                            64,
                            workers,
                            exponents,
                            decoded);
        // Half a unit of 8 workers / 2^31 for each worker, and the roundings of four operations.
        ASSERT_NEAR(decoded[0], 8.0 * workers, 8.0 * workers * (workers * 0x1p-31 + 0x1p-22));
    }
}

TEST(BytesWithExponents, AreThoseOfAPacketByHand)
{
    // A sum of three leaves each 127 / 3 = 42 codes a side, of 2^1 / 42 each: 1.5 is 31.5, which
    // goes to the even 32, -1 is -21, 0.25 is 5.25. What the exponent is too small for is cut.
    const std::vector<float> values{1.5F, -1.0F, 0.25F, 0.0F, NOT_A_NUMBER, INFINITE, -INFINITE};
    std::vector<int8_t> codes(values.size(), 99);
    EncodeBytesWithExponents(values, 8, 3, std::vector<int8_t>{1}, codes);
    EXPECT_THAT(codes, ElementsAre(32, -21, 5, 0, 0, 42, -42));
    // The sum of three such messages, in 8 bits too.
    const std::vector<int8_t> sums{96, -63, 15, 0, 0, 126, -126};
    std::vector<float> decoded(sums.size(), 77.0F);
    DecodeBytesWithExponents(sums, 8, 3, std::vector<int8_t>{1}, decoded);
    const std::vector<float> expected{96 / 21.0F, -3.0F, 15 / 21.0F, 0.0F, 0.0F, 6.0F, -6.0F};
    EXPECT_THAT(decoded, testing::Pointwise(testing::FloatEq(), expected));
}

TEST(BytesWithExponents, ASumOfAllWorkersFitsEightBitsAndIsClose)
{
    constexpr uint32_t PACKET = 256;
    for (const uint32_t workers : {1U, 2U, 3U, 7U, 8U, 63U, 64U, 127U})
    {
        SCOPED_TRACE(workers);
        // Workers' gradients differ in size, so that not all have the exponent that they share;
        // the last packet is short, and one element is as large as can be in all of them.
        std::vector<float> exact(1000, 0.0F);
        std::vector<std::vector<float>> gradients;
        std::vector<int8_t> largest(4, -128);
        for (uint32_t worker = 0; worker < workers; ++worker)
        {
            auto values = MakeRandomGradient(1000, 40 + worker);
            std::vector<int8_t> exponents(4, 99);
            values[5] = std::nextafter(8.0F, 0.0F);
            FindPacketExponents(values, PACKET, exponents);
            std::ranges::transform(largest, exponents, largest.begin(), [](int8_t a, int8_t b) {
                return std::max(a, b);
            });
            std::ranges::transform(exact, values, exact.begin(), std::plus<float>());
            gradients.push_back(std::move(values));
        }
        std::vector<int32_t> sums(1000, 0);
        for (const auto& values : gradients)
        {
            std::vector<int8_t> codes(1000, 99);
            EncodeBytesWithExponents(values, PACKET, workers, largest, codes);
            std::ranges::transform(sums, codes, sums.begin(), std::plus<int32_t>());
        }
        ASSERT_GE(std::ranges::min(sums), -127);
        const uint32_t share = 127 / workers;
        ASSERT_EQ(std::ranges::max(sums), share * workers); // element 5
        std::vector<float> decoded(1000, 77.0F);
        const std::vector<int8_t> bytes(sums.begin(), sums.end());
        DecodeBytesWithExponents(bytes, PACKET, workers, largest, decoded);
        for (size_t i = 0; i < decoded.size(); ++i)
        {
            // Each worker rounds by half a step at most; float32 rounds sums and products.
            const double step = std::ldexp(1.0, largest[i / PACKET]) / share;
            ASSERT_NEAR(decoded[i], exact[i], workers * step * (0.5 + 0x1p-15));
        }
    }
}

TEST(BytesWithExponents, RefuseWorkersWhoseSumDoesNotFit)
{
    const std::vector<float> values(4, 1.0F);
    const std::vector<int8_t> exponents(1, 1);
    std::vector<int8_t> codes(4, 99);
    std::vector<float> decoded(4, 77.0F);
    for (const uint32_t workers : {0U, 128U, 1000U})
    {
        EXPECT_THROW(EncodeBytesWithExponents(values, 4, workers, exponents, codes),
                     std::invalid_argument);
        EXPECT_THROW(DecodeBytesWithExponents(codes, 4, workers, exponents, decoded),
                     std::invalid_argument);
    }
    EXPECT_THAT(codes, Each(99));
}

TEST(SumErrors, OfOneFactorAreThoseOfTheRounding)
{
    const SumErrorStudy study("normal, deviation 0.001", 8, 65536, 1);
    // Each of n workers rounds by a uniform error of variance 1/(12 f^2), and the sums have the
    // variance n sigma^2: sqrt(1/12) / (f sigma). At 10^8 the roundings of float32 (24 bits) add
    // next to nothing.
    for (const float factor : {1e5F, 1e6F, 1e7F, 1e8F})
    {
        const auto errors = study.MeasureFactor(factor);
        EXPECT_NEAR(errors.relative * factor * 1e-3 * std::sqrt(12.0), 1.0, 0.02) << factor;
        EXPECT_LE(errors.largest, 8 * 0.5 / factor * 1.01);
        EXPECT_EQ(errors.overflows, 0);
    }
    EXPECT_LT(study.MeasureExponents().relative, 1e-7);
}

TEST(SumErrors, GrowWhereSumsDoNotFit)
{
    const SumErrorStudy study("normal, deviation 3", 8, 65536, 1);
    // Sums have the deviation 3 sqrt 8 = 8.49, and 2^31 / 10^8 = 21.47 is 2.53 of it: 1.14 % are
    // beyond.
    const auto passing = study.MeasureFactor(1e8F);
    EXPECT_NEAR(static_cast<double>(passing.overflows) / 65536, 0.0114, 0.001);
    // One that wraps around is off by 2^32 / 10^8.
    EXPECT_NEAR(passing.largest, 42.95, 0.01);
    EXPECT_EQ(study.MeasureFactor(1e7F).overflows, 0);
    EXPECT_LT(study.MeasureFactor(1e7F).relative, 1e-7);
    EXPECT_LT(study.MeasureExponents().relative, 1e-7);
}

TEST(Quantisers, GiveTheSameBitsForAnyNumberOfThreads)
{
    const auto values = MakeRandomGradient(700'001);
    for (const uint32_t threads : {2U, 3U, 5U})
    {
        std::vector<int8_t> one(values.size(), 1);
        std::vector<int8_t> many(values.size(), 2);
        std::vector<float> oneScales(CountBlocks(values.size(), 8192), 1.0F);
        std::vector<float> manyScales(oneScales.size(), 2.0F);
        EncodeInt8Blocks(values, 8192, one, oneScales, 1);
        EncodeInt8Blocks(values, 8192, many, manyScales, threads);
        EXPECT_EQ(one, many);
        EXPECT_EQ(oneScales, manyScales);
        std::vector<uint16_t> oneHalf(values.size(), 1);
        std::vector<uint16_t> manyHalf(values.size(), 2);
        EncodeHalf(values, oneHalf, 1);
        EncodeHalf(values, manyHalf, threads);
        EXPECT_EQ(oneHalf, manyHalf);
    }
}

} // namespace
} // namespace ns3::gradsync
