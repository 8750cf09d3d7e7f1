// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/quantiser-loops.h"

#include "ns3/int8-loops.h"
#include "ns3/quantiser-arithmetic.h"

#include <algorithm>
#include <array>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace ns3::gradsync
{

namespace
{

// The loops once, as they are inlined into each of their versions below, where the compiler
// vectorises them by the instructions of that version. Nothing here may be called otherwise.
#define GRADSYNC_INLINED [[gnu::always_inline]] inline

/// out[i] = convert(in[i]).
template <typename In, typename Out, typename Convert>
GRADSYNC_INLINED void
ConvertLoop(const In* in, uint64_t count, Out* out, const Convert& convert)
{
    for (uint64_t i = 0; i < count; ++i)
    {
        out[i] = convert(in[i]);
    }
}

GRADSYNC_INLINED uint32_t
FindLargestKeyLoop(const float* values, uint64_t count)
{
    // As signed numbers: keys are below 2^31, and SSE2 compares signed integers only.
    int32_t largest = 0;
    for (uint64_t i = 0; i < count; ++i)
    {
        const auto key = static_cast<int32_t>(MagnitudeKey(values[i]));
        largest = key > largest ? key : largest;
    }
    return static_cast<uint32_t>(largest);
}

GRADSYNC_INLINED void
EncodeInt8Loop(const float* values, uint64_t count, float inverse, int8_t* codes)
{
    if (inverse == 0.0F)
    {
        std::fill_n(codes, count, int8_t{0});
        return;
    }
    // EncodeInt8 without its bounds: no value exceeds the maximum, and 127 / maximum is off by less
    // than 2^-22 of itself, so that products round to 127 at most. Of their sum with 1.5 * 2^23,
    // whose unit is 1, the low bits are the integer, rounded by the adder with ties to even.
    constexpr float WHOLE = 12582912.0F;
    ConvertLoop(values, count, codes, [=](float value) {
        return static_cast<int8_t>(ToBits(value * inverse + WHOLE));
    });
}

GRADSYNC_INLINED void
DecodeInt8Loop(const int8_t* codes, uint64_t count, float scale, float* values)
{
    ConvertLoop(codes, count, values, [=](int8_t code) { return DecodeInt8(code, scale); });
}

GRADSYNC_INLINED void
EncodeHalfLoop(const float* values, uint64_t count, uint16_t* codes)
{
    ConvertLoop(values, count, codes, [](float value) { return FloatToHalf(value); });
}

GRADSYNC_INLINED void
DecodeHalfLoop(const uint16_t* codes, uint64_t count, float* values)
{
    ConvertLoop(codes, count, values, [](uint16_t code) { return HalfToFloat(code); });
}

GRADSYNC_INLINED void
EncodeBfloatLoop(const float* values, uint64_t count, uint16_t* codes)
{
    ConvertLoop(values, count, codes, [](float value) { return FloatToBfloat(value); });
}

GRADSYNC_INLINED void
DecodeBfloatLoop(const uint16_t* codes, uint64_t count, float* values)
{
    ConvertLoop(codes, count, values, [](uint16_t code) { return BfloatToFloat(code); });
}

/// Codes of up to sixteen elements; inlined for sixteen, which are then done several at once.
GRADSYNC_INLINED uint32_t
EncodeWord(const float* gradients, float* residual, uint64_t count, float threshold)
{
    std::array<uint32_t, TWO_BITS_PER_WORD> codes; // of which `count` are set
    for (uint64_t i = 0; i < count; ++i)
    {
        const auto step = EncodeTwoBit(gradients[i], residual[i], threshold);
        codes[i] = step.code;
        residual[i] = step.residual;
    }
    uint32_t word = 0;
    for (uint64_t i = 0; i < count; ++i)
    {
        word |= codes[i] << (2 * i);
    }
    return word;
}

GRADSYNC_INLINED void
EncodeTwoBitsLoop(const float* gradients,
                  float* residual,
                  uint64_t count,
                  float threshold,
                  uint32_t* words)
{
    uint64_t done = 0;
    for (; done + TWO_BITS_PER_WORD <= count; done += TWO_BITS_PER_WORD)
    {
        *words++ = EncodeWord(gradients + done, residual + done, TWO_BITS_PER_WORD, threshold);
    }
    if (done < count)
    {
        *words = EncodeWord(gradients + done, residual + done, count - done, threshold);
    }
}

GRADSYNC_INLINED void
EncodeFixedPointLoop(const float* values, uint64_t count, float factor, int32_t* codes)
{
    ConvertLoop(values, count, codes, [=](float value) { return EncodeFixedPoint(value, factor); });
}

GRADSYNC_INLINED void
DecodeFixedPointLoop(const int32_t* codes, uint64_t count, float inverse, float* values)
{
    ConvertLoop(codes, count, values, [=](int32_t code) {
        return DecodeFixedPoint(code, inverse);
    });
}

GRADSYNC_INLINED void
EncodeWithExponentLoop(const float* values,
                       uint64_t count,
                       float sumFactor,
                       int8_t exponent,
                       int32_t* codes)
{
    ConvertLoop(values, count, codes, [=](float value) {
        return EncodeWithExponent(value, sumFactor, exponent);
    });
}

GRADSYNC_INLINED void
DecodeWithExponentLoop(const int32_t* sums,
                       uint64_t count,
                       float sumFactor,
                       int8_t exponent,
                       float* values)
{
    ConvertLoop(sums, count, values, [=](int32_t sum) {
        return DecodeWithExponent(sum, sumFactor, exponent);
    });
}

GRADSYNC_INLINED void
EncodeByteLoop(const float* values, uint64_t count, float share, int8_t exponent, int8_t* codes)
{
    ConvertLoop(values, count, codes, [=](float value) {
        return EncodeByteWithExponent(value, share, exponent);
    });
}

GRADSYNC_INLINED void
DecodeByteLoop(const int8_t* sums, uint64_t count, float inverse, int8_t exponent, float* values)
{
    ConvertLoop(sums, count, values, [=](int8_t sum) {
        return DecodeByteWithExponent(sum, inverse, exponent);
    });
}

#ifdef __x86_64__

// No FMA, so that no compiler can fuse what must be rounded twice; AVX-512 has its own, which
// -ffp-contract=off forbids. Not "arch=x86-64-v3": GCC inlines nothing into another architecture.
#define GRADSYNC_AVX2 [[gnu::target("avx2,f16c")]]
#define GRADSYNC_AVX512 [[gnu::target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl")]]

/// By the processor's own conversion, which keeps payloads of NaN.
GRADSYNC_AVX2 void
EncodeHalfF16c(const float* values, uint64_t count, uint16_t* codes)
{
    const __m128i canonical = _mm_set1_epi16(HALF_NAN);
    const __m128i magnitudes = _mm_set1_epi16(0x7fff);
    const __m128i infinity = _mm_set1_epi16(0x7c00);
    uint64_t i = 0;
    for (; i + 8 <= count; i += 8)
    {
        const __m128i halves =
            _mm256_cvtps_ph(_mm256_loadu_ps(values + i), _MM_FROUND_TO_NEAREST_INT);
        const __m128i isNan = _mm_cmpgt_epi16(_mm_and_si128(halves, magnitudes), infinity);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(codes + i),
                         _mm_blendv_epi8(halves, canonical, isNan));
    }
    EncodeHalfLoop(values + i, count - i, codes + i);
}

/// As EncodeHalfF16c: a NaN becomes the canonical one first, whose conversion is that of binary32.
GRADSYNC_AVX2 void
DecodeHalfF16c(const uint16_t* codes, uint64_t count, float* values)
{
    const __m128i canonical = _mm_set1_epi16(HALF_NAN);
    const __m128i magnitudes = _mm_set1_epi16(0x7fff);
    const __m128i infinity = _mm_set1_epi16(0x7c00);
    uint64_t i = 0;
    for (; i + 8 <= count; i += 8)
    {
        const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + i));
        const __m128i isNan = _mm_cmpgt_epi16(_mm_and_si128(halves, magnitudes), infinity);
        _mm256_storeu_ps(values + i, _mm256_cvtph_ps(_mm_blendv_epi8(halves, canonical, isNan)));
    }
    DecodeHalfLoop(codes + i, count - i, values + i);
}

#endif

// NOLINTBEGIN(bugprone-macro-parentheses): an attribute is in none
/// The versions of all loops but those for binary16, as members of a class.
#define GRADSYNC_LOOPS(NAME, TARGET)                                                               \
    struct NAME                                                                                    \
    {                                                                                              \
        TARGET static uint32_t FindLargestKey(const float* values, uint64_t count)                 \
        {                                                                                          \
            return FindLargestKeyLoop(values, count);                                              \
        }                                                                                          \
        TARGET static void EncodeInt8(const float* in, uint64_t count, float inverse, int8_t* out) \
        {                                                                                          \
            EncodeInt8Loop(in, count, inverse, out);                                               \
        }                                                                                          \
        TARGET static uint32_t EncodeInt8AndLook(const float* in,                                  \
                                                 uint64_t count,                                   \
                                                 float inverse,                                    \
                                                 int8_t* out,                                      \
                                                 const float* next,                                \
                                                 uint64_t nextCount,                               \
                                                 Stores /* stores */)                              \
        {                                                                                          \
            EncodeInt8Loop(in, count, inverse, out);                                               \
            return FindLargestKeyLoop(next, nextCount);                                            \
        }                                                                                          \
        TARGET static void DecodeInt8(const int8_t* in,                                            \
                                      uint64_t count,                                              \
                                      float scale,                                                 \
                                      float* out,                                                  \
                                      Stores /* stores */)                                         \
        {                                                                                          \
            DecodeInt8Loop(in, count, scale, out);                                                 \
        }                                                                                          \
        TARGET static void EncodeBfloat(const float* in, uint64_t count, uint16_t* out)            \
        {                                                                                          \
            EncodeBfloatLoop(in, count, out);                                                      \
        }                                                                                          \
        TARGET static void DecodeBfloat(const uint16_t* in, uint64_t count, float* out)            \
        {                                                                                          \
            DecodeBfloatLoop(in, count, out);                                                      \
        }                                                                                          \
        TARGET static void EncodeTwoBits(const float* in,                                          \
                                         float* residual,                                          \
                                         uint64_t count,                                           \
                                         float threshold,                                          \
                                         uint32_t* out)                                            \
        {                                                                                          \
            EncodeTwoBitsLoop(in, residual, count, threshold, out);                                \
        }                                                                                          \
        TARGET static void EncodeFixed(const float* in,                                            \
                                       uint64_t count,                                             \
                                       float factor,                                               \
                                       int32_t* out)                                               \
        {                                                                                          \
            EncodeFixedPointLoop(in, count, factor, out);                                          \
        }                                                                                          \
        TARGET static void DecodeFixed(const int32_t* in,                                          \
                                       uint64_t count,                                             \
                                       float factor,                                               \
                                       float* out)                                                 \
        {                                                                                          \
            DecodeFixedPointLoop(in, count, factor, out);                                          \
        }                                                                                          \
        TARGET static void EncodeExponent(const float* in,                                         \
                                          uint64_t count,                                          \
                                          float factor,                                            \
                                          int8_t exponent,                                         \
                                          int32_t* out)                                            \
        {                                                                                          \
            EncodeWithExponentLoop(in, count, factor, exponent, out);                              \
        }                                                                                          \
        TARGET static void DecodeExponent(const int32_t* in,                                       \
                                          uint64_t count,                                          \
                                          float factor,                                            \
                                          int8_t exponent,                                         \
                                          float* out)                                              \
        {                                                                                          \
            DecodeWithExponentLoop(in, count, factor, exponent, out);                              \
        }                                                                                          \
        TARGET static void EncodeByte(const float* in,                                             \
                                      uint64_t count,                                              \
                                      float share,                                                 \
                                      int8_t exponent,                                             \
                                      int8_t* out)                                                 \
        {                                                                                          \
            EncodeByteLoop(in, count, share, exponent, out);                                       \
        }                                                                                          \
        TARGET static void DecodeByte(const int8_t* in,                                            \
                                      uint64_t count,                                              \
                                      float inverse,                                               \
                                      int8_t exponent,                                             \
                                      float* out)                                                  \
        {                                                                                          \
            DecodeByteLoop(in, count, inverse, exponent, out);                                     \
        }                                                                                          \
    }
// NOLINTEND(bugprone-macro-parentheses)

GRADSYNC_LOOPS(BaselineLoops, );
#ifdef __x86_64__
GRADSYNC_LOOPS(Avx2Loops, GRADSYNC_AVX2);
GRADSYNC_LOOPS(Avx512Loops, GRADSYNC_AVX512);
#endif

template <typename Version>
constexpr QuantiserLoops
MakeLoops(decltype(QuantiserLoops::encodeHalf) encodeHalf,
          decltype(QuantiserLoops::decodeHalf) decodeHalf)
{
    return {Version::FindLargestKey,
            Version::EncodeInt8,
            Version::EncodeInt8AndLook,
            Version::DecodeInt8,
            encodeHalf,
            decodeHalf,
            Version::EncodeBfloat,
            Version::DecodeBfloat,
            Version::EncodeTwoBits,
            Version::EncodeFixed,
            Version::DecodeFixed,
            Version::EncodeExponent,
            Version::DecodeExponent,
            Version::EncodeByte,
            Version::DecodeByte};
}

} // namespace

const QuantiserLoops&
GetQuantiserLoops(InstructionSet instructions)
{
    static constexpr QuantiserLoops BASELINE =
        MakeLoops<BaselineLoops>(EncodeHalfLoop, DecodeHalfLoop);
#ifdef __x86_64__
    static constexpr QuantiserLoops AVX2 = [] {
        auto loops = MakeLoops<Avx2Loops>(EncodeHalfF16c, DecodeHalfF16c);
        loops.encodeInt8AndLook = EncodeInt8AndLookAvx2;
        loops.decodeInt8 = DecodeInt8Avx2;
        return loops;
    }();
    static constexpr QuantiserLoops AVX512 = [] {
        auto loops = MakeLoops<Avx512Loops>(EncodeHalfF16c, DecodeHalfF16c);
        // GCC reads each value several times, and half of all reads of 64 bytes straddle cache
        // lines.
        loops.encodeBfloat = Avx2Loops::EncodeBfloat;
        loops.encodeInt8AndLook = EncodeInt8AndLookAvx2;
        loops.decodeInt8 = DecodeInt8Avx2;
        return loops;
    }();
    switch (instructions)
    {
    case InstructionSet::Baseline:
        break;
    case InstructionSet::Avx2:
        return AVX2;
    case InstructionSet::Avx512:
        return AVX512;
    }
#else
    static_cast<void>(instructions);
#endif
    return BASELINE;
}

} // namespace ns3::gradsync
