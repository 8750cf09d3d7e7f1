// SPDX-License-Identifier: GPL-2.0-only
#include "support/nasty-gradients.h"

#include "ns3/gradient-codec.h"
#include "ns3/low-rank.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

CodecSpec
GetPowerSgd(uint32_t rank, uint32_t columns = 0)
{
    auto spec = FindCodec("powersgd")->defaults;
    spec.rank = rank;
    spec.columns = columns;
    return spec;
}

/// What a receiver makes of the next gradient.
Floats
PassLowRank(GradientCodec& codec, const Floats& gradient)
{
    std::vector<std::byte> message(codec.GetMaximumBytes());
    std::vector<std::byte> workspace(codec.GetWorkspaceBytes());
    Floats received(gradient.size(), 77.0F);
    const auto bytes = codec.Compress(gradient, message, workspace);
    EXPECT_EQ(bytes, message.size());
    codec.Decompress(message, received, workspace);
    return received;
}

double
GetFrobenius(const Floats& values)
{
    return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

double
GetDistance(const Floats& a, const Floats& b)
{
    double sum = 0.0;
    for (size_t i = 0; i < a.size(); ++i)
    {
        const double difference = static_cast<double>(a[i]) - b[i];
        sum += difference * difference;
    }
    return std::sqrt(sum);
}

/// PowerSGD's algorithm 1 of one worker in plain double arithmetic, written from the paper.
Doubles
CompressPlainly(const Floats& matrix, const LowRankShape& shape, const Floats& start)
{
    const auto [n, m, r] = shape;
    const auto at = [&matrix, columns = m](size_t i, size_t k) {
        const auto place = i * columns + k;
        return place < matrix.size() ? static_cast<double>(matrix[place]) : 0.0;
    };
    Doubles p(size_t{n} * r, 0.0);
    for (size_t i = 0; i < n; ++i)
    {
        for (size_t j = 0; j < r; ++j)
        {
            for (size_t k = 0; k < m; ++k)
            {
                p[j * n + i] += at(i, k) * start[j * m + k];
            }
        }
    }
    for (size_t j = 0; j < r; ++j)
    {
        double norm = 0.0;
        for (size_t i = 0; i < n; ++i)
        {
            norm += p[j * n + i] * p[j * n + i];
        }
        for (size_t i = 0; i < n; ++i)
        {
            p[j * n + i] /= std::sqrt(norm);
        }
        for (size_t later = j + 1; later < r; ++later)
        {
            double product = 0.0;
            for (size_t i = 0; i < n; ++i)
            {
                product += p[j * n + i] * p[later * n + i];
            }
            for (size_t i = 0; i < n; ++i)
            {
                p[later * n + i] -= product * p[j * n + i];
            }
        }
    }
    Doubles decoded(matrix.size(), 0.0);
    for (size_t j = 0; j < r; ++j)
    {
        for (size_t k = 0; k < m; ++k)
        {
            double q = 0.0;
            for (size_t i = 0; i < n; ++i)
            {
                q += at(i, k) * p[j * n + i];
            }
            for (size_t i = 0; i < n && i * m + k < matrix.size(); ++i)
            {
                decoded[i * m + k] += p[j * n + i] * q;
            }
        }
    }
    return decoded;
}

/// The Q that a codec begins with.
Floats
DrawStart(const LowRankShape& shape)
{
    Floats q(CountColumnFactors(shape), 0.0F);
    RestartColumns(q, shape);
    return q;
}

/// Sum of scale[s] u_s v_s^T, u and v rows of the Hadamard matrix of `size`, divided by its root:
/// scales are the singular values.
Floats
MakeSpectrum(uint32_t size, const Doubles& scales)
{
    Floats matrix(size_t{size} * size);
    for (uint32_t i = 0; i < size; ++i)
    {
        for (uint32_t k = 0; k < size; ++k)
        {
            double sum = 0.0;
            for (uint32_t s = 0; s < scales.size(); ++s)
            {
                // u is row s + 1, v row 3 s + 2: any two differ.
                const int sign = std::popcount((s + 1) & i) + std::popcount((3 * s + 2) & k);
                sum += scales[s] * (sign % 2 == 0 ? 1 : -1) / size;
            }
            matrix[size_t{i} * size + k] = static_cast<float>(sum);
        }
    }
    return matrix;
}

TEST(LowRank, AMatrixIsNearlySquareAndItsFactorsAreItsMessage)
{
    std::mt19937 random(1);
    for (int i = 0; i < 2000; ++i)
    {
        const uint64_t elements = random() >> (random() % 31);
        const uint32_t rank = 1 + random() % 32;
        const auto [rows, columns, same] = GetLowRankShape(elements, 0, rank);
        ASSERT_EQ(same, rank);
        ASSERT_EQ(columns % 4, 0U);
        ASSERT_GE(uint64_t{rows} * columns, elements);
        if (elements > 0)
        {
            ASSERT_LT(uint64_t{rows - 1} * columns, elements); // no row is empty
            // Fewer than four columns more than the root, so at most four rows less.
            ASSERT_LE(rows, columns);
            ASSERT_LE(columns - rows, 8U);
        }
        const uint64_t factors = uint64_t{rank} * (rows + columns);
        const auto spec = GetPowerSgd(rank);
        ASSERT_EQ(StaysDense(spec, elements), factors >= elements);
        ASSERT_EQ(GetMessageBytes(spec, elements), 4 * std::min(factors, elements));
        ASSERT_EQ(GetMergedMessageBytes(spec, elements, 9), 4 * std::min(factors, elements));
    }
    // 10^6 elements: 1000 x 1000. A layer of 512 x 128 x 3 x 3, as the paper takes it: 512 rows of
    // 1152.
    EXPECT_EQ(GetMessageBytes(GetPowerSgd(4), 1'000'000), 4 * 4 * 2000U);
    EXPECT_EQ(GetMessageBytes(GetPowerSgd(2, 1152), 589'824), 4 * 2 * (512 + 1152U));
    EXPECT_EQ(GetMessageBytes(GetPowerSgd(1), 0), 0U);
    EXPECT_FALSE(FindCodec("powersgd")->isSummable); // not by switches
    EXPECT_TRUE(SendsSums(GetPowerSgd(4)));
}

TEST(LowRank, AgreesWithPlainArithmetic)
{
    // With u = 2^-24, a sum of products by 128 lanes of at most 10 elements and 7 halvings is off
    // by at most 18 u of the sum of magnitudes; so P by 18 u |M| |q|, and its subspace by that over
    // what Gram-Schmidt leaves of a column, which of random matrices is no less than a third of |P|
    // ~ |M| |q| / sqrt(m). P P^T M is off twice as much, times |M|: 2 * 3 * 18 u sqrt(m) |M|, and
    // rounding of Q and of the result adds 40 u |M|.
    for (const auto& [elements, columns, rank] :
         {std::tuple{3000U, 0U, 4U}, {2999U, 52U, 3U}, {1001U, 20U, 1U}, {90'000U, 1200U, 4U}})
    {
        const auto shape = GetLowRankShape(elements, columns, rank);
        const auto gradient = MakeRandomGradient(elements, elements);
        const auto codec = MakeCodec(GetPowerSgd(rank, columns), elements);
        const auto received = PassLowRank(*codec, gradient);
        const auto expected = CompressPlainly(gradient, shape, DrawStart(shape));
        const Floats rounded(expected.begin(), expected.end());
        const double allowed = (108 * std::sqrt(shape.columns) + 40) * 0x1p-24;
        EXPECT_LE(GetDistance(received, rounded), allowed * GetFrobenius(gradient)) << elements;
        EXPECT_LT(GetFrobenius(received), 0.9 * GetFrobenius(gradient))
            << "a random matrix has full rank";
    }
}

TEST(LowRank, ColumnsAreOrthonormal)
{
    const LowRankShape shape{3000, 4, 8};
    Floats p = MakeRandomGradient(CountRowFactors(shape), 3);
    // The last column is the sum of the first two, and the third is 0.
    for (uint32_t i = 0; i < shape.rows; ++i)
    {
        p[2 * shape.rows + i] = 0.0F;
        p[7 * shape.rows + i] = p[i] + p[shape.rows + i];
    }
    Orthogonalise(p, shape);
    for (uint32_t a = 0; a < shape.rank; ++a)
    {
        for (uint32_t b = 0; b <= a; ++b)
        {
            double product = 0.0;
            for (uint32_t i = 0; i < shape.rows; ++i)
            {
                product += static_cast<double>(p[a * shape.rows + i]) * p[b * shape.rows + i];
            }
            const bool isKept = a != 2 && b != 2 && a != 7 && b != 7;
            // Elements are rounded to 2^-25 of themselves, once for each column before.
            EXPECT_NEAR(product, a == b && isKept ? 1.0 : 0.0, 8 * 0x1p-24) << a << " " << b;
        }
    }
    EXPECT_TRUE(std::all_of(p.end() - shape.rows, p.end(), [](float v) { return v == 0.0F; }));
}

TEST(LowRank, WhatHasItsRankArrivesWhole)
{
    // Of lower rank, too: what is a sum of other columns is left out, and drawn again. The bound
    // is that of AgreesWithPlainArithmetic, with singular values of up to 8 to 1 in the place of 3.
    for (const auto& scales : {Doubles{1}, {1, 0.5}, {1, 0.5, 0.25}, {1, 0.5, 0.25, 0.125}})
    {
        const auto gradient = MakeSpectrum(64, scales);
        const auto codec = MakeCodec(GetPowerSgd(4), gradient.size());
        for (int iteration = 0; iteration < 3; ++iteration)
        {
            const auto received = PassLowRank(*codec, gradient);
            EXPECT_LE(GetDistance(received, gradient),
                      8 * 36 * 0x1p-24 * 8 * GetFrobenius(gradient))
                << scales.size() << " " << iteration;
        }
    }
}

TEST(LowRank, ItsOwnQLeadsToTheLargestSingularValues)
{
    // Singular values 2^-s: the best that rank 4 can lose is sqrt(sum of 4^-s, s > 3), 0.0722 of a
    // norm of 1.1547, and power iteration approaches it by 1/4 an iteration: ten of them are within
    // a millionth of it.
    Doubles scales;
    for (int s = 0; s < 12; ++s)
    {
        scales.push_back(std::ldexp(1.0, -s));
    }
    const auto gradient = MakeSpectrum(64, scales);
    double best = 0.0;
    for (size_t s = 4; s < scales.size(); ++s)
    {
        best += scales[s] * scales[s];
    }
    best = std::sqrt(best);
    const auto codec = MakeCodec(GetPowerSgd(4), gradient.size());
    const double first = GetDistance(PassLowRank(*codec, gradient), gradient);
    double last = first;
    for (int iteration = 0; iteration < 10; ++iteration)
    {
        last = GetDistance(PassLowRank(*codec, gradient), gradient);
    }
    EXPECT_GT(first, 1.05 * best);
    EXPECT_NEAR(last, best, 1e-5 * best);
}

TEST(LowRank, SumsOfWorkersAreThoseOfTheSumOfTheirGradients)
{
    // The exchange of three workers: P is summed up, then Q. All that differs from one worker with
    // the sum is the order of additions, bounded as in AgreesWithPlainArithmetic.
    constexpr uint32_t ELEMENTS = 5000;
    const auto shape = GetLowRankShape(ELEMENTS, 0, 3);
    const auto start = DrawStart(shape);
    Floats whole(ELEMENTS, 0.0F);
    std::vector<Floats> gradients;
    for (uint32_t worker = 0; worker < 3; ++worker)
    {
        gradients.push_back(MakeRandomGradient(ELEMENTS, worker));
        std::ranges::transform(gradients.back(), whole, whole.begin(), std::plus<>());
    }
    const auto sum = [&](uint64_t numbers, const auto& project) {
        Floats total(numbers, 0.0F);
        for (const auto& gradient : gradients)
        {
            Floats part(numbers);
            project(gradient, part);
            std::ranges::transform(part, total, total.begin(), std::plus<>());
        }
        return total;
    };
    auto p = sum(CountRowFactors(shape), [&](const Floats& gradient, Floats& part) {
        ProjectRows(gradient, shape, start, part);
    });
    Orthogonalise(p, shape);
    const auto q = sum(CountColumnFactors(shape), [&](const Floats& gradient, Floats& part) {
        ProjectColumns(gradient, shape, p, part);
    });
    Floats decoded(ELEMENTS);
    ExpandFactors(p, q, shape, decoded);
    const auto alone = PassLowRank(*MakeCodec(GetPowerSgd(3), ELEMENTS), whole);
    const double allowed = 2 * (108 * std::sqrt(shape.columns) + 40) * 0x1p-24;
    EXPECT_LE(GetDistance(decoded, alone), allowed * GetFrobenius(whole));
    EXPECT_GT(GetDistance(decoded, gradients[0]), 0.1 * GetFrobenius(whole));
}

TEST(LowRank, ErrorFeedbackKeepsWhatWasLost)
{
    // The residual is what was given less what was received. With singular values that are all 1
    // each message holds four of sixteen: what is owed does not grow, so that the mean of what
    // arrives becomes the gradient; without feedback four values arrive and the others never do.
    const auto gradient = MakeSpectrum(64, Doubles(16, 1.0));
    const auto codec = AddErrorFeedback(MakeCodec(GetPowerSgd(4), gradient.size()));
    const auto plain = MakeCodec(GetPowerSgd(4), gradient.size());
    Floats owed(gradient.size(), 0.0F);
    Floats missed(gradient.size(), 0.0F);
    std::vector<double> residuals;
    for (int iteration = 0; iteration < 80; ++iteration)
    {
        const auto received = PassLowRank(*codec, gradient);
        const auto once = PassLowRank(*plain, gradient);
        for (size_t i = 0; i < gradient.size(); ++i)
        {
            owed[i] += gradient[i] - received[i];
            missed[i] += gradient[i] - once[i];
        }
        residuals.push_back(GetFrobenius(owed));
    }
    // A sixteenth of the squares, 16, arrives for each value; twelve never do: 80 sqrt(12).
    EXPECT_NEAR(GetFrobenius(missed), 80 * std::sqrt(12.0), 0.01 * 80 * std::sqrt(12.0));
    EXPECT_LT(residuals.back(), GetFrobenius(missed) / 4);
    EXPECT_LT(*std::max_element(residuals.begin() + 40, residuals.end()),
              1.1 * *std::max_element(residuals.begin(), residuals.begin() + 40));
}

TEST(LowRank, OverflowIsSeenOnceAndZerosAreNoEnd)
{
    const auto codec = MakeCodec(GetPowerSgd(2), 400);
    const Floats zeros(400, 0.0F);
    EXPECT_THAT(PassLowRank(*codec, zeros), testing::Each(0.0F));
    for (const float broken :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    {
        auto gradient = MakeRandomGradient(400);
        gradient[123] = broken;
        for (const float value : PassLowRank(*codec, gradient))
        {
            EXPECT_EQ(std::bit_cast<uint32_t>(value), FLOAT_NAN);
        }
        EXPECT_THAT(PassLowRank(*codec, zeros), testing::Each(0.0F));
        const auto clean = MakeRandomGradient(400, 9);
        const auto decoded = PassLowRank(*codec, clean);
        EXPECT_LT(GetDistance(decoded, clean), GetFrobenius(clean));
    }
    // What no square of a float holds does not overflow in the norms.
    auto large = MakeSpectrum(16, {1.0});
    std::ranges::transform(large, large.begin(), [](float value) { return value * 1e30F; });
    const auto other = MakeCodec(GetPowerSgd(1), large.size());
    EXPECT_LE(GetDistance(PassLowRank(*other, large), large), 1e-5 * GetFrobenius(large));
}

TEST(LowRank, IsTheSameOnAnyNumberOfThreads)
{
    // 2^19 elements and some: four ranges of 2^17.
    constexpr uint32_t ELEMENTS = (1U << 19) + 77;
    const auto shape = GetLowRankShape(ELEMENTS, 0, 3);
    const auto gradient = MakeRandomGradient(ELEMENTS);
    const auto start = DrawStart(shape);
    std::vector<Floats> results;
    for (const uint32_t threads : {1U, 2U, 3U, 4U})
    {
        Floats p(CountRowFactors(shape));
        Floats q(CountColumnFactors(shape));
        Floats decoded(ELEMENTS);
        ProjectRows(gradient, shape, start, p, threads);
        Orthogonalise(p, shape);
        ProjectColumns(gradient, shape, p, q, threads);
        ExpandFactors(p, q, shape, decoded, threads);
        Floats all = p;
        all.insert(all.end(), q.begin(), q.end());
        all.insert(all.end(), decoded.begin(), decoded.end());
        results.push_back(std::move(all));
    }
    for (const auto& result : results)
    {
        ASSERT_EQ(result.size(), results[0].size());
        EXPECT_EQ(std::memcmp(result.data(), results[0].data(), 4 * result.size()), 0);
    }
}

TEST(LowRank, ShortTensorsStayAsTheyAre)
{
    // 64 elements are 8 x 8: 4 * 16 numbers are not fewer.
    const auto gradient = MakeRandomGradient(64);
    const auto codec = MakeCodec(GetPowerSgd(4), gradient.size());
    EXPECT_EQ(codec->GetMaximumBytes(), 256U);
    EXPECT_EQ(PassLowRank(*codec, gradient), gradient);
}

} // namespace
} // namespace ns3::gradsync
