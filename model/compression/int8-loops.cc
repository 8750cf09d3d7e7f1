// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/int8-loops.h"

#include "ns3/float-bits.h"
#include "ns3/quantiser-arithmetic.h"

#include <algorithm>
#include <bit>

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

/// Asks for what is looked at after 8 KiB more: beside the encoding the processor sees too few of
/// the reads ahead to keep the memory busy.
inline void
FetchAhead(const float* values)
{
    constexpr uintptr_t AHEAD = 8192;
    constexpr uintptr_t LINE = 64;
    for (uintptr_t line = 0; line < STRIDE * sizeof(float); line += LINE)
    {
        // Not a pointer, as it may lie beyond the array; prefetching never fails.
        const auto address = reinterpret_cast<uintptr_t>(values) + AHEAD + line;
        __builtin_prefetch(std::bit_cast<const void*>(address));
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

void
DecodeInt8Rest(const int8_t* codes, uint64_t count, float scale, float* values)
{
    for (uint64_t i = 0; i < count; ++i)
    {
        values[i] = DecodeInt8(codes[i], scale);
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

/// To an address that for Stores::Streamed is aligned.
template <Stores STORES>
GRADSYNC_INT8_AVX2 inline void
StoreAvx2(void* target, __m256i bits)
{
    if constexpr (STORES == Stores::Streamed)
    {
        _mm256_stream_si256(static_cast<__m256i*>(target), bits);
    }
    else
    {
        _mm256_storeu_si256(static_cast<__m256i*>(target), bits);
    }
}

/// Codes of 32 values.
template <Stores STORES>
GRADSYNC_INT8_AVX2 inline void
EncodeAvx2(const float* values, __m256 inverse, int8_t* codes)
{
    // Packing goes by halves of registers, and leaves fours of codes in this order.
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i low =
        _mm256_packs_epi32(RoundAvx2(values, inverse), RoundAvx2(values + 8, inverse));
    const __m256i high =
        _mm256_packs_epi32(RoundAvx2(values + 16, inverse), RoundAvx2(values + 24, inverse));
    StoreAvx2<STORES>(codes, _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order));
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

/// Elements before the first at the beginning of a cache line.
template <typename Element>
uint64_t
CountUntilLine(const Element* elements)
{
    constexpr uintptr_t LINE = 64;
    return (0 - reinterpret_cast<uintptr_t>(elements)) % LINE / sizeof(Element);
}

/// Both at once for STRIDE elements at a time, of `both`.
template <Stores STORES>
GRADSYNC_INT8_AVX2 inline void
EncodeAndLookAvx2(const float* values,
                  uint64_t both,
                  __m256 inverse,
                  int8_t* codes,
                  const float* next,
                  __m256i (&largest)[4])
{
    for (uint64_t i = 0; i < both; i += STRIDE)
    {
        LookAvx2(next + i, largest);
        EncodeAvx2<STORES>(values + i, inverse, codes + i);
        EncodeAvx2<STORES>(values + i + 32, inverse, codes + i + 32);
    }
}

/// Eight codes. \param scale as DecodeInt8 has it: a NaN is the canonical one
template <Stores STORES>
GRADSYNC_INT8_AVX2 inline void
DecodeAvx2(const int8_t* codes, __m256 scale, float* values)
{
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes));
    const __m256 numbers = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
    StoreAvx2<STORES>(values, _mm256_castps_si256(_mm256_mul_ps(numbers, scale)));
}

} // namespace

GRADSYNC_INT8_AVX2 uint32_t
EncodeInt8AndLookAvx2(const float* values,
                      uint64_t count,
                      float inverse,
                      int8_t* codes,
                      const float* next,
                      uint64_t nextCount,
                      Stores stores)
{
    const bool isZero = inverse == 0.0F; // also where values are not finite
    if (isZero)
    {
        std::fill_n(codes, count, int8_t{0});
    }
    const __m256 factor = _mm256_set1_ps(inverse);
    __m256i largest[4] = {};
    uint64_t encoded = isZero ? count : 0;
    if (stores == Stores::Streamed && count - encoded >= STRIDE)
    {
        // What lies before the first whole line; codes behind it are written again, as they are.
        EncodeAvx2<Stores::Cached>(values, factor, codes);
        EncodeAvx2<Stores::Cached>(values + 32, factor, codes + 32);
        encoded = CountUntilLine(codes);
    }
    const uint64_t both = std::min(count - encoded, nextCount) / STRIDE * STRIDE;
    (stores == Stores::Streamed ? EncodeAndLookAvx2<Stores::Streamed>
                                : EncodeAndLookAvx2<Stores::Cached>)(values + encoded,
                                                                     both,
                                                                     factor,
                                                                     codes + encoded,
                                                                     next,
                                                                     largest);
    encoded += both;
    for (; encoded + 32 <= count; encoded += 32)
    {
        EncodeAvx2<Stores::Cached>(values + encoded, factor, codes + encoded);
    }
    uint64_t seen = both;
    for (; seen + 8 <= nextCount; seen += 8)
    {
        largest[0] = MaxKeysAvx2(largest[0], next + seen);
    }
    EncodeInt8Rest(values + encoded, count - encoded, inverse, codes + encoded);
    if (stores == Stores::Streamed)
    {
        _mm_sfence(); // what was streamed is seen before what follows
    }
    return FindLargerKey(FindLargestLane(largest), next + seen, nextCount - seen);
}

GRADSYNC_INT8_AVX2 void
DecodeInt8Avx2(const int8_t* codes, uint64_t count, float scale, float* values, Stores stores)
{
    const __m256 factor = _mm256_set1_ps(DecodeInt8(1, scale));
    uint64_t decoded = 0;
    if (stores == Stores::Streamed)
    {
        decoded = std::min(count, CountUntilLine(values));
        DecodeInt8Rest(codes, decoded, scale, values);
        for (; decoded + 16 <= count; decoded += 16)
        {
            DecodeAvx2<Stores::Streamed>(codes + decoded, factor, values + decoded);
            DecodeAvx2<Stores::Streamed>(codes + decoded + 8, factor, values + decoded + 8);
        }
        _mm_sfence();
    }
    for (; decoded + 8 <= count; decoded += 8)
    {
        DecodeAvx2<Stores::Cached>(codes + decoded, factor, values + decoded);
    }
    DecodeInt8Rest(codes + decoded, count - decoded, scale, values + decoded);
}

} // namespace ns3::gradsync

#endif
