// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_KERNELS_ORDERED_SELECT_H
#define GRADSYNC_KERNELS_ORDERED_SELECT_H

#include "launch.h"

/**
 * One pass over an array that writes the elements which a rule selects, in order, and stops at a
 * capacity: decoupled look-back (Merrill and Garland, NVIDIA technical report NVR-2016-002).
 */
namespace ns3::gradsync::kernels
{

inline constexpr uint32_t SELECT_VECTORS = 2; //!< float4 per thread and tile
inline constexpr uint32_t TILE_ELEMENTS = 4 * SELECT_VECTORS * THREADS;

/**
 * Counts of tiles in flight. A word per tile: the state in the upper half, a count in the lower, so
 * that one 64-bit store publishes both.
 */
struct TileCounts
{
    static constexpr uint64_t NOTHING = 0;
    static constexpr uint64_t OWN = 1;       //!< the tile's own count
    static constexpr uint64_t INCLUSIVE = 2; //!< of all tiles up to and with this one

    uint32_t* ticket;         //!< tiles are taken in order, so all before have been taken
    unsigned long long* tile; //!< one per tile

    __device__ void Publish(uint32_t index, uint64_t state, uint32_t count) const
    {
        atomicExch(tile + index, state << 32 | count);
    }

    __device__ uint64_t Read(uint32_t index) const
    {
        return *reinterpret_cast<volatile unsigned long long*>(tile + index);
    }

    /// Elements of all tiles before `index`. Called by the whole first warp; each lane gets it.
    __device__ uint32_t LookBack(uint32_t index) const
    {
        const uint32_t lane = threadIdx.x % WARP;
        uint32_t before = 0;
        uint32_t end = index; // tiles [0, end) have not been looked at
        while (end > 0)
        {
            uint64_t word = INCLUSIVE << 32; // beyond the first tile: nothing
            if (lane < end)
            {
                do
                {
                    word = Read(end - 1 - lane);
                } while (word >> 32 == NOTHING);
            }
            // The nearest tile that knows all before it ends the look-back.
            const uint32_t known = __ballot_sync(ALL_LANES, word >> 32 == INCLUSIVE);
            const uint32_t last = known != 0 ? static_cast<uint32_t>(__ffs(known)) - 1 : WARP - 1;
            const uint32_t counted = lane <= last ? static_cast<uint32_t>(word) : 0U;
            before += __reduce_add_sync(ALL_LANES, counted);
            if (known != 0)
            {
                break;
            }
            end -= WARP;
        }
        return before;
    }
};

/// Bytes and layout of a workspace of OrderedSelectKernel.
inline uint32_t
CountTiles(uint64_t count)
{
    return static_cast<uint32_t>((count + TILE_ELEMENTS - 1) / TILE_ELEMENTS);
}

inline TileCounts
TakeTileCounts(WorkspaceCutter& cutter, uint64_t count)
{
    auto* const tiles = cutter.Take<unsigned long long>(CountTiles(count) + 1ULL);
    return {reinterpret_cast<uint32_t*>(tiles), tiles + 1};
}

/// Must come before every launch.
inline cudaError_t
ClearTileCounts(const TileCounts& counts, uint64_t count, cudaStream_t stream)
{
    return cudaMemsetAsync(counts.ticket,
                           0,
                           (CountTiles(count) + 1ULL) * sizeof(unsigned long long),
                           stream);
}

/**
 * \param rule a type with `Held`, what it keeps of four elements between its two calls:
 *   uint32_t Look(first, Held&): bits 0 to 3 say which of four elements from `first` on are
 * selected void Keep(first, held, sent): bits of `sent` say which of them were written float
 * GetValue(held, i)
 */
template <typename Rule>
__global__ void
__launch_bounds__(THREADS, 3) // 80 registers: DGC holds 16 floats at a time
    OrderedSelectKernel(Rule rule,
                        uint32_t tiles,
                        uint32_t capacity,
                        TileCounts counts,
                        uint32_t* __restrict__ indices,
                        float* __restrict__ selected,
                        uint32_t* __restrict__ found)
{
    __shared__ uint32_t scratch[THREADS / WARP];
    __shared__ uint32_t shared[2]; // the tile, and the elements before it
    if (threadIdx.x == 0)
    {
        shared[0] = atomicAdd(counts.ticket, 1U);
    }
    __syncthreads();
    const uint32_t tile = shared[0];
    const uint64_t begin = static_cast<uint64_t>(tile) * TILE_ELEMENTS;
    typename Rule::Held held[SELECT_VECTORS];
    uint32_t wanted[SELECT_VECTORS];
    uint32_t before[SELECT_VECTORS]; // selected elements of the tile before these four
    uint32_t inTile = 0;
#pragma unroll
    for (uint32_t i = 0; i < SELECT_VECTORS; ++i)
    {
        wanted[i] = rule.Look(begin + 4 * (threadIdx.x + THREADS * i), held[i]);
    }
#pragma unroll
    for (uint32_t i = 0; i < SELECT_VECTORS; ++i)
    {
        uint32_t total = 0;
        before[i] = inTile + ScanThreads(static_cast<uint32_t>(__popc(wanted[i])), scratch, total);
        inTile += total;
    }
    if (threadIdx.x < WARP)
    {
        if (threadIdx.x == 0 && tile > 0)
        {
            counts.Publish(tile, TileCounts::OWN, inTile);
        }
        const uint32_t earlier = counts.LookBack(tile);
        if (threadIdx.x == 0)
        {
            counts.Publish(tile, TileCounts::INCLUSIVE, earlier + inTile);
            shared[1] = earlier;
            if (tile + 1 == tiles)
            {
                *found = min(capacity, earlier + inTile);
            }
        }
    }
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < SELECT_VECTORS; ++i)
    {
        const uint64_t first = begin + 4 * (threadIdx.x + THREADS * i);
        uint32_t position = shared[1] + before[i];
        uint32_t sent = 0;
#pragma unroll
        for (uint32_t element = 0; element < 4; ++element)
        {
            if ((wanted[i] >> element & 1U) != 0)
            {
                if (position < capacity)
                {
                    indices[position] = static_cast<uint32_t>(first + element);
                    selected[position] = rule.GetValue(held[i], element);
                    sent |= 1U << element;
                }
                ++position;
            }
        }
        rule.Keep(first, held[i], sent);
    }
}

/// Component of a vector by a number that is known when compiled.
__device__ inline float
GetComponent(const float4& four, uint32_t element)
{
    return element == 0 ? four.x : (element == 1 ? four.y : (element == 2 ? four.z : four.w));
}

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_KERNELS_ORDERED_SELECT_H
