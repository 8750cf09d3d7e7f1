// SPDX-License-Identifier: GPL-2.0-only
#include "stochastic-kernels.h"
#include "warp-sums.h"

namespace ns3::gradsync::kernels
{

namespace
{

/// Codes of four elements of so many bits each: a number that a vector of elements owns.
template <uint32_t BITS>
struct PackedCodes;

template <>
struct PackedCodes<2>
{
    using Type = uint8_t;
};

template <>
struct PackedCodes<4>
{
    using Type = uint16_t;
};

template <>
struct PackedCodes<8>
{
    using Type = uint32_t;
};

/// Codes of the elements from `first` on; of none at or after `count`.
template <uint32_t BITS>
__device__ inline void
StoreCodes(uint8_t* codes, uint64_t first, uint64_t count, uint32_t packed)
{
    uint8_t* const bytes = codes + first / 4 * (BITS / 2);
    if (first + 4 <= count)
    {
        using Type = typename PackedCodes<BITS>::Type;
        *reinterpret_cast<Type*>(bytes) = static_cast<Type>(packed);
        return;
    }
    const auto rest = static_cast<uint32_t>(count - first);
#pragma unroll
    for (uint32_t i = 0; i < BITS / 2; ++i)
    {
        if (8 * i < rest * BITS)
        {
            bytes[i] = static_cast<uint8_t>(packed >> (8 * i));
        }
    }
}

template <uint32_t BITS>
__device__ inline uint32_t
LoadCodes(const uint8_t* codes, uint64_t first, uint64_t count)
{
    const uint8_t* const bytes = codes + first / 4 * (BITS / 2);
    if (first + 4 <= count)
    {
        return *reinterpret_cast<const typename PackedCodes<BITS>::Type*>(bytes);
    }
    const auto rest = static_cast<uint32_t>(count - first);
    uint32_t packed = 0;
#pragma unroll
    for (uint32_t i = 0; i < BITS / 2; ++i)
    {
        packed |= 8 * i < rest * BITS ? static_cast<uint32_t>(bytes[i]) << (8 * i) : 0U;
    }
    return packed;
}

/// A warp per bucket, which looks at it twice: the second time it lies in a cache.
template <uint32_t BITS>
__global__ void
__launch_bounds__(THREADS) EncodeQsgdKernel(const float* __restrict__ values,
                                            uint64_t count,
                                            uint32_t blockElements,
                                            uint32_t levels,
                                            RandomStream random,
                                            uint8_t* __restrict__ codes,
                                            float* __restrict__ norms)
{
    const uint32_t lane = threadIdx.x % WARP;
    const uint64_t bucket = static_cast<uint64_t>(blockIdx.x) * WARPS + threadIdx.x / WARP;
    const uint64_t begin = bucket * blockElements;
    if (begin >= count)
    {
        return;
    }
    const uint64_t end = begin + blockElements < count ? begin + blockElements : count;
    const float norm = MakeQsgdNorm(AddWarp(SumVectors(values, begin, end).squares));
    if (lane == 0)
    {
        norms[bucket] = norm;
    }
    const float inverse = GetQsgdInverse(norm, levels);
    const auto most = static_cast<float>(levels);
    for (uint64_t first = begin + 4 * lane; first < end; first += SQUARE_LANES)
    {
        const float4 four = LoadFour<float4>(values, first, end, 0.0F);
        const PhiloxBlock drawn = DrawFour(random, first / 4);
        const uint32_t x = EncodeQsgd(four.x, inverse, most, drawn.words[0], BITS);
        const uint32_t y = EncodeQsgd(four.y, inverse, most, drawn.words[1], BITS);
        const uint32_t z = EncodeQsgd(four.z, inverse, most, drawn.words[2], BITS);
        const uint32_t w = EncodeQsgd(four.w, inverse, most, drawn.words[3], BITS);
        StoreCodes<BITS>(codes, first, end, x | y << BITS | z << (2 * BITS) | w << (3 * BITS));
    }
}

template <uint32_t BITS>
__global__ void
__launch_bounds__(THREADS) DecodeQsgdKernel(const uint8_t* __restrict__ codes,
                                            const float* __restrict__ norms,
                                            uint64_t count,
                                            uint32_t blockElements,
                                            uint32_t levels,
                                            float* __restrict__ values)
{
    constexpr uint32_t MASK = (1U << BITS) - 1U;
    const uint64_t first = 4 * (static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x);
    if (first >= count)
    {
        return;
    }
    const float step = GetQsgdStep(norms[static_cast<uint32_t>(first) / blockElements], levels);
    const uint32_t packed = LoadCodes<BITS>(codes, first, count);
    StoreFour(values,
              first,
              count,
              float4{DecodeQsgd(packed & MASK, step, BITS),
                     DecodeQsgd(packed >> BITS & MASK, step, BITS),
                     DecodeQsgd(packed >> (2 * BITS) & MASK, step, BITS),
                     DecodeQsgd(packed >> (3 * BITS) & MASK, step, BITS)});
}

template <uint32_t BITS>
void
LaunchEncodeQsgd(const float* values,
                 uint64_t count,
                 uint32_t blockElements,
                 uint32_t levels,
                 const RandomStream& random,
                 uint8_t* codes,
                 float* norms,
                 cudaStream_t stream)
{
    const uint64_t buckets = (count + blockElements - 1) / blockElements;
    Launch<EncodeQsgdKernel<BITS>>(static_cast<uint32_t>((buckets + WARPS - 1) / WARPS),
                                   THREADS,
                                   stream,
                                   values,
                                   count,
                                   blockElements,
                                   levels,
                                   random,
                                   codes,
                                   norms);
}

template <uint32_t BITS>
void
LaunchDecodeQsgd(const uint8_t* codes,
                 const float* norms,
                 uint64_t count,
                 uint32_t blockElements,
                 uint32_t levels,
                 float* values,
                 cudaStream_t stream)
{
    Launch<DecodeQsgdKernel<BITS>>(CountThreadBlocks((count + 3) / 4),
                                   THREADS,
                                   stream,
                                   codes,
                                   norms,
                                   count,
                                   blockElements,
                                   levels,
                                   values);
}

bool
IsQsgd(uint32_t blockElements, uint32_t levels)
{
    return blockElements > 0 && blockElements % 4 == 0 && levels > 0 && levels <= MAX_QSGD_LEVELS;
}

} // namespace

cudaError_t
EncodeQsgdBuckets(const float* values,
                  uint64_t count,
                  uint32_t blockElements,
                  uint32_t levels,
                  const RandomStream& random,
                  uint8_t* codes,
                  float* norms,
                  cudaStream_t stream)
{
    if (!IsQsgd(blockElements, levels))
    {
        return cudaErrorInvalidValue;
    }
    if (count > 0)
    {
        const uint32_t bits = GetQsgdBits(levels);
        const auto launch = bits == 2   ? LaunchEncodeQsgd<2>
                            : bits == 4 ? LaunchEncodeQsgd<4>
                                        : LaunchEncodeQsgd<8>;
        launch(values, count, blockElements, levels, random, codes, norms, stream);
    }
    return cudaGetLastError();
}

cudaError_t
DecodeQsgdBuckets(const uint8_t* codes,
                  const float* norms,
                  uint64_t count,
                  uint32_t blockElements,
                  uint32_t levels,
                  float* values,
                  cudaStream_t stream)
{
    if (!IsQsgd(blockElements, levels))
    {
        return cudaErrorInvalidValue;
    }
    if (count > 0)
    {
        const uint32_t bits = GetQsgdBits(levels);
        const auto launch = bits == 2   ? LaunchDecodeQsgd<2>
                            : bits == 4 ? LaunchDecodeQsgd<4>
                                        : LaunchDecodeQsgd<8>;
        launch(codes, norms, count, blockElements, levels, values, stream);
    }
    return cudaGetLastError();
}

} // namespace ns3::gradsync::kernels
