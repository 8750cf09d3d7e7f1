// SPDX-License-Identifier: GPL-2.0-only
#include "support/nasty-gradients.h"

#include "ns3/block-top-k.h"
#include "ns3/dgc-selector.h"
#include "ns3/gradient-codec.h"
#include "ns3/gradient-reductions.h"
#include "ns3/sparse-selection.h"
#include "ns3/sparsifier-arithmetic.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <numeric>
#include <utility>

namespace ns3::gradsync
{
namespace
{

using testing::Each;
using testing::ElementsAre;

/// Bit patterns, so that NaN can be compared.
std::vector<uint32_t>
ToBitList(std::span<const float> values)
{
    std::vector<uint32_t> bits(values.size());
    std::transform(values.begin(), values.end(), bits.begin(), ToBits);
    return bits;
}

/// The k largest by sorting, ascending indices.
std::vector<uint32_t>
SortTopK(std::span<const float> values, size_t k)
{
    std::vector<uint32_t> order(values.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        return MagnitudeKey(values[a]) > MagnitudeKey(values[b]);
    });
    order.resize(std::min(k, order.size()));
    std::sort(order.begin(), order.end());
    return order;
}

struct Selection
{
    std::vector<uint32_t> indices;
    std::vector<float> values;
};

Selection
TopK(std::span<const float> values, size_t k, uint32_t threads = 0)
{
    const size_t room = std::min(k, values.size());
    Selection selection{std::vector<uint32_t>(room, 0xdeadbeefU), std::vector<float>(room, 77.0F)};
    EXPECT_EQ(SelectTopK(values, k, selection.indices, selection.values, threads), room);
    return selection;
}

TEST(SparseTopK, EqualsSortingWithTheLowestIndexAmongEquals)
{
    for (const size_t length : GetNastyLengths())
    {
        for (const auto& [name, values] : MakeNastyGradients(length))
        {
            for (const size_t k :
                 {size_t{0}, size_t{1}, length / 10, length / 2, length, length + 1})
            {
                SCOPED_TRACE(name + " " + std::to_string(length) + " " + std::to_string(k));
                const auto expected = SortTopK(values, k);
                const auto selection = TopK(values, k);
                ASSERT_EQ(selection.indices, expected);
                for (size_t i = 0; i < expected.size(); ++i)
                {
                    ASSERT_EQ(ToBits(selection.values[i]), ToBits(values[expected[i]]));
                }
            }
        }
    }
}

TEST(SparseTopK, IsTheSameForAnyNumberOfThreadsAndBeyond24BitsOfIndex)
{
    // Values repeat every 2^20 elements, so ties lie in the ranges of different threads.
    std::vector<float> values((1U << 24) + 5);
    for (size_t i = 0; i < values.size(); ++i)
    {
        values[i] = static_cast<float>((i * 2'654'435'761U) % (1U << 20));
    }
    values[(1U << 24) + 3] = -3e6F;
    const auto one = TopK(values, 1000, 1);
    EXPECT_EQ(one.indices.back(), (1U << 24) + 3);
    EXPECT_EQ(one.values.back(), -3e6F);
    // 2654435761 is odd, so each value below 2^20 occurs in each of 16 periods: the 999 others
    // are 62 values of 16 each and the seven lowest indices of the next smaller one.
    const float cut = static_cast<float>((1U << 20) - 63);
    EXPECT_EQ(std::count(one.values.begin(), one.values.end(), cut), 7);
    for (const uint32_t threads : {2U, 3U, 7U})
    {
        EXPECT_EQ(TopK(values, 1000, threads).indices, one.indices);
    }
}

TEST(SelectFromKey, TakesWhatReachesTheThresholdUntilTheOutputIsFull)
{
    const std::vector<float> values{0.1F, -0.5F, 0.5F, 0.0F, 2.0F, -0.4F};
    std::vector<uint32_t> indices(6, 99);
    std::vector<float> selected(6, 77.0F);
    EXPECT_EQ(SelectFromKey(values, MagnitudeKey(0.5F), indices, selected), 3U);
    EXPECT_THAT(indices, ElementsAre(1, 2, 4, 99, 99, 99));
    EXPECT_THAT(selected, ElementsAre(-0.5F, 0.5F, 2.0F, 77.0F, 77.0F, 77.0F));
    EXPECT_EQ(SelectFromKey(values,
                            MagnitudeKey(0.5F),
                            std::span(indices).first(2),
                            std::span(selected).first(2)),
              2U);
}

TEST(OkTopK, RegionsHoldEquallyManySelectedElements)
{
    // 10 indices in 4 regions: cuts before the elements number 2, 5 and 7.
    const std::vector<uint32_t> indices{3, 5, 8, 9, 20, 21, 30, 77, 80, 99};
    std::vector<uint32_t> ends(4, 0xdeadbeefU);
    ProposeRegionEnds(indices, 100, ends);
    EXPECT_THAT(ends, ElementsAre(8, 21, 77, 100));
    std::vector<uint32_t> counts(4, 0xdeadbeefU);
    CountPerRegion(indices, ends, counts);
    EXPECT_THAT(counts, ElementsAre(2, 3, 2, 3));
    ProposeRegionEnds({}, 100, ends);
    EXPECT_THAT(ends, ElementsAre(25, 50, 75, 100));
}

TEST(BbTopK, SelectsInEachBlockAsSortingDoes)
{
    for (const size_t length : GetNastyLengths())
    {
        for (const auto& [name, values] : MakeNastyGradients(length))
        {
            SCOPED_TRACE(name + " " + std::to_string(length));
            constexpr uint32_t BLOCK = 256;
            constexpr uint32_t K = 5;
            const auto room = CountBlockTopK(length, BLOCK, K);
            std::vector<uint16_t> offsets(room, 0xdead);
            std::vector<float> selected(room, 77.0F);
            ASSERT_EQ(SelectBlockTopK(values, BLOCK, K, offsets, selected), room);
            size_t position = 0;
            for (size_t first = 0; first < length; first += BLOCK)
            {
                const auto block =
                    std::span(values).subspan(first, std::min<size_t>(BLOCK, length - first));
                for (const uint32_t index : SortTopK(block, K))
                {
                    ASSERT_EQ(offsets[position], index);
                    ASSERT_EQ(ToBits(selected[position++]), ToBits(block[index]));
                }
            }
            ASSERT_EQ(position, room);
        }
    }
}

TEST(BbTopK, OffsetsOfAnyWidthComeBackFromTheirStream)
{
    for (uint32_t bits = 1; bits <= 16; ++bits)
    {
        std::vector<uint16_t> offsets(1001);
        for (size_t i = 0; i < offsets.size(); ++i)
        {
            offsets[i] = static_cast<uint16_t>((i * 40'503U) & ((1U << bits) - 1));
        }
        std::vector<uint32_t> words((offsets.size() * bits + 31) / 32, 0xdeadbeefU);
        std::vector<uint16_t> back(offsets.size(), 0xdead);
        PackOffsets(offsets, bits, words);
        UnpackOffsets(words, bits, back);
        ASSERT_EQ(back, offsets) << bits;
    }
}

TEST(Dgc, SelectsByItsRulesAndKeepsTheRest)
{
    // Sample rate 1: the threshold is exact. Density 0.5 of 4: two elements. m = 0.5.
    CodecSpec spec;
    spec.density = 0.5;
    spec.sampleRate = 1.0;
    spec.momentum = 0.5;
    DgcSelector selector(spec, 4);
    std::vector<uint32_t> indices(2, 99);
    std::vector<float> values(2, 77.0F);
    ASSERT_EQ(selector.Select(std::vector<float>{1.0F, -4.0F, 3.0F, 2.0F}, indices, values), 2U);
    EXPECT_THAT(indices, ElementsAre(1, 2));
    EXPECT_THAT(values, ElementsAre(-4.0F, 3.0F));
    EXPECT_THAT(selector.GetVelocity(), ElementsAre(1.0F, 0.0F, 0.0F, 2.0F));
    // u = 0.5 u + g = {1.5, 1, 1, 1}; v = v + u = {2.5, 1, 1, 3}: the masked ones start anew.
    ASSERT_EQ(selector.Select(std::vector<float>{1.0F, 1.0F, 1.0F, 0.0F}, indices, values), 2U);
    EXPECT_THAT(indices, ElementsAre(0, 3));
    EXPECT_THAT(values, ElementsAre(2.5F, 3.0F));
    EXPECT_THAT(selector.GetAccumulated(), ElementsAre(0.0F, 1.0F, 1.0F, 0.0F));
}

TEST(Dgc, ClipsByTheNorm)
{
    CodecSpec spec;
    spec.density = 1.0;
    spec.sampleRate = 1.0;
    spec.clipNorm = 1.0;
    DgcSelector selector(spec, 2);
    std::vector<uint32_t> indices(2, 99);
    std::vector<float> values(2, 77.0F);
    // |(3, 4)| = 5, so by 1/5.
    selector.Select(std::vector<float>{3.0F, 4.0F}, indices, values);
    EXPECT_THAT(values, ElementsAre(3.0F * 0.2F, 4.0F * 0.2F));
}

TEST(Dgc, SendsFewerAndFewerElementsInItsWarmUp)
{
    CodecSpec spec;
    spec.kind = CodecKind::Dgc;
    spec.density = 0.004;
    spec.sampleRate = 1.0;
    spec.warmUp = 2;
    EXPECT_EQ(GetDensity(spec, 0), 0.25);
    EXPECT_EQ(GetDensity(spec, 9), 0.004); // not 0.001, which is below the codec's own
    EXPECT_EQ(GetDensity(spec, 10), 0.004);
    const auto gradient = MakeRandomGradient(1000);
    const auto codec = MakeCodec(spec, gradient.size());
    EXPECT_EQ(codec->GetMaximumBytes(), 8U * 250);
    std::vector<std::byte> message(codec->GetMaximumBytes());
    std::vector<std::byte> workspace(codec->GetWorkspaceBytes());
    std::vector<uint64_t> bytes(8);
    for (auto& size : bytes)
    {
        size = codec->Compress(gradient, message, workspace);
    }
    // Two iterations each of 250, 63, 15 and 4 of 1000 elements, at 8 bytes.
    EXPECT_THAT(bytes, ElementsAre(2000, 2000, 504, 504, 120, 120, 32, 32));
    spec.warmUp = 0;
    EXPECT_EQ(GetDensity(spec, 0), 0.004);
}

TEST(Dgc, ASampledThresholdFindsAboutTheWantedShareAndNothingIsLost)
{
    CodecSpec spec;
    spec.density = 0.01;
    spec.sampleRate = 0.05;
    spec.momentum = 0.0;
    const auto gradient = MakeRandomGradient(200'000);
    DgcSelector selector(spec, gradient.size());
    std::vector<uint32_t> indices(selector.GetCapacity());
    std::vector<float> values(selector.GetCapacity());
    const auto count = selector.Select(gradient, indices, values);
    // The threshold is the 100th of 10,000 samples: the share of all above it has a standard
    // deviation of 10 %; five of them below, and never more than the capacity of 1 %.
    EXPECT_GE(count, 1000U);
    EXPECT_LE(count, 2000U);
    std::vector<float> whole(selector.GetAccumulated().begin(), selector.GetAccumulated().end());
    for (size_t i = 0; i < count; ++i)
    {
        ASSERT_EQ(whole[indices[i]], 0.0F);
        whole[indices[i]] = values[i];
    }
    EXPECT_EQ(whole, gradient);
}

TEST(Dgc, SendsNoZerosAndIsRidOfNaNAtOnce)
{
    CodecSpec spec;
    spec.density = 0.25;
    spec.sampleRate = 1.0;
    DgcSelector selector(spec, 4);
    std::vector<uint32_t> indices(1, 99);
    std::vector<float> values(1, 77.0F);
    EXPECT_EQ(selector.Select(std::vector<float>(4, 0.0F), indices, values), 0U);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(selector.Select(std::vector<float>{1.0F, 2.0F, nan, 3.0F}, indices, values), 1U);
    EXPECT_EQ(indices[0], 2U);
    EXPECT_TRUE(std::isnan(values[0]));
    EXPECT_THAT(selector.GetAccumulated(), ElementsAre(1.0F, 2.0F, 0.0F, 3.0F));
}

TEST(Reductions, SparseMessagesMergeInTheirOrder)
{
    const std::vector<uint32_t> a{1, 4, 7};
    const std::vector<uint32_t> b{0, 4};
    const std::vector<float> x{1.0F, 2.0F, 3.0F};
    const std::vector<float> y{5.0F, 0.5F};
    std::vector<uint32_t> indices(5, 99);
    std::vector<float> values(5, 77.0F);
    ASSERT_EQ(MergeSparse({{a, x}, {b, y}, {}}, indices, values), 4U);
    EXPECT_THAT(indices, ElementsAre(0, 1, 4, 7, 99));
    EXPECT_THAT(values, ElementsAre(5.0F, 1.0F, 2.5F, 3.0F, 77.0F));
    std::vector<float> dense(8, 1.0F);
    AddSparse({a, x}, dense);
    AddDense(std::vector<float>(8, 0.5F), dense);
    EXPECT_THAT(dense, ElementsAre(1.5F, 2.5F, 1.5F, 1.5F, 3.5F, 1.5F, 1.5F, 4.5F));
}

TEST(Reductions, NormsAndContributionsEqualDoublePrecisionAndNeverOverflow)
{
    for (const size_t length : GetNastyLengths())
    {
        for (const auto& [name, values] : MakeNastyGradients(length))
        {
            if (name == "infinities" || name == "NaN")
            {
                continue;
            }
            SCOPED_TRACE(name + " " + std::to_string(length));
            long double squares = 0;
            for (const float value : values)
            {
                squares += static_cast<long double>(value) * value;
            }
            const auto norm = static_cast<double>(std::sqrt(squares));
            ASSERT_NEAR(ComputeNorm(values), norm, norm * 1e-12);
        }
    }
    EXPECT_TRUE(std::isnan(ComputeNorm(std::vector<float>{1.0F, std::nanf("")})));
}

TEST(Dgt, AContributionIsTheMovingMeanOfTheMagnitudes)
{
    // A whole block of +-0.25 and a rest of 10 of -3; memory 0.75: 0.25 C + 0.75 of the past.
    std::vector<float> values(DGT_BLOCK_ELEMENTS + 10, -3.0F);
    std::fill_n(values.begin(), DGT_BLOCK_ELEMENTS, 0.25F);
    std::vector<float> contributions{0.0F, 4.0F};
    ScoreBlocks(values, 0.75F, contributions);
    EXPECT_THAT(contributions, ElementsAre(0.0625F, 0.75F + 3.0F));
}

TEST(OmniReduce, ABlockIsZeroIfAllOfItIsEitherZero)
{
    constexpr size_t BLOCK = ZERO_BLOCK_ELEMENTS;
    std::vector<float> values(40 * BLOCK + 3, -0.0F);
    values[5 * BLOCK + 255] = 1e-45F;
    values[33 * BLOCK] = std::nanf("");
    values.back() = 1.0F;
    std::vector<uint32_t> bitmap(2, 0xdeadbeefU);
    EXPECT_EQ(FindNonZeroBlocks(values, bitmap), 3U);
    EXPECT_THAT(bitmap, ElementsAre(1U << 5, 1U << 1 | 1U << 8));
}

/// Compresses and decompresses with poisoned buffers.
std::vector<float>
SendOnce(GradientCodec& codec, std::span<const float> gradient)
{
    std::vector<std::byte> message(codec.GetMaximumBytes() + 1, std::byte{0x5a});
    std::vector<std::byte> workspace(codec.GetWorkspaceBytes(), std::byte{0x5a});
    std::vector<float> received(gradient.size(), 77.0F);
    const auto bytes =
        codec.Compress(gradient, std::span(message).first(codec.GetMaximumBytes()), workspace);
    EXPECT_LE(bytes, codec.GetMaximumBytes());
    EXPECT_EQ(message.back(), std::byte{0x5a});
    codec.Decompress(std::span(message).first(bytes), received, workspace);
    return received;
}

TEST(Codecs, EveryOneTakesEveryGradient)
{
    for (const auto& info : GetCodecs())
    {
        for (const size_t length : GetNastyLengths())
        {
            for (const auto& [name, values] : MakeNastyGradients(std::min<size_t>(length, 8193)))
            {
                SCOPED_TRACE(info.name + " " + name + " " + std::to_string(length));
                const auto codec = MakeCodec(info.defaults, values.size());
                const auto received = SendOnce(*codec, values);
                ASSERT_EQ(codec->GetMaximumBytes(), GetMessageBytes(info.defaults, values.size()));
                if (info.kind == CodecKind::Fp32)
                {
                    ASSERT_EQ(ToBitList(received), ToBitList(values));
                }
            }
        }
    }
}

TEST(Codecs, SparseOnesSendTheLargestElementsAsTheyAre)
{
    const auto gradient = MakeRandomGradient(8192);
    auto spec = FindCodec("top-k")->defaults;
    const auto received = SendOnce(*MakeCodec(spec, gradient.size()), gradient);
    for (const uint32_t index : SortTopK(gradient, 819))
    {
        ASSERT_EQ(received[index], gradient[index]);
    }
    EXPECT_EQ(std::count(received.begin(), received.end(), 0.0F), 8192 - 819);
    spec = FindCodec("bbtopk")->defaults;
    const auto blocks = SendOnce(*MakeCodec(spec, gradient.size()), gradient);
    // 1 % of 1024 are 10 in each of 8 blocks.
    EXPECT_EQ(std::count(blocks.begin(), blocks.end(), 0.0F), 8192 - 80);
    for (size_t i = 0; i < gradient.size(); ++i)
    {
        ASSERT_TRUE(blocks[i] == 0.0F || blocks[i] == gradient[i]);
    }
}

TEST(Codecs, MessagesHaveTheSizesOfTheReference)
{
    // Reference, section 3: int8 D + 4 D/8192, top 10 % 8 B each, sq8 5 B each and scales, DGC
    // 0.1 % of 8 B, BiSparse 1 % of 8 B from 200,000 elements on, bbTopk 52.5 B per block of 1024.
    const auto size = [](const char* codec, uint64_t elements) {
        return GetMessageBytes(FindCodec(codec)->defaults, elements);
    };
    EXPECT_EQ(size("int8", 8'192'000), 8'192'000 + 4 * 1000U);
    EXPECT_EQ(size("int8", 8193), 8193 + 8U);
    EXPECT_EQ(size("fp16", 1001), 2002U);
    EXPECT_EQ(size("bf16", 1001), 2002U);
    EXPECT_EQ(size("two-bit", 1000), 252U);
    EXPECT_EQ(size("fixed-point", 1000), 4000U);
    EXPECT_EQ(size("top-k", 1'000'000), 800'000U);
    EXPECT_EQ(size("sq8", 819'200), 5 * 81'920 + 4 * 10U);
    EXPECT_EQ(size("dgc", 1'000'000), 8000U);
    EXPECT_EQ(size("bisparse", 199'999), 799'996U);
    EXPECT_EQ(size("bisparse", 21'887'500), 8 * 218'875U);
    EXPECT_EQ(size("bbtopk", 2048), 105U);
    EXPECT_EQ(size("qsgd", 5'120'000), 2'560'000 + 4 * 10'000U);
    EXPECT_EQ(size("terngrad", 1000), 4 + 252U);
    EXPECT_EQ(size("signsgd", 1000), 128U);
    EXPECT_EQ(size("top-k", 0), 0U);
    // Values of 2 B in place of 4.
    const auto halfSize = [](const char* codec, uint64_t elements) {
        auto spec = FindCodec(codec)->defaults;
        spec.valueBits = 16;
        EXPECT_EQ(GetCodecName(spec), std::string(codec) + "-fp16");
        return GetMessageBytes(spec, elements);
    };
    EXPECT_EQ(halfSize("top-k", 1'000'000), 600'000U);
    EXPECT_EQ(halfSize("dgc", 1'000'000), 6000U);
    EXPECT_EQ(size("dgc", 1), 8U);
}

/// Bytes of one message.
std::vector<std::byte>
MakeMessage(GradientCodec& codec, const std::vector<float>& gradient)
{
    std::vector<std::byte> message(codec.GetMaximumBytes());
    std::vector<std::byte> workspace(codec.GetWorkspaceBytes());
    message.resize(codec.Compress(gradient, message, workspace));
    return message;
}

/// Entry `index` of an array that begins at byte `begin` of a message.
template <typename Number>
Number
ReadNumber(const std::vector<std::byte>& message, size_t begin, size_t index)
{
    Number number{};
    std::memcpy(&number, message.data() + begin + index * sizeof number, sizeof number);
    return number;
}

TEST(Codecs, ValuesInSixteenBitsAreThoseOfThirtyTwoRoundedBehindTheSameIndices)
{
    // 8 B an entry hold 4 of index and 4 of value, 6 B the same index and the rounded value, over
    // iterations that change what DGC keeps: that is the same for both.
    for (const char* name : {"top-k", "dgc"})
    {
        auto spec = FindCodec(name)->defaults;
        spec.density = 0.05;
        for (const size_t length : {1U, 7U, 333U, 8193U})
        {
            SCOPED_TRACE(name + std::string(" ") + std::to_string(length));
            spec.valueBits = 32;
            const auto whole = MakeCodec(spec, length);
            spec.valueBits = 16;
            const auto half = MakeCodec(spec, length);
            for (uint32_t iteration = 0; iteration < 3; ++iteration)
            {
                auto gradient = MakeRandomGradient(length, 40 + iteration);
                gradient[length / 2] = iteration == 0 ? 1e6F : gradient[length / 2]; // infinite
                const auto expected = MakeMessage(*whole, gradient);
                const auto found = MakeMessage(*half, gradient);
                const size_t count = expected.size() / 8;
                ASSERT_GT(count, 0U);
                ASSERT_EQ(found.size(), 6 * count);
                std::vector<float> received(length, 77.0F);
                std::vector<std::byte> workspace(half->GetWorkspaceBytes());
                half->Decompress(found, received, workspace);
                for (size_t i = 0; i < count; ++i)
                {
                    const auto index = ReadNumber<uint32_t>(expected, 0, i);
                    ASSERT_EQ(ReadNumber<uint32_t>(found, 0, i), index);
                    const auto value = FloatToHalf(ReadNumber<float>(expected, 4 * count, i));
                    ASSERT_EQ(ReadNumber<uint16_t>(found, 4 * count, i), value);
                    ASSERT_EQ(std::exchange(received[index], 0.0F), HalfToFloat(value));
                }
                ASSERT_THAT(received, Each(0.0F));
            }
        }
    }
}

TEST(Codecs, AMessageOfAnotherSizeOrWithAWrongIndexIsRefused)
{
    std::vector<float> gradient(100, 1.0F);
    for (const auto& spec : GetNamedCodecs())
    {
        const auto& info = GetCodecInfo(spec.kind);
        const auto codec = MakeCodec(spec, gradient.size());
        std::vector<std::byte> message(codec->GetMaximumBytes() + 8, std::byte{0xff});
        std::vector<std::byte> workspace(codec->GetWorkspaceBytes());
        EXPECT_THROW(codec->Decompress(message, gradient, workspace), std::invalid_argument)
            << info.name;
        if (info.kind == CodecKind::TopK || info.kind == CodecKind::Sq8)
        {
            EXPECT_THROW(codec->Decompress(std::span(message).first(codec->GetMaximumBytes()),
                                           gradient,
                                           workspace),
                         std::invalid_argument)
                << info.name;
        }
    }
}

TEST(Decorators, ErrorFeedbackSendsInTimeWhatAMessageLost)
{
    // The same gradient 40 times: top-k alone would send the same 10 % for ever. With feedback
    // what was sent and what is owed must add up: the largest debt of an element that waits for
    // its turn is about as many gradients as there are turns, 1 / density = 10.
    const auto gradient = MakeRandomGradient(1000);
    const auto codec = AddErrorFeedback(MakeCodec(FindCodec("top-k")->defaults, gradient.size()));
    std::vector<double> sent(gradient.size(), 0.0);
    for (int i = 0; i < 40; ++i)
    {
        const auto received = SendOnce(*codec, gradient);
        std::transform(received.begin(), received.end(), sent.begin(), sent.begin(), std::plus<>());
    }
    double largest = 0;
    double owed = 0;
    for (size_t i = 0; i < gradient.size(); ++i)
    {
        largest = std::max(largest, std::abs(double{gradient[i]}));
        owed = std::max(owed, std::abs(40.0 * gradient[i] - sent[i]));
    }
    EXPECT_LT(owed, 10 * largest);
    EXPECT_GT(owed, 0);
}

TEST(Decorators, ErrorFeedbackKeepsWhatRoundingToSixteenBitsLost)
{
    // All elements of 2^-4 + 2^-20 are sent: 11 bits hold 2^-4, and 2^-20 is owed. With nothing to
    // add that is the second message, 16 steps of the least binary16 number; then all is sent.
    auto spec = FindCodec("top-k")->defaults;
    spec.density = 1.0;
    spec.valueBits = 16;
    const auto codec = AddErrorFeedback(MakeCodec(spec, 3));
    const std::vector<float> gradient(3, 0x1p-4F + 0x1p-20F);
    const std::vector<float> nothing(3, 0.0F);
    EXPECT_THAT(SendOnce(*codec, gradient), Each(0x1p-4F));
    EXPECT_THAT(SendOnce(*codec, nothing), Each(0x1p-20F));
    EXPECT_THAT(SendOnce(*codec, nothing), Each(0.0F));
}

TEST(Decorators, MomentumIsThatOfTheFormula)
{
    const auto codec = AddMomentum(MakeCodec(CodecSpec{}, 1), 0.5F);
    // u: 1, 0.5 + 1, 0.75 + 1.
    EXPECT_THAT(SendOnce(*codec, std::vector<float>{1.0F}), ElementsAre(1.0F));
    EXPECT_THAT(SendOnce(*codec, std::vector<float>{1.0F}), ElementsAre(1.5F));
    EXPECT_THAT(SendOnce(*codec, std::vector<float>{1.0F}), ElementsAre(1.75F));
}

} // namespace
} // namespace ns3::gradsync
