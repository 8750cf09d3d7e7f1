// SPDX-License-Identifier: GPL-2.0-only
// Codecs and selections against the plainest code that does the same. Part of sparse-codec-test.
#include "support/nasty-gradients.h"

#include "ns3/block-top-k.h"
#include "ns3/dgc-selector.h"
#include "ns3/gradient-codec.h"
#include "ns3/gradient-reductions.h"
#include "ns3/quantisers.h"
#include "ns3/sparse-selection.h"
#include "ns3/sparsifier-arithmetic.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <map>
#include <numeric>
#include <tuple>

namespace ns3::gradsync
{
namespace
{

using testing::Each;
using testing::ElementsAre;

constexpr float INF = std::numeric_limits<float>::infinity();

/// NaN above all, then by magnitude.
bool
IsLarger(float a, float b)
{
    return std::isnan(a) ? !std::isnan(b) : !std::isnan(b) && std::abs(a) > std::abs(b);
}

/// Compresses and decompresses with poisoned buffers.
std::vector<float>
Send(GradientCodec& codec, std::span<const float> gradient)
{
    std::vector<std::byte> message(codec.GetMaximumBytes(), std::byte{0x5a});
    std::vector<std::byte> workspace(codec.GetWorkspaceBytes(), std::byte{0x5a});
    std::vector<float> received(gradient.size(), 77.0F);
    const auto bytes = codec.Compress(gradient, message, workspace);
    codec.Decompress(std::span(message).first(bytes), received, workspace);
    return received;
}

std::unique_ptr<GradientCodec>
MakeDefault(const char* codec, uint64_t elements)
{
    return MakeCodec(FindCodec(codec)->defaults, elements);
}

/// DGC as its paper writes it, with a threshold from all elements and room for k.
struct PlainDgc
{
    std::vector<float> u;
    std::vector<float> v;

    std::map<uint32_t, float> Select(const std::vector<float>& gradient, size_t k, double clipNorm)
    {
        long double squares = 0;
        for (const float value : gradient)
        {
            squares += static_cast<long double>(value) * value;
        }
        const auto norm = static_cast<double>(std::sqrt(squares));
        const bool isClipped = std::isfinite(norm) && norm > clipNorm;
        const auto clip = isClipped ? static_cast<float>(clipNorm / norm) : 1.0F;
        for (size_t i = 0; i < u.size(); ++i)
        {
            u[i] = 0.9F * u[i] + gradient[i] * clip;
            v[i] += u[i];
        }
        auto sorted = v;
        std::sort(sorted.begin(), sorted.end(), IsLarger);
        std::map<uint32_t, float> sent;
        for (uint32_t i = 0; i < v.size() && sent.size() < k; ++i)
        {
            if (!IsLarger(sorted[k - 1], v[i]) && v[i] != 0)
            {
                sent[i] = v[i];
                u[i] = v[i] = 0;
            }
        }
        return sent;
    }
};

bool
AreSame(std::span<const float> a, std::span<const float> b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
        return x == y || (std::isnan(x) && std::isnan(y));
    });
}

TEST(Dgc, DoesWhatThePlainestCodeDoesOnEveryGradient)
{
    CodecSpec spec;
    spec.density = 0.1;
    spec.sampleRate = 1.0;
    spec.clipNorm = 0.05;
    auto lengths = GetNastyLengths();
    lengths.back() = 65; // instead of 100,003: 64 elements are looked at as one
    lengths.insert(lengths.end(), {63, 64});
    for (const size_t length : lengths)
    {
        for (const auto& [name, values] : MakeNastyGradients(length))
        {
            SCOPED_TRACE(name + " " + std::to_string(length));
            DgcSelector selector(spec, length);
            PlainDgc plain{std::vector<float>(length, 0.0F), std::vector<float>(length, 0.0F)};
            for (int iteration = 0; iteration < 3; ++iteration)
            {
                std::vector<uint32_t> indices(selector.GetCapacity(), 0xdeadbeefU);
                std::vector<float> selected(selector.GetCapacity(), 77.0F);
                const auto expected = plain.Select(values, indices.size(), spec.clipNorm);
                ASSERT_EQ(selector.Select(values, indices, selected), expected.size());
                size_t position = 0;
                for (const auto& [index, value] : expected)
                {
                    ASSERT_EQ(indices[position], index);
                    ASSERT_TRUE(AreSame({&selected[position++], 1}, {&value, 1}));
                }
                ASSERT_TRUE(AreSame(selector.GetVelocity(), plain.u));
                ASSERT_TRUE(AreSame(selector.GetAccumulated(), plain.v));
            }
        }
    }
}

/// What three iterations of DGC send and keep.
std::tuple<std::vector<uint32_t>, std::vector<float>>
RunDgc(const CodecSpec& spec, const std::vector<float>& gradient, uint32_t threads)
{
    DgcSelector selector(spec, gradient.size());
    std::vector<uint32_t> indices;
    std::vector<float> numbers;
    for (int iteration = 0; iteration < 3; ++iteration)
    {
        std::vector<uint32_t> sent(selector.GetCapacity(), 0xdeadbeefU);
        std::vector<float> selected(selector.GetCapacity(), 77.0F);
        const auto count = selector.Select(gradient, sent, selected, threads);
        EXPECT_TRUE(std::ranges::is_sorted(std::span(sent).first(count)));
        EXPECT_THAT(std::span(sent).subspan(count), Each(0xdeadbeefU));
        indices.insert(indices.end(), sent.begin(), sent.end());
        numbers.insert(numbers.end(), selected.begin(), selected.end());
    }
    const auto u = selector.GetVelocity();
    const auto v = selector.GetAccumulated();
    numbers.insert(numbers.end(), u.begin(), u.end());
    numbers.insert(numbers.end(), v.begin(), v.end());
    return {indices, numbers};
}

TEST(Dgc, GivesTheSameForAnyNumberOfThreads)
{
    // Three times 2^17 elements and a rest: as many ranges. Of 5 % of them as a sample more reach
    // the threshold than there is room for in some iteration; with all of them as the sample and
    // 70 % sent the sample and the message are cut into ranges, too.
    const auto gradient = MakeRandomGradient(3 * (size_t{1} << 17) + 5);
    for (const auto& [density, sampleRate] : {std::pair{0.001, 0.05}, std::pair{0.7, 1.0}})
    {
        CodecSpec spec;
        spec.density = density;
        spec.sampleRate = sampleRate;
        spec.clipNorm = 1.0;
        const auto one = RunDgc(spec, gradient, 1);
        EXPECT_EQ(RunDgc(spec, gradient, 2), one);
        EXPECT_EQ(RunDgc(spec, gradient, 3), one);
    }
}

TEST(Dgc, KeepsAndSendsTheCanonicalNaNWhateverCameIn)
{
    // Room for one of two NaN, and processors differ in the payload of a sum.
    CodecSpec spec;
    spec.density = 0.25;
    spec.sampleRate = 1.0;
    DgcSelector selector(spec, 4);
    std::vector<uint32_t> indices(1, 0xdeadbeefU);
    std::vector<float> values(1, 77.0F);
    const std::vector<float> gradient{1.0F, FromBits(0xff800001U), FromBits(0x7fffffffU), 3.0F};
    ASSERT_EQ(selector.Select(gradient, indices, values), 1U);
    EXPECT_EQ(indices[0], 1U); // NaN are all alike, so the lowest index is the first
    EXPECT_EQ(ToBits(values[0]), FLOAT_NAN);
    EXPECT_EQ(ToBits(selector.GetVelocity()[2]), FLOAT_NAN);
    EXPECT_EQ(ToBits(selector.GetAccumulated()[2]), FLOAT_NAN);
    std::vector<float> velocity{1.0F, -0.0F};
    StepMomentum(std::vector<float>{FromBits(0xff800001U), -0.0F}, 0.5F, velocity);
    EXPECT_EQ(ToBits(velocity[0]), FLOAT_NAN);
    EXPECT_EQ(ToBits(velocity[1]), FLOAT_SIGN);
}

TEST(Sq8, SendsTheLargestElementsInInt8AndNonFiniteBlocksAsNaN)
{
    for (const size_t length : GetNastyLengths())
    {
        for (const auto& [name, values] : MakeNastyGradients(length))
        {
            SCOPED_TRACE(name + " " + std::to_string(length));
            const auto sparse = Send(*MakeDefault("top-k", length), values);
            const auto received = Send(*MakeDefault("sq8", length), values);
            // All that is sent lies in blocks of 8192 of it; of these lengths only the last has
            // two.
            std::vector<uint32_t> sent(CountSelected(0.1, length), 0);
            std::vector<float> selected(sent.size());
            SelectTopK(values, sent.size(), sent, selected);
            for (size_t first = 0; first < sent.size(); first += 8192)
            {
                const auto block =
                    std::span(selected).subspan(first, std::min<size_t>(8192, sent.size() - first));
                std::vector<int8_t> codes(block.size());
                std::vector<float> scale(1);
                std::vector<float> decoded(block.size());
                EncodeInt8Blocks(block, 8192, codes, scale);
                DecodeInt8Blocks(codes, scale, 8192, decoded);
                for (size_t i = 0; i < block.size(); ++i)
                {
                    ASSERT_TRUE(AreSame({&received[sent[first + i]], 1}, {&decoded[i], 1}));
                }
            }
            for (size_t i = 0; i < length; ++i)
            {
                ASSERT_TRUE(sparse[i] != 0 || std::isnan(received[i]) || received[i] == 0);
            }
        }
    }
}

TEST(BiSparse, LeavesShortTensorsAsTheyAreAndSendsOnePercentOfLongOnes)
{
    auto spec = FindCodec("bisparse")->defaults;
    spec.minimumElements = 8193;
    for (const auto& [name, values] : MakeNastyGradients(8192))
    {
        EXPECT_TRUE(AreSame(Send(*MakeCodec(spec, values.size()), values), values)) << name;
    }
    spec.sampleRate = 1.0;
    const auto gradient = MakeRandomGradient(8193);
    const auto received = Send(*MakeCodec(spec, gradient.size()), gradient);
    std::vector<uint32_t> indices(82);
    std::vector<float> largest(82);
    SelectTopK(gradient, 82, indices, largest);
    std::vector<float> expected(gradient.size(), 0.0F);
    for (size_t i = 0; i < indices.size(); ++i)
    {
        expected[indices[i]] = largest[i];
    }
    EXPECT_EQ(received, expected);
}

TEST(Decorators, WhatIsNotFiniteIsLostForGood)
{
    // What fp16 cannot hold arrives as infinity, and what is owed then is none that can be sent.
    const auto gradient = MakeRandomGradient(100);
    auto broken = gradient;
    broken[3] = INF;
    broken[5] = std::numeric_limits<float>::quiet_NaN();
    broken[7] = 1e6F;
    for (const char* kind : {"int8", "fp16", "top-k", "sq8", "bbtopk"})
    {
        auto spec = FindCodec(kind)->defaults;
        spec.density = 1.0;
        const auto codec = AddErrorFeedback(MakeCodec(spec, gradient.size()));
        const auto received = Send(*codec, broken);
        EXPECT_FALSE(std::isfinite(received[3])) << kind;
        EXPECT_TRUE(std::isnan(received[5])) << kind;
        const auto later = Send(*codec, std::vector<float>(gradient.size(), 0.0F));
        EXPECT_TRUE(std::ranges::all_of(later, [](float v) { return std::isfinite(v); })) << kind;
        EXPECT_THAT((std::vector{later[3], later[5]}), Each(0.0F)) << kind;
    }
}

TEST(Codecs, EveryOneHasRoomBeyond24BitsOfIndex)
{
    // Floats count to 2^24 in steps of 1. Four elements are not zero, so that all codecs send them:
    // two-bit as its threshold, int8 as 127 steps of 0.5/127, TernGrad as its scaler, the others as
    // they are but for thc, whose error of 14 % of a block's norm is spread over 4096 elements:
    // 1e-3 each, normal; and powersgd, to which they are a matrix of rank 2: two roundings each of
    // an unit vector and of its product, 4 * 2^-24 of a norm of 1.
    constexpr size_t LENGTH = (1U << 24) + 5;
    std::vector<float> gradient(LENGTH, 0.0F);
    std::vector<float> received(LENGTH);
    std::vector<std::byte> message(4 * LENGTH); // none is longer than the gradient
    std::vector<std::byte> workspace(4 * LENGTH);
    for (const size_t index : {size_t{0}, size_t{1} << 24, (size_t{1} << 24) + 1, LENGTH - 1})
    {
        gradient[index] = -0.5F;
    }
    for (const auto& info : GetCodecs())
    {
        if (info.kind == CodecKind::SignSgd || info.kind == CodecKind::Qsgd)
        {
            continue; // a sign is not 0, and the norm of a bucket is that of all its elements
        }
        auto spec = info.defaults;
        spec.clipDeviations = 0.0;
        const auto codec = MakeCodec(spec, LENGTH);
        ASSERT_LE(std::max(codec->GetMaximumBytes(), codec->GetWorkspaceBytes()), message.size());
        std::fill(received.begin(), received.end(), 77.0F);
        const auto bytes = codec->Compress(gradient, message, workspace);
        codec->Decompress(std::span(message).first(bytes), received, workspace);
        const float allowed = info.kind == CodecKind::Thc        ? 1e-2F
                              : info.kind == CodecKind::PowerSgd ? 3e-7F
                                                                 : 1e-7F;
        EXPECT_TRUE(std::equal(received.begin(),
                               received.end(),
                               gradient.begin(),
                               [=](float a, float b) { return std::abs(a - b) < allowed; }))
            << info.name;
    }
}

TEST(Codecs, AnOffsetBeyondTheLastBlockIsRefused)
{
    // A block of 1024 of which 100 elements exist: one offset of 10 bits, all of them set.
    const auto codec = MakeDefault("bbtopk", 100);
    std::vector<std::byte> message(codec->GetMaximumBytes(), std::byte{0xff});
    std::vector<std::byte> workspace(codec->GetWorkspaceBytes());
    std::vector<float> gradient(100);
    EXPECT_THROW(codec->Decompress(message, gradient, workspace), std::invalid_argument);
}

TEST(PacketExponents, NoValueIsBeyondTheSharesOfASum)
{
    // From 2^127 on no exponent is large enough, nor for infinity: they are cut to a worker's
    // share, so that sums still fit. NaN is 0.
    const std::vector<float> values{std::numeric_limits<float>::max(),
                                    -INF,
                                    std::numeric_limits<float>::quiet_NaN(),
                                    0x1p126F};
    for (const uint32_t workers : {1U, 2U, 7U, 100U})
    {
        std::vector<int8_t> exponents(1, 99);
        std::vector<int32_t> codes(4, 99);
        FindPacketExponents(values, 4, exponents);
        ASSERT_EQ(exponents[0], 127);
        EncodeWithExponents(values, 4, workers, exponents, codes);
        const int64_t share = codes[0];
        EXPECT_LE(share * workers, 2147483647);
        EXPECT_GT(share * workers, 2147483647 - (int64_t{1} << 8) * workers); // 24 bits are kept
        EXPECT_THAT(codes, ElementsAre(share, -share, 0, share / 2));
    }
}

TEST(SelectFromKey, TakesWhatAPlainLoopTakes)
{
    for (const size_t length : GetNastyLengths())
    {
        for (const auto& [name, values] : MakeNastyGradients(length))
        {
            SCOPED_TRACE(name + " " + std::to_string(length));
            std::vector<uint32_t> expected;
            for (uint32_t i = 0; i < length; ++i)
            {
                if (!IsLarger(0.01F, values[i]))
                {
                    expected.push_back(i);
                }
            }
            for (const size_t room : {length, expected.size() / 2})
            {
                std::vector<uint32_t> indices(room, 0xdeadbeefU);
                std::vector<float> selected(room, 77.0F);
                const auto count = SelectFromKey(values, MagnitudeKey(0.01F), indices, selected, 3);
                ASSERT_EQ(count, std::min(room, expected.size()));
                for (size_t i = 0; i < count; ++i)
                {
                    ASSERT_EQ(indices[i], expected[i]);
                    ASSERT_TRUE(AreSame({&selected[i], 1}, {&values[expected[i]], 1}));
                }
            }
        }
    }
}

TEST(Reductions, UnionsOfManyMessagesAreThoseOfAMap)
{
    std::mt19937 generator(11);
    for (const size_t count : {size_t{1}, size_t{2}, size_t{9}})
    {
        std::vector<std::vector<uint32_t>> indices(count);
        std::vector<std::vector<float>> values(count);
        std::vector<SparseGradient> messages;
        std::map<uint32_t, float> expected; // sums in the order of the messages
        for (size_t i = 0; i < count; ++i)
        {
            for (uint32_t index = 0; index < 5000; ++index)
            {
                if (generator() % 4 == 0 && i != 3) // the fourth has nothing to say
                {
                    const auto value = MakeRandomGradient(1, index)[0] * static_cast<float>(i + 1);
                    indices[i].push_back(index);
                    values[i].push_back(value);
                    const auto [sum, isNew] = expected.try_emplace(index, value);
                    sum->second = isNew ? value : sum->second + value;
                }
            }
            messages.push_back({indices[i], values[i]});
        }
        std::vector<uint32_t> found(5000, 0xdeadbeefU);
        std::vector<float> sums(5000, 77.0F);
        ASSERT_EQ(MergeSparse(messages, found, sums), expected.size());
        size_t position = 0;
        for (const auto& [index, sum] : expected)
        {
            ASSERT_EQ(found[position], index);
            ASSERT_EQ(sums[position++], sum);
        }
        EXPECT_THAT(std::span(found).subspan(position), Each(0xdeadbeefU));
    }
}

TEST(Reductions, BlocksEqualPlainLoopsOnEveryGradient)
{
    constexpr double LARGEST = std::numeric_limits<float>::max();
    for (const size_t length : GetNastyLengths())
    {
        for (const auto& [name, values] : MakeNastyGradients(length))
        {
            SCOPED_TRACE(name + " " + std::to_string(length));
            std::vector<uint32_t> bitmap(CountBlocks(length, uint64_t{32} * 256), 0xdeadbeefU);
            std::vector<float> scores(CountBlocks(length, 4096), 0.5F);
            const auto found = FindNonZeroBlocks(values, bitmap);
            ScoreBlocks(values, 0.75F, scores);
            uint64_t expected = 0;
            for (size_t first = 0; first < length; first += 256)
            {
                const auto block =
                    std::span(values).subspan(first, std::min<size_t>(256, length - first));
                const bool isZero = std::ranges::all_of(block, [](float v) { return v == 0; });
                ASSERT_EQ(bitmap[first / 8192] >> (first / 256 % 32) & 1U, isZero ? 0U : 1U);
                expected += isZero ? 0 : 1;
            }
            ASSERT_EQ(found, expected);
            for (size_t block = 0; block < scores.size(); ++block)
            {
                double sum = 0;
                const size_t end = std::min(length, (block + 1) * 4096);
                for (size_t i = block * 4096; i < end; ++i)
                {
                    sum += std::abs(double{values[i]});
                }
                const double mean = sum / static_cast<double>(end - block * 4096);
                const double score = 0.75 * 0.5 + 0.25 * mean;
                // Sums of 4096 floats may leave their range, as theirs does; 12 roundings of lanes.
                ASSERT_TRUE(std::isnan(score) ? std::isnan(scores[block])
                            : sum > LARGEST   ? scores[block] == INF
                                              : std::abs(scores[block] - score) <= 1e-6 * score)
                    << scores[block] << " " << score;
            }
        }
    }
}

TEST(Codecs, GiveTheSameForAnyNumberOfThreads)
{
    const auto values = MakeRandomGradient(300'001);
    const auto words = CountBlocks(values.size(), 16);
    const auto blocks = CountBlockTopK(values.size(), 256, 5);
    const auto run = [&](uint32_t threads) {
        std::vector<float> results(values.size(), 0.0F);
        std::vector<uint32_t> codes(words);
        EncodeTwoBits(values, results, 0.01F, codes, threads);
        std::vector<uint16_t> offsets(blocks);
        std::vector<float> selected(blocks);
        SelectBlockTopK(values, 256, 5, offsets, selected, threads);
        codes.insert(codes.end(), offsets.begin(), offsets.end());
        results.insert(results.end(), selected.begin(), selected.end());
        std::vector<float> scores(CountBlocks(values.size(), DGT_BLOCK_ELEMENTS));
        ScoreBlocks(values, 0.5F, scores, threads);
        results.insert(results.end(), scores.begin(), scores.end());
        std::vector<float> velocity = MakeRandomGradient(values.size(), 2);
        std::vector<float> residual = MakeRandomGradient(values.size(), 3);
        StepMomentum(values, 0.9F, velocity, threads);
        AddDense(velocity, residual, threads);
        KeepResidual(values, residual, threads);
        results.insert(results.end(), velocity.begin(), velocity.end());
        results.insert(results.end(), residual.begin(), residual.end());
        return std::tuple{codes, results, ComputeNorm(values, threads)};
    };
    const auto one = run(1);
    EXPECT_EQ(run(2), one);
    EXPECT_EQ(run(5), one);
}

} // namespace
} // namespace ns3::gradsync
