// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_KERNELS_LAUNCH_H
#define GRADSYNC_KERNELS_LAUNCH_H

#include "workspace-cutter.h"

#include <cuda_runtime.h>

/// What the kernels share: launch shapes, scans over a block of threads.
namespace ns3::gradsync::kernels
{

inline constexpr uint32_t WARP = 32;
inline constexpr uint32_t ALL_LANES = 0xffffffffU;
inline constexpr uint32_t THREADS = 256; //!< per block of the streaming kernels

/// Blocks of threads that cover `items`, one thread for each.
inline uint32_t
CountThreadBlocks(uint64_t items)
{
    return static_cast<uint32_t>((items + THREADS - 1) / THREADS);
}

/// Four values from `first` on; those at or after `count` are `other`.
template <typename Vector, typename Scalar>
__device__ inline Vector
LoadFour(const Scalar* values, uint64_t first, uint64_t count, Scalar other)
{
    if (first + 4 <= count)
    {
        return *reinterpret_cast<const Vector*>(values + first);
    }
    Vector loaded{other, other, other, other};
    loaded.x = first < count ? values[first] : other;
    loaded.y = first + 1 < count ? values[first + 1] : other;
    loaded.z = first + 2 < count ? values[first + 2] : other;
    return loaded;
}

/// Stores four values from `first` on, but none at or after `count`.
template <typename Vector, typename Scalar>
__device__ inline void
StoreFour(Scalar* values, uint64_t first, uint64_t count, const Vector& stored)
{
    if (first + 4 <= count)
    {
        *reinterpret_cast<Vector*>(values + first) = stored;
        return;
    }
    if (first < count)
    {
        values[first] = stored.x;
    }
    if (first + 1 < count)
    {
        values[first + 1] = stored.y;
    }
    if (first + 2 < count)
    {
        values[first + 2] = stored.z;
    }
}

/**
 * Exclusive prefix sum over the threads of a block, in order of threads.
 * \param scratch one word per warp in shared memory
 * \param total the sum over all threads
 */
__device__ inline uint32_t
ScanThreads(uint32_t value, uint32_t* scratch, uint32_t& total)
{
    const uint32_t lane = threadIdx.x % WARP;
    const uint32_t warp = threadIdx.x / WARP;
    const uint32_t warps = blockDim.x / WARP;
    uint32_t inclusive = value;
    for (uint32_t step = 1; step < WARP; step *= 2)
    {
        const uint32_t below = __shfl_up_sync(ALL_LANES, inclusive, step);
        inclusive += lane >= step ? below : 0U;
    }
    __syncthreads(); // the scratch of the scan before has been read
    if (lane == WARP - 1)
    {
        scratch[warp] = inclusive;
    }
    __syncthreads();
    uint32_t before = 0;
    total = 0;
    for (uint32_t i = 0; i < warps; ++i)
    {
        before += i < warp ? scratch[i] : 0U;
        total += scratch[i];
    }
    return before + inclusive - value;
}

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_KERNELS_LAUNCH_H
