// SPDX-License-Identifier: GPL-2.0-only
#include "support/nasty-gradients.h"

#include "ns3/gradient-codec.h"
#include "ns3/quantisers.h"
#include "ns3/thc.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <gmock/gmock.h>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>
#include <random>
#include <span>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::Each;
using testing::ElementsAre;

/// What all of a group agree on, and their sum so far.
struct ThcGroup
{
    ThcGroup(uint64_t elements, uint32_t granularity)
        : table(MakeThcTable(granularity)),
          norms(CountThcBlocks(elements), 0.0F),
          sums(CountThcCoordinates(elements), 0)
    {
    }

    ThcTable table;
    std::vector<float> norms;
    std::vector<uint8_t> sums;
};

double
GetSquare(const std::vector<float>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0, [](double sum, float value) {
        return sum + double{value} * double{value};
    });
}

TEST(Hadamard, IsItsOwnInverseAndKeepsNorms)
{
    std::mt19937 generator(3);
    for (uint32_t size = 1; size <= THC_BLOCK; size *= 2)
    {
        std::vector<float> values(size);
        for (auto& value : values)
        {
            // Small whole numbers: every sum is exact, below 2^24.
            value = static_cast<float>(static_cast<int>(generator() % 65) - 32);
        }
        auto transformed = values;
        TransformHadamard(transformed);
        // H H = d I, hence |H x|^2 = d |x|^2.
        EXPECT_EQ(GetSquare(transformed), size * GetSquare(values));
        TransformHadamard(transformed);
        for (uint32_t i = 0; i < size; ++i)
        {
            ASSERT_EQ(transformed[i], static_cast<float>(size) * values[i]);
        }
    }
}

TEST(Hadamard, HasTheSignsOfSylvester)
{
    // H[i][j] = (-1)^(number of bits that i and j share).
    for (uint32_t j = 0; j < 64; ++j)
    {
        std::vector<float> unit(64, 0.0F);
        unit[j] = 1.0F;
        TransformHadamard(unit);
        for (uint32_t i = 0; i < 64; ++i)
        {
            ASSERT_EQ(unit[i], std::popcount(i & j) % 2 == 0 ? 1.0F : -1.0F);
        }
    }
}

TEST(Thc, BoundCutsOneIn32)
{
    EXPECT_NEAR(std::erfc(THC_BOUND / std::numbers::sqrt2), 1.0 / 32, 1e-8);
}

/// Mean square error between two grid points, by Simpson's rule.
double
IntegrateRounding(double a, double b)
{
    constexpr int STEPS = 200;
    double sum = 0.0;
    for (int i = 0; i <= STEPS; ++i)
    {
        const double x = a + (b - a) * i / STEPS;
        const double weight = i == 0 || i == STEPS ? 1 : i % 2 == 1 ? 4 : 2;
        sum += weight * (b - x) * (x - a) * std::exp(-x * x / 2);
    }
    return sum * (b - a) / STEPS / 3;
}

TEST(Thc, TableIsTheBestOfAllSymmetricOnes)
{
    // Of 20: the lower half has 0 and seven of 1 ... 9; all 36 are tried.
    constexpr uint32_t GRANULARITY = 20;
    const auto at = [](uint32_t point) {
        return (2.0 * point / GRANULARITY - 1.0) * double{THC_BOUND};
    };
    double least = std::numeric_limits<double>::infinity();
    std::array<uint8_t, THC_LEVELS> best{};
    for (uint32_t mask = 0; mask < 1U << 9; ++mask)
    {
        if (std::popcount(mask) != 7)
        {
            continue;
        }
        std::array<uint8_t, THC_LEVELS> values{};
        uint32_t level = 1;
        for (uint8_t point = 1; point <= 9; ++point)
        {
            if ((mask >> (point - 1) & 1U) != 0)
            {
                values[level++] = point;
            }
        }
        double cost = 0.0;
        for (level = 0; level < 8; ++level)
        {
            values[15 - level] = static_cast<uint8_t>(GRANULARITY - values[level]);
        }
        for (level = 0; level < 15; ++level)
        {
            cost += IntegrateRounding(at(values[level]), at(values[level + 1]));
        }
        best = cost < least ? values : best;
        least = std::min(least, cost);
    }
    EXPECT_THAT(MakeThcTable(GRANULARITY).values, testing::ElementsAreArray(best));
}

TEST(Thc, TablesAscendFromZeroToTheGranularity)
{
    EXPECT_THAT(MakeThcTable(15).values,
                ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    for (uint32_t granularity = 15; granularity <= 255; ++granularity)
    {
        const auto table = MakeThcTable(granularity);
        ASSERT_EQ(table.granularity, granularity);
        ASSERT_EQ(table.values[0], 0);
        ASSERT_EQ(table.values[15], granularity);
        for (uint32_t code = 0; code < 15; ++code)
        {
            ASSERT_LT(table.values[code], table.values[code + 1]);
            ASSERT_EQ(table.values[code] + table.values[15 - code], granularity);
        }
        for (uint32_t whole = 0; whole <= granularity; ++whole)
        {
            const uint32_t code = table.cells[whole] & 0xff;
            ASSERT_LE(table.values[code], whole);
            ASSERT_TRUE(code == 14 || table.values[code + 1] > whole);
            ASSERT_EQ(table.cells[whole],
                      MakeThcCell(code, table.values[code], table.values[code + 1]));
        }
    }
}

TEST(Thc, RoundsUpAsOftenAsThePositionIsNear)
{
    // Between the values 0 and 3 of granularity 30, at 1: one in three of the 2^24 numbers, those
    // below 2^24 / 3 = 5592405.33.
    const auto table = MakeThcTable(30);
    ASSERT_EQ(table.values[1], 3);
    const auto round = [&table](float position, uint32_t random) {
        return RoundThc(position, random << 8, table.cells[static_cast<uint32_t>(position)]);
    };
    EXPECT_EQ(round(1.0F, 5592405), 1U);
    EXPECT_EQ(round(1.0F, 5592406), 0U);
    constexpr uint32_t LAST = (1U << 24) - 1;
    for (uint32_t code = 0; code < THC_LEVELS; ++code)
    {
        // On a value of the table nothing is left to chance.
        const float position = table.values[code];
        EXPECT_EQ(round(position, 0), code);
        EXPECT_EQ(round(position, LAST), code);
    }
    EXPECT_EQ(GetThcPosition(99.0F, GetThcSlope(30), 30), 30.0F);
    EXPECT_EQ(GetThcPosition(-99.0F, GetThcSlope(30), 30), 0.0F);
    EXPECT_EQ(GetThcPosition(0.0F, GetThcSlope(30), 30), 15.0F);
    EXPECT_EQ(GetThcPosition(std::numeric_limits<float>::quiet_NaN(), 1.0F, 30), 0.0F);
}

TEST(Thc, SizesFollowTheClosedForm)
{
    // Blocks of 4096, the last one rounded up to a power of two; 4 B of norm for each, and half a
    // byte for each coordinate, a whole one of sums.
    std::mt19937_64 random(5);
    auto spec = FindCodec("thc")->defaults;
    for (int i = 0; i < 2000; ++i)
    {
        const uint64_t elements = i < 300 ? i : random() >> (32 + random() % 24);
        const uint64_t rest = elements % 4096;
        const uint64_t coordinates = elements - rest + (rest == 0 ? 0 : std::bit_ceil(rest));
        const uint64_t norms = 4 * ((elements + 4095) / 4096);
        ASSERT_EQ(CountThcCoordinates(elements), coordinates);
        ASSERT_EQ(GetMessageBytes(spec, elements), norms + (coordinates + 1) / 2);
        ASSERT_EQ(GetMergedMessageBytes(spec, elements, 1), norms + (coordinates + 1) / 2);
        ASSERT_EQ(GetMergedMessageBytes(spec, elements, 2 + i % 7), norms + coordinates);
        ASSERT_EQ(GetSummandBytes(spec, elements), coordinates);
    }
    EXPECT_EQ(GetMostSummands(spec), 8U); // 8 * 30 = 240
    spec.granularity = 15;
    EXPECT_EQ(GetMostSummands(spec), 17U); // 17 * 15 = 255
    spec.granularity = 255;
    EXPECT_EQ(GetMostSummands(spec), 1U);
}

/// What a decoder's values are in its steps: whole numbers, below 2^24.
std::vector<int64_t>
CountSteps(const std::vector<float>& values, const ThcGroup& group)
{
    std::vector<int64_t> steps(values.size());
    for (size_t i = 0; i < values.size(); ++i)
    {
        const size_t begin = i / THC_BLOCK * THC_BLOCK;
        const auto size =
            GetThcSize(static_cast<uint32_t>(std::min<size_t>(THC_BLOCK, values.size() - begin)));
        const float step =
            MakeThcScale(group.norms[i / THC_BLOCK], group.table.granularity, size).step;
        steps[i] = std::llround(double{values[i]} / double{step});
        EXPECT_EQ(static_cast<float>(steps[i]) * step, values[i]);
    }
    return steps;
}

TEST(Thc, TheSumOfMessagesIsTheMessageOfTheSumToTheLastBit)
{
    // The transform is linear and its arguments whole: in steps of the decoder the sum of what each
    // worker's message says is exactly what the sum of the messages says.
    std::mt19937 random(9);
    for (const uint32_t granularity : {15U, 30U, 31U, 85U, 255U})
    {
        const uint32_t workers = 1 + random() % CountThcWorkers(granularity);
        for (const size_t elements : {1U, 2U, 3U, 100U, 4096U, 4097U, 9000U})
        {
            ThcGroup group(elements, granularity);
            std::vector<std::vector<float>> gradients;
            for (uint32_t worker = 0; worker < workers; ++worker)
            {
                gradients.push_back(MakeRandomGradient(elements, worker + 1));
                std::vector<float> norms(group.norms.size());
                FindThcNorms(gradients.back(), norms);
                std::ranges::transform(norms,
                                       group.norms,
                                       group.norms.begin(),
                                       [](float a, float b) { return std::max(a, b); });
            }
            std::vector<int64_t> expected(elements, 0);
            std::vector<uint8_t> codes(GetThcCodeBytes(group.sums.size()));
            std::vector<float> decoded(elements);
            for (uint32_t worker = 0; worker < workers; ++worker)
            {
                EncodeThc(gradients[worker], group.norms, group.table, {77, worker}, codes);
                DecodeThc(codes, group.norms, group.table, 77, decoded);
                const auto steps = CountSteps(decoded, group);
                std::ranges::transform(steps, expected, expected.begin(), std::plus());
                AddThc(codes, group.table, group.sums);
            }
            DecodeThcSums(group.sums, group.norms, granularity, workers, 77, decoded);
            ASSERT_EQ(CountSteps(decoded, group), expected) << granularity << ' ' << elements;
        }
    }
}

TEST(Thc, TheLargestSumFits)
{
    // One coordinate of each worker at the upper end of the table: workers times granularity.
    for (uint32_t granularity = 15; granularity <= 255; ++granularity)
    {
        const auto table = MakeThcTable(granularity);
        std::vector<uint8_t> sums(2, 0);
        const uint32_t workers = CountThcWorkers(granularity);
        for (uint32_t worker = 0; worker < workers; ++worker)
        {
            AddThc(std::vector<uint8_t>{0x0f}, table, sums);
        }
        ASSERT_THAT(sums, ElementsAre(workers * granularity, 0));
        ASSERT_GT((workers + 1) * granularity, 255U);
    }
}

TEST(Thc, DecodesAsItsFormulaSays)
{
    // x' = D H (2 T - g) t n / (g d), by the matrix and in double precision.
    const auto table = MakeThcTable(30);
    const std::vector<uint8_t> codes{0x10, 0x32, 0x8f, 0x67};
    const std::vector<float> norms{1.75F};
    std::vector<float> values(7);
    DecodeThc(codes, norms, table, 5, values);
    for (uint32_t i = 0; i < 7; ++i)
    {
        double sum = 0.0;
        for (uint32_t j = 0; j < 8; ++j)
        {
            const uint32_t code = codes[j / 2] >> (4 * (j % 2)) & 15U;
            sum += (std::popcount(i & j) % 2 == 0 ? 1 : -1) * (2.0 * table.values[code] - 30);
        }
        const double sign = (DrawThcSigns(5, 0, i) & 1U) != 0 ? -1.0 : 1.0;
        const double expected = sign * sum * double{THC_BOUND} * 1.75 / (30 * 8);
        EXPECT_NEAR(values[i], expected, 1e-6 * std::abs(expected)) << i;
    }
}

TEST(Thc, IsUnbiasedWhereNothingIsCut)
{
    // A gradient with one element: all coordinates are +-1, below the bound. Each lies at p between
    // the table's values a and b: variance (b - p)(p - a), mean p. An element is the sum of d of
    // these in steps of 2 t n / (g d), independent: its variance is d times theirs in these steps.
    constexpr uint32_t SIZE = 64;
    constexpr int TRIES = 4000;
    const auto table = MakeThcTable(30);
    std::vector<float> gradient(SIZE, 0.0F);
    gradient[11] = -3.0F;
    std::vector<float> norms(1);
    FindThcNorms(gradient, norms);
    ASSERT_EQ(norms[0], 3.0F);
    std::vector<double> means(SIZE, 0.0);
    std::vector<uint8_t> codes(SIZE / 2);
    std::vector<float> decoded(SIZE);
    double square = 0.0;
    for (int draw = 0; draw < TRIES; ++draw)
    {
        const auto iteration = static_cast<uint64_t>(draw);
        EncodeThc(gradient, norms, table, {iteration, 1}, codes);
        DecodeThc(codes, norms, table, iteration, decoded);
        for (uint32_t i = 0; i < SIZE; ++i)
        {
            const double error = double{decoded[i]} - double{gradient[i]};
            means[i] += error / TRIES;
            square += error * error / TRIES / SIZE;
        }
    }
    const double position = 15.0 * (1.0 + 1.0 / double{THC_BOUND}); // 21.96: between 21 and 23
    ASSERT_EQ(table.cells[21] >> 8, 21U | 2U << 8); // the value 21, and 2 up to the next
    const double step = 2 * double{THC_BOUND} * 3.0 / (30.0 * SIZE);
    const double variance = SIZE * (23 - position) * (position - 21) * step * step;
    EXPECT_NEAR(square, variance, 0.02 * variance);
    const double deviation = std::sqrt(variance / TRIES);
    EXPECT_THAT(means,
                Each(testing::AllOf(testing::Gt(-5 * deviation), testing::Lt(5 * deviation))));
}

TEST(Thc, ErrorsOfWorkersAverageOut)
{
    // Workers with one gradient, each with its own random numbers: the error of the mean of eight
    // falls by 8, but for what is cut, which all cut alike. Expected of a normal coordinate: what
    // rounding adds, and what the bound cuts, 2 E (z - t)^2 above it.
    constexpr size_t ELEMENTS = 1U << 18;
    const auto gradient = MakeRandomGradient(ELEMENTS);
    ThcGroup group(ELEMENTS, 30);
    FindThcNorms(gradient, group.norms);
    std::vector<uint8_t> codes(GetThcCodeBytes(group.sums.size()));
    std::vector<float> decoded(ELEMENTS);
    const auto measure = [&](uint32_t workers) {
        std::ranges::fill(group.sums, uint8_t{0});
        for (uint32_t worker = 0; worker < workers; ++worker)
        {
            EncodeThc(gradient, group.norms, group.table, {3, worker}, codes);
            AddThc(codes, group.table, group.sums);
        }
        DecodeThcSums(group.sums, group.norms, 30, workers, 3, decoded);
        double square = 0.0;
        for (size_t i = 0; i < ELEMENTS; ++i)
        {
            square += std::pow(double{decoded[i]} / workers - double{gradient[i]}, 2);
        }
        return square / GetSquare(gradient);
    };
    const double t = THC_BOUND;
    const double density = std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi);
    const double cut = 2 * ((1 + t * t) / 64 - t * density);
    double rounding = 0.0;
    for (uint32_t code = 0; code < 15; ++code)
    {
        rounding += IntegrateRounding((2.0 * group.table.values[code] / 30 - 1) * t,
                                      (2.0 * group.table.values[code + 1] / 30 - 1) * t) /
                    std::sqrt(2 * std::numbers::pi);
    }
    EXPECT_NEAR(measure(1), cut + rounding, 0.02 * (cut + rounding));
    EXPECT_NEAR(measure(8), cut + rounding / 8, 0.03 * (cut + rounding / 8));
}

/// A codec's message, decoded.
std::vector<float>
Pass(GradientCodec& codec, const std::vector<float>& gradient)
{
    std::vector<std::byte> message(codec.GetMaximumBytes());
    std::vector<std::byte> workspace(codec.GetWorkspaceBytes());
    std::vector<float> received(gradient.size());
    const auto bytes = codec.Compress(gradient, message, workspace);
    EXPECT_EQ(bytes, GetMessageBytes(FindCodec("thc")->defaults, gradient.size()));
    codec.Decompress(std::span(message).first(bytes), received, workspace);
    return received;
}

TEST(Thc, BlocksThatAreNotFiniteAreSeenAndOthersAreNot)
{
    for (const float bad :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    {
        auto gradient = MakeRandomGradient(3 * THC_BLOCK);
        gradient[THC_BLOCK + 17] = bad;
        const auto codec = MakeCodec(FindCodec("thc")->defaults, gradient.size());
        const auto received = Pass(*codec, gradient);
        for (size_t i = 0; i < received.size(); ++i)
        {
            ASSERT_EQ(std::isnan(received[i]), i / THC_BLOCK == 1) << i;
        }
        const auto later = Pass(*codec, std::vector<float>(gradient.size(), 0.0F));
        EXPECT_THAT(later, Each(0.0F));
    }
    // Too small for a norm's inverse: zeros. As large as can be: the norm is no float any more.
    const auto codec = MakeCodec(FindCodec("thc")->defaults, 100);
    EXPECT_THAT(Pass(*codec, std::vector<float>(100, 0x1p-126F)), Each(0.0F));
    const auto largest = Pass(*codec, std::vector<float>(100, std::numeric_limits<float>::max()));
    EXPECT_TRUE(std::ranges::all_of(largest, [](float value) { return std::isnan(value); }));
}

TEST(Thc, GivesTheSameForAnyNumberOfThreads)
{
    const auto values = MakeRandomGradient(600'001);
    const auto run = [&values](uint32_t threads) {
        ThcGroup group(values.size(), 30);
        FindThcNorms(values, group.norms, threads);
        std::vector<uint8_t> codes(GetThcCodeBytes(group.sums.size()), 0xff);
        EncodeThc(values, group.norms, group.table, {1, 2}, codes, threads);
        AddThc(codes, group.table, group.sums, threads);
        std::vector<float> decoded(values.size());
        DecodeThcSums(group.sums, group.norms, 30, 1, 1, decoded, threads);
        std::vector<float> same(values.size());
        DecodeThc(codes, group.norms, group.table, 1, same, threads);
        EXPECT_EQ(decoded, same);
        return std::tuple{group.norms, codes, decoded};
    };
    const auto one = run(1);
    EXPECT_EQ(run(2), one);
    EXPECT_EQ(run(5), one);
}

TEST(Thc, ErrorFeedbackOwesNoMoreThanOneMessageLoses)
{
    // What was received up to now and what is owed add up to all gradients; what is owed stays
    // below a bound, here a few times what one message loses, 14 % of the norm.
    auto gradient = MakeRandomGradient(5000);
    const auto codec = AddErrorFeedback(MakeCodec(FindCodec("thc")->defaults, gradient.size()));
    std::vector<double> owed(gradient.size(), 0.0);
    for (int iteration = 0; iteration < 50; ++iteration)
    {
        const auto received = Pass(*codec, gradient);
        double square = 0.0;
        for (size_t i = 0; i < owed.size(); ++i)
        {
            owed[i] += double{gradient[i]} - double{received[i]};
            square += owed[i] * owed[i];
        }
        ASSERT_LT(std::sqrt(square / GetSquare(gradient)), 0.3) << iteration;
    }
}

TEST(Thc, SeedsRoundDifferentlyAndIterationsTurnDifferently)
{
    const auto gradient = MakeRandomGradient(1000);
    auto spec = FindCodec("thc")->defaults;
    const auto one = Pass(*MakeCodec(spec, gradient.size()), gradient);
    EXPECT_EQ(Pass(*MakeCodec(spec, gradient.size()), gradient), one);
    spec.seed = 1;
    const auto other = MakeCodec(spec, gradient.size());
    const auto first = Pass(*other, gradient);
    EXPECT_NE(first, one);
    EXPECT_NE(Pass(*other, gradient), first);
    EXPECT_NE(DrawThcSigns(0, 0, 0), DrawThcSigns(1, 0, 0));
}

} // namespace
} // namespace ns3::gradsync
