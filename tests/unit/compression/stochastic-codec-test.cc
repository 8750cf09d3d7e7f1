// SPDX-License-Identifier: GPL-2.0-only
// Codecs that draw random numbers, in sign-vote-test.cc their signs.
#include "support/nasty-gradients.h"

#include "ns3/gradient-codec.h"
#include "ns3/quantisers.h"
#include "ns3/stochastic-quantisers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <numeric>
#include <random>
#include <stdexcept>

namespace ns3::gradsync
{
namespace
{

using testing::Each;
using testing::ElementsAre;

/// What receivers of a codec's next message see.
std::vector<float>
SendTo(GradientCodec& codec, std::span<const float> gradient)
{
    std::vector<std::byte> message(codec.GetMaximumBytes());
    std::vector<std::byte> workspace(codec.GetWorkspaceBytes());
    std::vector<float> received(gradient.size(), 77.0F);
    message.resize(codec.Compress(gradient, message, workspace));
    codec.Decompress(message, received, workspace);
    return received;
}

CodecSpec
MakeQsgd(uint32_t bucket, uint32_t levels)
{
    auto spec = FindCodec("qsgd")->defaults;
    spec.blockElements = bucket;
    spec.levels = levels;
    return spec;
}

CodecSpec
MakeTernGrad(double clipDeviations)
{
    auto spec = FindCodec("terngrad")->defaults;
    spec.clipDeviations = clipDeviations;
    return spec;
}

double
GetNorm(std::span<const float> values)
{
    return std::sqrt(std::accumulate(values.begin(), values.end(), 0.0, [](double sum, float v) {
        return sum + double{v} * v;
    }));
}

TEST(RoundAtRandom, TakesTheUpperNumberAsOftenAsTheFractionSays)
{
    // Of 4096 numbers k 2^20 those with k 2^19 below the fraction in units of 2^-31 round up.
    std::mt19937 generator(1);
    std::uniform_real_distribution<float> uniform(0.0F, 7.0F);
    for (int i = 0; i < 200; ++i)
    {
        const float value = uniform(generator);
        const auto whole = static_cast<uint32_t>(value);
        const double fraction = double{value} - whole;
        const auto expected = static_cast<uint32_t>(std::ceil(fraction * 4096));
        uint32_t up = 0;
        for (uint32_t k = 0; k < 4096; ++k)
        {
            const auto rounded = RoundAtRandom(value, 7.0F, k << 20);
            ASSERT_TRUE(rounded == whole || rounded == whole + 1);
            up += rounded - whole;
        }
        ASSERT_EQ(up, expected) << value;
    }
    for (const uint32_t random : {0U, ~0U})
    {
        EXPECT_EQ(RoundAtRandom(3.0F, 7.0F, random), 3U);
        EXPECT_EQ(RoundAtRandom(7.5F, 7.0F, random), 7U);
        EXPECT_EQ(RoundAtRandom(-1.0F, 7.0F, random), 0U);
        EXPECT_EQ(RoundAtRandom(std::numeric_limits<float>::quiet_NaN(), 7.0F, random), 0U);
    }
}

/// Draws of a codec, for each element their sum, and over all the sum of squared errors.
struct Draws
{
    Draws(const CodecSpec& spec, std::span<const float> gradient, int count)
        : sums(gradient.size(), 0.0)
    {
        const auto codec = MakeCodec(spec, gradient.size());
        for (int i = 0; i < count; ++i)
        {
            const auto received = SendTo(*codec, gradient);
            for (size_t element = 0; element < gradient.size(); ++element)
            {
                sums[element] += received[element];
                const double error = double{received[element]} - gradient[element];
                squaredErrors += error * error;
            }
        }
    }

    std::vector<double> sums;
    double squaredErrors{0.0};
};

constexpr int DRAWS = 3000;

/// Whether the means are those of the gradient: an element lies between two levels that are a step
/// apart, so the variance of a draw is a quarter of its square at most; 6 deviations of the mean,
/// and 3 roundings of float.
void
ExpectMeans(const Draws& draws, std::span<const float> gradient, std::span<const double> steps)
{
    for (size_t i = 0; i < gradient.size(); ++i)
    {
        const double allowed =
            6 * 0.5 * steps[i] / std::sqrt(DRAWS) + 3 * 0x1p-24 * std::abs(gradient[i]);
        ASSERT_NEAR(draws.sums[i] / DRAWS, gradient[i], allowed) << i;
    }
}

TEST(Qsgd, HasTheRightMeanAndTheVarianceOfThePaper)
{
    std::mt19937 generator(3);
    for (const uint32_t levels : {1U, 2U, 7U, 20U, 127U})
    {
        const uint32_t bucket = 1 + generator() % 90;
        const auto gradient = MakeRandomGradient(1 + generator() % 200, levels);
        const Draws draws(MakeQsgd(bucket, levels), gradient, DRAWS);
        std::vector<double> steps;
        double exact = 0;
        double bound = 0;
        for (size_t first = 0; first < gradient.size(); first += bucket)
        {
            const auto part =
                std::span(gradient).subspan(first,
                                            std::min<size_t>(bucket, gradient.size() - first));
            const double norm = GetNorm(part);
            const double n = static_cast<double>(part.size());
            // Lemma 3.1: min(n / s^2, sqrt(n) / s) |v|^2.
            bound += std::min(n / levels / levels, std::sqrt(n) / levels) * norm * norm;
            for (const float value : part)
            {
                const double scaled = std::abs(double{value}) / norm * levels;
                const double up = scaled - std::floor(scaled);
                exact += up * (1 - up) * norm * norm / levels / levels;
                steps.push_back(norm / levels);
            }
        }
        ExpectMeans(draws, gradient, steps);
        EXPECT_LE(exact, bound);
        // A squared error is at most step^2: by Hoeffding the mean of n draws of the sum over all
        // elements, at most the sum S of step^2, is beyond t = S sqrt(ln(2 / 1e-9) / (2 n)) once in
        // 1e9; at 3000 draws t = 0.06 S.
        const double most = std::inner_product(steps.begin(), steps.end(), steps.begin(), 0.0);
        EXPECT_NEAR(draws.squaredErrors / DRAWS, exact, 0.06 * most) << levels;
    }
}

TEST(TernGrad, HasTheRightMeanWithoutClipping)
{
    const auto gradient = MakeRandomGradient(333, 8);
    const double largest =
        std::abs(*std::ranges::max_element(gradient, {}, [](float v) { return std::abs(v); }));
    const Draws draws(MakeTernGrad(0.0), gradient, DRAWS);
    ExpectMeans(draws, gradient, std::vector<double>(gradient.size(), largest));
}

TEST(TernGrad, ClipsAtDeviationsOfTheTensor)
{
    for (const size_t count : {1U, 7U, 4096U, 4097U, 100'003U})
    {
        const auto gradient = MakeRandomGradient(count, static_cast<uint32_t>(count));
        float largest = 0;
        for (const float value : gradient)
        {
            largest = std::max(largest, std::abs(value));
        }
        EXPECT_EQ(FindTernaryScaler(gradient, 0.0), largest);
        const double deviation = GetNorm(gradient) / std::sqrt(static_cast<double>(count));
        const double expected = std::min(double{largest}, 2.5 * deviation);
        EXPECT_NEAR(FindTernaryScaler(gradient, 2.5), expected, 1e-6 * expected);
        // Every element at or beyond the scaler is sent as it, whatever is drawn.
        const auto received = SendTo(*MakeCodec(MakeTernGrad(0.5), count), gradient);
        const float scaler = FindTernaryScaler(gradient, 0.5);
        for (size_t i = 0; i < count; ++i)
        {
            ASSERT_TRUE(std::abs(gradient[i]) < 1.000001F * scaler ||
                        received[i] == std::copysign(scaler, gradient[i]));
        }
    }
    // About their mean they would not deviate at all, and be clipped to nothing.
    const std::vector<float> equal(1000, -0.125F);
    EXPECT_EQ(SendTo(*MakeCodec(MakeTernGrad(2.5), 1000), equal), equal);
}

TEST(TernGrad, SumsOfASharedScalerAreWholeNumbers)
{
    // What CodecSpec::sharesScaler is for: 5 workers, all with the largest scaler.
    std::vector<std::vector<float>> gradients;
    float scaler = 0;
    for (uint32_t worker = 0; worker < 5; ++worker)
    {
        gradients.push_back(MakeRandomGradient(1000, worker));
        scaler = std::max(scaler, FindTernaryScaler(gradients.back(), 2.5));
    }
    std::vector<float> sum(1000, 0.0F);
    for (uint32_t worker = 0; worker < 5; ++worker)
    {
        std::vector<uint32_t> words(63);
        std::vector<float> decoded(1000);
        EncodeTernaryWords(gradients[worker], scaler, {worker, 0}, words);
        DecodeTernaryWords(words, 1.0F, decoded);
        std::transform(sum.begin(), sum.end(), decoded.begin(), sum.begin(), std::plus<>());
    }
    for (const float value : sum)
    {
        ASSERT_EQ(value, std::round(value));
        ASSERT_LE(std::abs(value), 5.0F);
    }
    // 2 * 5 + 1 numbers: 4 bits, 1000 of them in 125 words, and the scaler.
    auto spec = MakeTernGrad(2.5);
    spec.sharesScaler = 1;
    EXPECT_EQ(GetMergedMessageBytes(spec, 1000, 5), 4 + 4 * 125U);
}

TEST(StochasticCodecs, SizesAreThoseOfTheirFormulas)
{
    std::mt19937_64 generator(5);
    for (int i = 0; i < 300; ++i)
    {
        const uint64_t n = generator() % (i < 100 ? 100 : 3'000'000);
        const auto levels = static_cast<uint32_t>(1 + generator() % MAX_QSGD_LEVELS);
        const auto bucket = static_cast<uint32_t>(1 + generator() % 5000);
        // A sign and what tells 0 to s apart, as the next of 2, 4 and 8 bits.
        const double needed = 1 + std::ceil(std::log2(levels + 1.0));
        const uint64_t bits = needed <= 2 ? 2 : needed <= 4 ? 4 : 8;
        EXPECT_EQ(GetMessageBytes(MakeQsgd(bucket, levels), n),
                  (n * bits + 7) / 8 + 4 * ((n + bucket - 1) / bucket));
        const auto terngrad = MakeTernGrad(2.5);
        EXPECT_EQ(GetMessageBytes(terngrad, n), n == 0 ? 0 : 4 + 4 * ((n + 15) / 16));
        const auto signs = FindCodec("signsgd")->defaults;
        EXPECT_EQ(GetMessageBytes(signs, n), 4 * ((n + 31) / 32));
        // Sums: of signs a sign again; of q scalers as many bits as tell 2 q + 1 numbers apart.
        const auto q = static_cast<uint32_t>(1 + generator() % 5000);
        EXPECT_EQ(GetMergedMessageBytes(signs, n, q), GetMessageBytes(signs, n));
        EXPECT_EQ(GetMergedMessageBytes(terngrad, n, q), GetMessageBytes(terngrad, n));
        auto shared = terngrad;
        shared.sharesScaler = 1;
        const auto each = static_cast<uint64_t>(std::ceil(std::log2(2.0 * q + 1)));
        EXPECT_EQ(GetMergedMessageBytes(shared, n, q),
                  n == 0 ? 0 : std::min(4 * n, 4 + 4 * ((n * each + 31) / 32)));
        EXPECT_TRUE(SendsSums(shared) && !SendsSums(terngrad) && !SendsSums(signs));
    }
}

/// The bytes of a codec's first message.
std::vector<unsigned>
GetBytes(const CodecSpec& spec, std::span<const float> gradient)
{
    const auto codec = MakeCodec(spec, gradient.size());
    std::vector<std::byte> message(codec->GetMaximumBytes(), std::byte{0xa5});
    codec->Compress(gradient, message, {});
    std::vector<unsigned> bytes(message.size());
    std::ranges::transform(message, bytes.begin(), [](std::byte b) {
        return static_cast<unsigned>(b);
    });
    return bytes;
}

TEST(StochasticCodecs, MessagesAreLaidOutAsDocumented)
{
    // An element alone in its bucket has the norm for a magnitude, and so the largest level:
    // nothing is drawn. 2.0F is 0x40000000, 1.0F 0x3f800000; little-endian.
    const std::vector<float> alone{0, -2, 0, 0, 0, 1};
    EXPECT_THAT(GetBytes(MakeQsgd(4, 7), alone),
                ElementsAre(0, 0, 0, 0x40, 0, 0, 0x80, 0x3f, 0xf0, 0, 0x70));
    EXPECT_THAT(GetBytes(MakeQsgd(4, 1), alone),
                ElementsAre(0, 0, 0, 0x40, 0, 0, 0x80, 0x3f, 0b1100, 0b0100));
    EXPECT_THAT(GetBytes(MakeQsgd(4, 127), alone),
                ElementsAre(0, 0, 0, 0x40, 0, 0, 0x80, 0x3f, 0, 0xff, 0, 0, 0, 0x7f));
    // 1 is +scaler, 2 is -scaler.
    const std::vector<float> equal{1, -1, 0, 1, -1};
    EXPECT_THAT(GetBytes(MakeTernGrad(0.0), equal),
                ElementsAre(0, 0, 0x80, 0x3f, 0b01001001, 0b10, 0, 0));
    std::vector<float> signs(33, 1.0F);
    signs[0] = signs[9] = signs[32] = -3.0F;
    EXPECT_THAT(GetBytes(FindCodec("signsgd")->defaults, signs),
                ElementsAre(1, 2, 0, 0, 1, 0, 0, 0));
}

TEST(StochasticCodecs, WhatIsNotFiniteIsSeenAndWhatIsTinyIsZero)
{
    for (const size_t length : GetNastyLengths())
    {
        for (const auto& [name, values] : MakeNastyGradients(length))
        {
            SCOPED_TRACE(name + " " + std::to_string(length));
            const auto isFinite = [](float v) { return std::isfinite(v); };
            const auto received = SendTo(*MakeCodec(MakeQsgd(64, 7), length), values);
            for (size_t first = 0; first < length; first += 64)
            {
                const auto count = std::min<size_t>(64, length - first);
                const auto in = std::span(values).subspan(first, count);
                const auto out = std::span(received).subspan(first, count);
                if (!std::ranges::all_of(in, isFinite))
                {
                    ASSERT_TRUE(std::ranges::all_of(out, [](float v) { return std::isnan(v); }));
                    continue;
                }
                // A norm that no float holds is the largest float, and 7 steps of a seventh of it
                // may round beyond that.
                ASSERT_TRUE(name == "largest" || std::ranges::all_of(out, isFinite));
                ASSERT_TRUE(GetNorm(in) > 0x1.01p-120 ||
                            std::ranges::count(out, 0.0F) == static_cast<ptrdiff_t>(count));
            }
            const auto ternary = SendTo(*MakeCodec(MakeTernGrad(2.5), length), values);
            const bool isWhole = std::ranges::all_of(values, isFinite);
            ASSERT_TRUE(std::ranges::all_of(ternary, [=](float v) {
                return isWhole ? std::isfinite(v) : std::isnan(v);
            }));
        }
    }
}

TEST(StochasticCodecs, GiveTheSameForAnyNumberOfThreadsAndDrawAnewForEachMessage)
{
    const auto values = MakeRandomGradient(30'011);
    const auto count = values.size();
    const auto run = [&](uint32_t threads, const RandomStream& stream) {
        std::vector<uint8_t> codes(CountQsgdBytes(count, 7));
        std::vector<float> norms(CountBlocks(count, 37));
        EncodeQsgdBuckets(values, 37, 7, stream, codes, norms, threads);
        std::vector<float> decoded(count);
        DecodeQsgdBuckets(codes, norms, 37, 7, decoded, threads);
        std::vector<uint32_t> words(CountBlocks(count, 16));
        EncodeTernaryWords(values, FindTernaryScaler(values, 2.5, threads), stream, words, threads);
        codes.insert(codes.end(), words.begin(), words.end());
        std::vector<float> zeros(count, 0.0F);
        words.resize(CountBlocks(count, 32));
        EncodeSigns(zeros, stream, words, threads);
        codes.insert(codes.end(), words.begin(), words.end());
        return std::pair(codes, decoded);
    };
    const auto first = run(1, {1, 2});
    for (const uint32_t threads : {2U, 3U, 7U})
    {
        EXPECT_EQ(run(threads, {1, 2}), first);
    }
    // Each word of the counter and of the key counts.
    for (const RandomStream other :
         {RandomStream{2, 2}, {1, 3}, {1, 2 + (1ULL << 32)}, {1 + (1ULL << 32), 2}})
    {
        EXPECT_NE(run(1, other).first, first.first);
    }
    for (const auto* kind : {"qsgd", "terngrad"})
    {
        const auto one = MakeCodec(FindCodec(kind)->defaults, count);
        const auto same = MakeCodec(FindCodec(kind)->defaults, count);
        const auto sent = SendTo(*one, values);
        EXPECT_EQ(SendTo(*same, values), sent);
        EXPECT_NE(SendTo(*one, values), sent);
    }
}

TEST(Decorators, ErrorFeedbackOfQsgdOwesLessThanAStep)
{
    // e is what is owed: |e_i| is below a step of v + e, |v + e| / 127, so over 16 elements
    // |e| <= 4 (|v| + |e|) / 127, that is |e| <= 4 |v| / 123, and a step at most |v| / 123.
    const auto gradient = MakeRandomGradient(160, 4);
    const auto codec = AddErrorFeedback(MakeCodec(MakeQsgd(16, 127), gradient.size()));
    std::vector<double> sent(gradient.size(), 0.0);
    constexpr int MESSAGES = 50;
    for (int i = 0; i < MESSAGES; ++i)
    {
        const auto received = SendTo(*codec, gradient);
        std::transform(received.begin(), received.end(), sent.begin(), sent.begin(), std::plus<>());
    }
    for (size_t i = 0; i < gradient.size(); ++i)
    {
        const double norm = GetNorm(std::span(gradient).subspan(i / 16 * 16, 16));
        // 50 additions of floats below 50 |v|, each rounded by 2^-24 of it.
        const double rounding = MESSAGES * MESSAGES * norm * 0x1p-24;
        ASSERT_LT(std::abs(sent[i] - MESSAGES * double{gradient[i]}), norm / 123 + rounding);
    }
}

TEST(Qsgd, HasRoomBeyond24BitsOfIndex)
{
    // Each alone in its bucket, so that nothing is drawn.
    constexpr size_t LENGTH = (1U << 24) + 5;
    std::vector<float> gradient(LENGTH, 0.0F);
    gradient[1] = 0.5F;
    gradient[LENGTH - 1] = -0.25F;
    EXPECT_EQ(SendTo(*MakeCodec(FindCodec("qsgd")->defaults, LENGTH), gradient), gradient);
    const auto signs = SendTo(*MakeCodec(FindCodec("signsgd")->defaults, LENGTH), gradient);
    EXPECT_EQ(signs[1], 1.0F);
    EXPECT_EQ(signs[LENGTH - 1], -1.0F);
}

TEST(StochasticCodecs, OfNoElementsAreEmpty)
{
    for (const auto& info : GetCodecs())
    {
        const auto codec = MakeCodec(info.defaults, 0);
        EXPECT_EQ(codec->GetMaximumBytes(), 0U) << info.name;
        EXPECT_TRUE(SendTo(*codec, {}).empty());
    }
}

} // namespace
} // namespace ns3::gradsync
