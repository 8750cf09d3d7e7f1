// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_KERNELS_WARP_SUMS_H
#define GRADSYNC_KERNELS_WARP_SUMS_H

#include "launch.h"

#include "ns3/stochastic-arithmetic.h"

/// Sums and maxima by warps, in the order of the CPU.
namespace ns3::gradsync::kernels
{

inline constexpr uint32_t WARPS = THREADS / WARP;
static_assert(SQUARE_LANES == 4 * WARP, "a lane of a warp owns those of one float4");

/// What a lane of the warp has, bit by bit.
__device__ inline double
ShuffleDouble(double value, uint32_t lane)
{
#ifdef __CUDA_ARCH__
    return __shfl_sync(ALL_LANES, value, static_cast<int>(lane));
#else
    const auto bits = std::bit_cast<uint64_t>(value);
    const uint64_t low = __shfl_sync(ALL_LANES, static_cast<uint32_t>(bits), lane);
    const uint64_t high = __shfl_sync(ALL_LANES, static_cast<uint32_t>(bits >> 32), lane);
    return std::bit_cast<double>(low | high << 32);
#endif
}

/// The sum over the lanes of a warp by halves, as the CPU adds them; the same in all lanes.
__device__ inline double
AddWarp(double value)
{
    const uint32_t lane = threadIdx.x % WARP;
#pragma unroll
    for (uint32_t half = WARP / 2; half > 0; half /= 2)
    {
        value += ShuffleDouble(value, lane ^ half);
    }
    return value;
}

__device__ inline double
Square(float value)
{
    return static_cast<double>(value) * static_cast<double>(value);
}

/// What a lane sees of a part of the tensor.
struct LaneSums
{
    double squares;
    uint32_t largestKey;
};

/// Of the vectors of elements [begin, end) that belong to a lane: every 32nd.
__device__ inline LaneSums
SumVectors(const float* values, uint64_t begin, uint64_t end)
{
    double own[4] = {};
    uint32_t largest = 0;
#pragma unroll 4
    for (uint64_t first = begin + 4 * (threadIdx.x % WARP); first < end; first += SQUARE_LANES)
    {
        const float4 four = LoadFour<float4>(values, first, end, 0.0F);
        own[0] += Square(four.x);
        own[1] += Square(four.y);
        own[2] += Square(four.z);
        own[3] += Square(four.w);
        largest = max(largest,
                      max(max(MagnitudeKey(four.x), MagnitudeKey(four.y)),
                          max(MagnitudeKey(four.z), MagnitudeKey(four.w))));
    }
    return {(own[0] + own[2]) + (own[1] + own[3]), largest};
}

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_KERNELS_WARP_SUMS_H
