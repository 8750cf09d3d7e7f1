// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/int8-loops.h"

#include "ns3/float-bits.h"

#include <algorithm>

#ifdef __x86_64__
#include <immintrin.h>

namespace ns3::gradsync
{

namespace
{

// As in quantiser-loops.cc: no FMA.
#define GRADSYNC_INT8_AVX2 [[gnu::target("avx2,f16c")]]

constexpr uint64_t STRIDE = 64; //!< elements of four cache lines

/// As EncodeInt8Loop has it: of a sum with it the low bits are the nearest integer.
constexpr float WHOLE_INT8 = 12582912.0F;

/// Asks for what is looked at after 4 KiB more: beside the encoding the processor sees too few of
/// the reads ahead to keep the memory busy.
inline void
FetchAhead(const float* values)
{
    constexpr uintptr_t AHEAD = 4096;
    constexpr uintptr_t LINE = 64;
    for (uintptr_t line = 0; line < STRIDE * sizeof(float); line += LINE)
    {
        // Not a pointer, as it may lie beyond the array; prefetching never fails.
        const auto address = reinterpret_cast<uintptr_t>(values) + AHEAD + line;
        __builtin_prefetch(reinterpret_cast<const void*>(address));
    }
}

/// The larger of a key and those of the values.
uint32_t
FindLargerKey(uint32_t largest, const float* values, uint64_t count)
{
    for (uint64_t i = 0; i < count; ++i)
    {
        largest = std::max(largest, MagnitudeKey(values[i]));
    }
    return largest;
}

void
EncodeInt8Rest(const float* values, uint64_t count, float inverse, int8_t* codes)
{
    for (uint64_t i = 0; i < count; ++i)
    {
        codes[i] = static_cast<int8_t>(ToBits(values[i] * inverse + WHOLE_INT8));
    }
}

GRADSYNC_INT8_AVX2 inline __m256i
MaxKeysAvx2(__m256i largest, const float* values)
{
    const __m256i keys =
        _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(values)),
                         _mm256_set1_epi32(0x7fffffff));
    return _mm256_max_epi32(largest, keys);
}

/// Whole numbers of eight values, of 32 bits each.
GRADSYNC_INT8_AVX2 inline __m256i
RoundAvx2(const float* values, __m256 inverse)
{
    const __m256 whole = _mm256_set1_ps(WHOLE_INT8);
    const __m256 sum = _mm256_add_ps(_mm256_mul_ps(_mm256_loadu_ps(values), inverse), whole);
    return _mm256_sub_epi32(_mm256_castps_si256(sum), _mm256_castps_si256(whole));
}

/// At the next of what is read from memory.
GRADSYNC_INT8_AVX2 inline void
LookAvx2(const float* next, __m256i (&largest)[4])
{
    FetchAhead(next);
    for (uint64_t i = 0; i < STRIDE; i += 8)
    {
        largest[i / 8 % 4] = MaxKeysAvx2(largest[i / 8 % 4], next + i);
    }
}

/// Codes of 32 values.
GRADSYNC_INT8_AVX2 inline void
EncodeAvx2(const float* values, __m256 inverse, int8_t* codes)
{
    // Packing goes by halves of registers, and leaves fours of codes in this order.
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i low =
        _mm256_packs_epi32(RoundAvx2(values, inverse), RoundAvx2(values + 8, inverse));
    const __m256i high =
        _mm256_packs_epi32(RoundAvx2(values + 16, inverse), RoundAvx2(values + 24, inverse));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes),
                        _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order));
}

GRADSYNC_INT8_AVX2 uint32_t
FindLargestLane(const __m256i (&largest)[4])
{
    const __m256i all = _mm256_max_epi32(_mm256_max_epi32(largest[0], largest[1]),
                                         _mm256_max_epi32(largest[2], largest[3]));
    alignas(32) uint32_t keys[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(keys), all);
    return *std::max_element(keys, keys + 8);
}

} // namespace

GRADSYNC_INT8_AVX2 uint32_t
EncodeInt8AndLookAvx2(const float* values,
                      uint64_t count,
                      float inverse,
                      int8_t* codes,
                      const float* next,
                      uint64_t nextCount)
{
    const bool isZero = inverse == 0.0F; // also where values are not finite
    if (isZero)
    {
        std::fill_n(codes, count, int8_t{0});
    }
    const __m256 factor = _mm256_set1_ps(inverse);
    __m256i largest[4] = {};
    const uint64_t both = isZero ? 0 : std::min(count, nextCount) / STRIDE * STRIDE;
    for (uint64_t i = 0; i < both; i += STRIDE)
    {
        LookAvx2(next + i, largest);
        EncodeAvx2(values + i, factor, codes + i);
        EncodeAvx2(values + i + 32, factor, codes + i + 32);
    }
    uint64_t encoded = isZero ? count : both;
    for (; encoded + 32 <= count; encoded += 32)
    {
        EncodeAvx2(values + encoded, factor, codes + encoded);
    }
    uint64_t seen = both;
    for (; seen + 8 <= nextCount; seen += 8)
    {
        largest[0] = MaxKeysAvx2(largest[0], next + seen);
    }
    EncodeInt8Rest(values + encoded, count - encoded, inverse, codes + encoded);
    return FindLargerKey(FindLargestLane(largest), next + seen, nextCount - seen);
}

} // namespace ns3::gradsync

#endif
