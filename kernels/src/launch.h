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

/// Puts a kernel on a stream, or runs it on the CPU where CUDA is emulated (kernels/emulator).
template <auto KERNEL, typename... Arguments>
void
Launch(uint32_t blocks, uint32_t threads, cudaStream_t stream, const Arguments&... arguments)
{
#ifdef GRADSYNC_EMULATED
    static_cast<void>(stream); // all launches end before they return
    emulator::Launch<KERNEL>(blocks, threads, arguments...);
#else
    KERNEL<<<blocks, threads, 0, stream>>>(arguments...);
#endif
}

/// Whether this block of a launch is the last one to come here. What all threads of all blocks did
/// before, it sees by volatile reads. \param finished 0 before the launch \param flag in shared
/// memory
__device__ inline bool
IsLastBlock(uint32_t* finished, uint32_t* flag)
{
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
    {
        *flag = atomicAdd(finished, 1U) + 1 == gridDim.x ? 1U : 0U;
    }
    __syncthreads();
    __threadfence();
    return *flag != 0;
}

/// Four values from `first` on; those at or after `count` are `other`.
template <typename Vector, typename Scalar, typename Index>
__device__ inline Vector
LoadFour(const Scalar* values, Index first, Index count, Scalar other)
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
template <typename Vector, typename Scalar, typename Index>
__device__ inline void
StoreFour(Scalar* values, Index first, Index count, const Vector& stored)
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

/// Stores a value where a broken message may make other threads store theirs: one of them stays. A
/// volatile store is a relaxed one in PTX's memory model, hence no race, and costs what others do.
__device__ inline void
StoreContended(float* where, float value)
{
    *static_cast<volatile float*>(where) = value;
}

/// Inclusive prefix sum over the lanes of a warp, in order of lanes.
__device__ inline uint32_t
ScanLanes(uint32_t value)
{
    const uint32_t lane = threadIdx.x % WARP;
    for (uint32_t step = 1; step < WARP; step *= 2)
    {
        const uint32_t below = __shfl_up_sync(ALL_LANES, value, step);
        value += lane >= step ? below : 0U;
    }
    return value;
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
    const uint32_t inclusive = ScanLanes(value);
    __syncthreads(); // the scratch of the scan before has been read
    if (lane == WARP - 1)
    {
        scratch[warp] = inclusive;
    }
    __syncthreads();
    // Each warp adds up the totals of all, a lane for each: no third barrier, and one load a
    // thread.
    const uint32_t ofWarp = lane < warps ? scratch[lane] : 0U;
    const uint32_t upTo = ScanLanes(ofWarp);
    total = __shfl_sync(ALL_LANES, upTo, WARP - 1);
    return __shfl_sync(ALL_LANES, upTo - ofWarp, warp) + inclusive - value;
}

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_KERNELS_LAUNCH_H
