// SPDX-License-Identifier: GPL-2.0-only
// Every version of the quantisers' loops that this CPU has against the formulas, element by
// element.
#include "support/nasty-gradients.h"

#include "ns3/quantiser-arithmetic.h"
#include "ns3/quantiser-loops.h"
#include "ns3/quantisers.h"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <numeric>
#include <span>
#include <sstream>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;

/// Beyond what a loop may write: vectors of 512 bits have 64 codes of int8.
constexpr size_t MARGIN = 64;

/// Calls `check` for each version.
template <typename Check>
void
ForEveryVersion(const Check& check)
{
    for (const auto instructions : GetInstructionSets())
    {
        SCOPED_TRACE(GetName(instructions));
        check(GetQuantiserLoops(instructions));
    }
}

/// One of every class of binary32 in turn: bits at random, numbers of a gradient's size, denormals,
/// zeros, infinities, NaN of any payload, what is half way between two codes, and the largest.
float
MakeAnyFloat(std::mt19937& generator)
{
    const auto bits = static_cast<uint32_t>(generator());
    const uint32_t sign = bits & FLOAT_SIGN;
    switch (generator() % 8)
    {
    case 0:
        return FromBits(bits);
    case 1:
        return FromBits(sign | (bits & 0x007fffffU));
    case 2:
        return FromBits(sign);
    case 3:
        return FromBits(sign | FLOAT_INFINITY);
    case 4:
        return FromBits(sign | FLOAT_INFINITY | (bits & 0x007fffffU));
    case 5:
        return (static_cast<float>(bits % 1000) - 500.0F) * 0.5F;
    case 6:
        return FromBits(sign | (FLOAT_INFINITY - 1 - bits % 32));
    default:
        return (static_cast<float>(bits) - 0x1p31F) * 0x1p-37F;
    }
}

/// All lengths up to 300, so that every vector's width has every remainder, and those around
/// blocks.
std::vector<size_t>
GetLengths()
{
    std::vector<size_t> lengths(301);
    for (size_t i = 0; i < lengths.size(); ++i)
    {
        lengths[i] = i;
    }
    const auto nasty = GetNastyLengths();
    std::copy_if(nasty.begin(), nasty.end(), std::back_inserter(lengths), [](size_t length) {
        return length > 300 && length < 10'000;
    });
    return lengths;
}

/// Arrays that begin at any address: 0 to 15 elements behind that of a vector.
std::vector<float>
MakeValues(size_t length, std::mt19937& generator, bool isFinite = false)
{
    std::vector<float> values(length);
    for (auto& value : values)
    {
        do
        {
            value = MakeAnyFloat(generator);
        } while (isFinite && !IsKeyFinite(MagnitudeKey(value)));
    }
    return values;
}

/// Same bits of every element and nothing written behind them.
template <typename Number, typename Loop>
void
ExpectBits(const std::vector<Number>& expected, size_t shift, const Loop& loop)
{
    std::vector<Number> found(shift + expected.size() + MARGIN, Number{77});
    loop(found.data() + shift);
    const std::span written(found.data() + shift, expected.size());
    ASSERT_TRUE(std::ranges::equal(std::as_bytes(written), std::as_bytes(std::span(expected))));
    ASSERT_THAT(std::vector<Number>(found.begin() + static_cast<ptrdiff_t>(shift + expected.size()),
                                    found.end()),
                testing::Each(Number{77}));
}

/// out[i] = formula(in[i]).
template <typename Out, typename In, typename Formula>
std::vector<Out>
Apply(const std::vector<In>& in, const Formula& formula)
{
    std::vector<Out> out(in.size());
    std::transform(in.begin(), in.end(), out.begin(), formula);
    return out;
}

/// Calls `check` with each length, some of its values and where its output begins.
template <typename Check>
void
ForEveryLength(const Check& check)
{
    std::mt19937 generator(31);
    for (const size_t length : GetLengths())
    {
        SCOPED_TRACE(length);
        const auto values = MakeValues(length, generator);
        check(values, length % 16);
        if (testing::Test::HasFatalFailure())
        {
            return;
        }
    }
}

TEST(InstructionSets, AreThoseOfTheProcessor)
{
    const auto& sets = GetInstructionSets();
    ASSERT_EQ(sets.front(), InstructionSet::Baseline);
    EXPECT_TRUE(std::is_sorted(sets.begin(), sets.end()));
    EXPECT_EQ(GetFastestInstructionSet(), sets.back());
#if defined(__x86_64__) && defined(__linux__)
    // What Linux lists is what both the processor has and the system keeps.
    std::ifstream file("/proc/cpuinfo");
    std::string flags;
    for (std::string line; flags.empty() && std::getline(file, line);)
    {
        flags = line.rfind("flags", 0) == 0 ? line + " " : "";
    }
    const auto has = [&](const std::string& flag) {
        return flags.find(" " + flag + " ") != std::string::npos;
    };
    const bool hasAvx2 = has("avx2") && has("f16c");
    const bool hasAvx512 =
        hasAvx2 && has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
    EXPECT_EQ(sets.size(), 1U + (hasAvx2 ? 1 : 0) + (hasAvx512 ? 1 : 0));
#else
    EXPECT_EQ(sets.size(), 1U);
#endif
}

TEST(QuantiserLoops, SixteenBitsAreThoseOfTheFormulasAtEveryLength)
{
    ForEveryLength([](const std::vector<float>& values, size_t shift) {
        const auto half = Apply<uint16_t>(values, FloatToHalf);
        const auto bfloat = Apply<uint16_t>(values, FloatToBfloat);
        ForEveryVersion([&](const QuantiserLoops& loops) {
            ExpectBits(half, shift, [&](uint16_t* out) {
                loops.encodeHalf(values.data(), values.size(), out);
            });
            ExpectBits(bfloat, shift, [&](uint16_t* out) {
                loops.encodeBfloat(values.data(), values.size(), out);
            });
            ExpectBits(Apply<float>(half, HalfToFloat), shift, [&](float* out) {
                loops.decodeHalf(half.data(), half.size(), out);
            });
            ExpectBits(Apply<float>(bfloat, BfloatToFloat), shift, [&](float* out) {
                loops.decodeBfloat(bfloat.data(), bfloat.size(), out);
            });
        });
    });
}

TEST(QuantiserLoops, EveryCodeOfSixteenBitsDecodesAsByTheFormula)
{
    std::vector<uint16_t> codes(1U << 16);
    for (uint32_t code = 0; code < codes.size(); ++code)
    {
        codes[code] = static_cast<uint16_t>(code); // NaN of every payload among them
    }
    ForEveryVersion([&](const QuantiserLoops& loops) {
        ExpectBits(Apply<float>(codes, HalfToFloat), 0, [&](float* out) {
            loops.decodeHalf(codes.data(), codes.size(), out);
        });
        ExpectBits(Apply<float>(codes, BfloatToFloat), 0, [&](float* out) {
            loops.decodeBfloat(codes.data(), codes.size(), out);
        });
    });
}

TEST(QuantiserLoops, FloatsAroundEveryHalfRoundAsByTheFormula)
{
    // Half codes are 2^13 bits of binary32 apart from 2^-14 on: the code, the tie behind it and
    // what is next to both, of either sign; and all denormal halves with what is between them.
    std::vector<float> values;
    for (uint32_t half = 0; half <= 0x7c00U; ++half)
    {
        const uint32_t bits = ToBits(HalfToFloat(static_cast<uint16_t>(half)));
        for (const uint32_t offset : {0U, 1U, 0xfffU, 0x1000U, 0x1001U, 0x1fffU})
        {
            values.push_back(FromBits(bits + offset));
            values.push_back(FromBits((bits + offset) | FLOAT_SIGN));
        }
        values.push_back((static_cast<float>(half) + 0.5F) * 0x1p-24F);
    }
    ForEveryVersion([&](const QuantiserLoops& loops) {
        ExpectBits(Apply<uint16_t>(values, FloatToHalf), 0, [&](uint16_t* out) {
            loops.encodeHalf(values.data(), values.size(), out);
        });
    });
}

TEST(QuantiserLoops, Int8IsThatOfTheFormulaAtEveryLengthAndMagnitude)
{
    std::mt19937 generator(32);
    for (const size_t length : GetLengths())
    {
        SCOPED_TRACE(length);
        // Blocks of any values, with infinities and NaN, of finite ones, and of finite ones around
        // every power of two down to denormals: from 127 / 2^-120 on the inverse is 0.
        for (const bool isFinite : {false, true, true})
        {
            auto values = MakeValues(length, generator, isFinite);
            const float size = std::ldexp(1.0F, -static_cast<int>(generator() % 280));
            std::transform(values.begin(), values.end(), values.begin(), [=](float value) {
                return value * size;
            });
            uint32_t key = 0;
            for (const float value : values)
            {
                key = std::max(key, MagnitudeKey(value));
            }
            const auto next = MakeValues(generator() % (2 * length + 70), generator, isFinite);
            uint32_t nextKey = 0;
            for (const float value : next)
            {
                nextKey = std::max(nextKey, MagnitudeKey(value));
            }
            const auto scale = MakeInt8Scale(key);
            const auto codes = Apply<int8_t>(values, [&](float value) {
                return EncodeInt8(value, scale.inverse);
            });
            const auto decoded =
                Apply<float>(codes, [&](int8_t code) { return DecodeInt8(code, scale.scale); });
            ForEveryVersion([&](const QuantiserLoops& loops) {
                ASSERT_EQ(loops.findLargestKey(values.data(), length), key);
                ExpectBits(codes, length % 16, [&](int8_t* out) {
                    loops.encodeInt8(values.data(), length, scale.inverse, out);
                });
                for (const auto stores : {Stores::Cached, Stores::Streamed})
                {
                    ExpectBits(codes, length % 16, [&](int8_t* out) {
                        ASSERT_EQ(loops.encodeInt8AndLook(values.data(),
                                                          length,
                                                          scale.inverse,
                                                          out,
                                                          next.data(),
                                                          next.size(),
                                                          stores),
                                  nextKey);
                    });
                    ExpectBits(decoded, length % 16, [&](float* out) {
                        loops.decodeInt8(codes.data(), length, scale.scale, out, stores);
                    });
                }
            });
            if (HasFatalFailure())
            {
                return;
            }
        }
    }
}

TEST(QuantiserLoops, Int8IsDecodedByAnyScale)
{
    // All codes, by scales that no block of floats has, too: NaN of any payload and sign.
    std::vector<int8_t> codes(256);
    std::iota(codes.begin(), codes.end(), int8_t{-128});
    for (const uint32_t bits : {0U,
                                FLOAT_SIGN,
                                1U,
                                FLOAT_INFINITY,
                                FLOAT_INFINITY | FLOAT_SIGN,
                                FLOAT_INFINITY + 1,
                                FLOAT_NAN,
                                FLOAT_NAN + 5,
                                FLOAT_NAN | FLOAT_SIGN})
    {
        SCOPED_TRACE(bits);
        const float scale = FromBits(bits);
        const auto decoded =
            Apply<float>(codes, [=](int8_t code) { return DecodeInt8(code, scale); });
        ForEveryVersion([&](const QuantiserLoops& loops) {
            for (const auto stores : {Stores::Cached, Stores::Streamed})
            {
                ExpectBits(decoded, 3, [&](float* out) {
                    loops.decodeInt8(codes.data(), codes.size(), scale, out, stores);
                });
            }
        });
    }
}

TEST(QuantiserLoops, Int8NeedsNoBoundsForAnyMaximum)
{
    // The claim by which the loop leaves out the bounds of EncodeInt8: the maximum itself ends at
    // 127, of either sign, whatever its last bits make of 127 / maximum.
    std::mt19937 generator(33);
    std::vector<float> pair(2);
    for (int i = 0; i < 1'000'000; ++i)
    {
        const auto key = static_cast<uint32_t>(generator() % FLOAT_INFINITY);
        const auto scale = MakeInt8Scale(key);
        pair = {FromBits(key), -FromBits(key)};
        int8_t codes[2]{};
        GetQuantiserLoops(InstructionSet::Baseline)
            .encodeInt8(pair.data(), 2, scale.inverse, codes);
        const int8_t largest = scale.inverse == 0.0F ? int8_t{0} : int8_t{127};
        ASSERT_THAT(codes, ElementsAre(largest, -largest)) << FromBits(key);
    }
}

TEST(QuantiserLoops, FixedPointIsThatOfTheFormulaAtEveryLength)
{
    constexpr int8_t EXPONENT = -3;
    const float factor = GetSumFactor(7);
    ForEveryLength([=](const std::vector<float>& values, size_t shift) {
        const auto count = values.size();
        const auto fixed =
            Apply<int32_t>(values, [](float value) { return EncodeFixedPoint(value, 1e6F); });
        const auto shared = Apply<int32_t>(values, [=](float value) {
            return EncodeWithExponent(value, factor, EXPONENT);
        });
        ForEveryVersion([&](const QuantiserLoops& loops) {
            ExpectBits(fixed, shift, [&](int32_t* out) {
                loops.encodeFixedPoint(values.data(), count, 1e6F, out);
            });
            ExpectBits(shared, shift, [&](int32_t* out) {
                loops.encodeWithExponent(values.data(), count, factor, EXPONENT, out);
            });
            ExpectBits(
                Apply<float>(fixed, [](int32_t code) { return DecodeFixedPoint(code, 1e-6F); }),
                shift,
                [&](float* out) { loops.decodeFixedPoint(fixed.data(), count, 1e-6F, out); });
            ExpectBits(Apply<float>(
                           shared,
                           [=](int32_t sum) { return DecodeWithExponent(sum, factor, EXPONENT); }),
                       shift,
                       [&](float* out) {
                           loops.decodeWithExponent(shared.data(), count, factor, EXPONENT, out);
                       });
        });
    });
}

TEST(QuantiserLoops, BytesWithExponentsAreThoseOfTheFormulaAtEveryLength)
{
    // Exponents at both ends, where the factors are the largest and the smallest.
    for (const int8_t exponent : {int8_t{-95}, int8_t{-3}, int8_t{127}})
    {
        const float share = GetByteShare(7);
        const float inverse = 1.0F / share;
        ForEveryLength([=](const std::vector<float>& values, size_t shift) {
            const auto count = values.size();
            const auto codes = Apply<int8_t>(values, [=](float value) {
                return EncodeByteWithExponent(value, share, exponent);
            });
            const auto decoded = Apply<float>(codes, [=](int8_t code) {
                return DecodeByteWithExponent(code, inverse, exponent);
            });
            ForEveryVersion([&](const QuantiserLoops& loops) {
                ExpectBits(codes, shift, [&](int8_t* out) {
                    loops.encodeByteWithExponent(values.data(), count, share, exponent, out);
                });
                ExpectBits(decoded, shift, [&](float* out) {
                    loops.decodeByteWithExponent(codes.data(), count, inverse, exponent, out);
                });
            });
        });
    }
}

TEST(QuantiserLoops, TwoBitsAreThoseOfTheFormulaAtEveryLength)
{
    constexpr float THRESHOLD = 0.25F;
    ForEveryLength([](const std::vector<float>& values, size_t shift) {
        const auto before = MakeRandomGradient(values.size(), 34);
        std::vector<uint32_t> words(CountBlocks(values.size(), 16));
        auto kept = before;
        for (size_t i = 0; i < values.size(); ++i)
        {
            const auto step = EncodeTwoBit(values[i], before[i], THRESHOLD);
            words[i / 16] |= step.code << (2 * (i % 16));
            kept[i] = step.residual;
        }
        ForEveryVersion([&](const QuantiserLoops& loops) {
            auto residual = before;
            ExpectBits(words, shift, [&](uint32_t* out) {
                loops.encodeTwoBits(values.data(), residual.data(), values.size(), THRESHOLD, out);
            });
            ASSERT_EQ(Apply<uint32_t>(residual, ToBits), Apply<uint32_t>(kept, ToBits));
        });
    });
}

TEST(Quantisers, GiveTheSameBitsByAllInstructionsAndThreads)
{
    // Long enough for three threads, with a last block of 77; every class of floats in each block.
    constexpr size_t LENGTH = (size_t{3} << 17) + 77;
    std::mt19937 generator(35);
    auto values = MakeValues(LENGTH, generator, true);
    values[LENGTH / 2] = FromBits(FLOAT_NAN);
    const auto encode = [&](InstructionSet instructions, uint32_t threads) {
        std::vector<int8_t> codes(LENGTH);
        std::vector<float> scales(CountBlocks(LENGTH, 256));
        std::vector<int8_t> exponents(scales.size());
        std::vector<uint16_t> half(LENGTH);
        std::vector<int32_t> fixed(LENGTH);
        std::vector<float> decoded(LENGTH);
        EncodeInt8Blocks(values, 256, codes, scales, threads, instructions);
        FindPacketExponents(values, 256, exponents, threads, instructions);
        EncodeWithExponents(values, 256, 5, exponents, fixed, threads, instructions);
        std::vector<int8_t> summands(LENGTH);
        EncodeBytesWithExponents(values, 256, 5, exponents, summands, threads, instructions);
        DecodeBytesWithExponents(summands, 256, 5, exponents, decoded, threads, instructions);
        EncodeHalf(values, half, threads, instructions);
        std::stringstream bits;
        for (const auto bytes : {std::as_bytes(std::span(codes)),
                                 std::as_bytes(std::span(scales)),
                                 std::as_bytes(std::span(exponents)),
                                 std::as_bytes(std::span(half)),
                                 std::as_bytes(std::span(fixed)),
                                 std::as_bytes(std::span(summands)),
                                 std::as_bytes(std::span(decoded))})
        {
            bits.write(reinterpret_cast<const char*>(bytes.data()),
                       static_cast<std::streamsize>(bytes.size()));
        }
        return bits.str();
    };
    const auto expected = encode(InstructionSet::Baseline, 1);
    for (const auto instructions : GetInstructionSets())
    {
        SCOPED_TRACE(GetName(instructions));
        EXPECT_TRUE(encode(instructions, 1) == expected);
        EXPECT_TRUE(encode(instructions, 3) == expected);
    }
}

} // namespace
} // namespace ns3::gradsync
