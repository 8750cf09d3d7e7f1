// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_KERNELS_FILL_TILES_H
#define GRADSYNC_KERNELS_FILL_TILES_H

#include "launch.h"

/**
 * Dense gradients of messages whose entries are in order: a block of threads puts those of its tile
 * where they belong in shared memory, and then writes all of it once. To scatter them over memory
 * that was cleared costs twice as much for 10 % of the elements: of each sector that is written in
 * part the rest is read.
 */
namespace ns3::gradsync::kernels
{

inline constexpr uint32_t FILL_ELEMENTS = 4096; //!< of a tile

/// Entries of a message, [first, last).
struct EntryRange
{
    uint64_t first;
    uint64_t last;
};

/**
 * First of `count` ascending indices that is not below `limit`; of others any. Called by a whole
 * warp, of which each lane tries another place.
 */
__device__ inline uint64_t
FindFirstFrom(const uint32_t* indices, uint64_t count, uint64_t limit)
{
    const uint32_t lane = threadIdx.x % WARP;
    uint64_t low = 0;
    uint64_t high = count;
    while (low < high)
    {
        const uint64_t step = (high - low + WARP) / (WARP + 1);
        const uint64_t tried = low + (lane + 1) * step - 1;
        const uint32_t below = __ballot_sync(ALL_LANES, tried < high && indices[tried] < limit);
        const auto steps = below == ALL_LANES ? WARP : static_cast<uint32_t>(__ffs(~below)) - 1;
        low += steps * step;
        high = steps < WARP ? min(high, low + step - 1) : high;
    }
    return low;
}

/**
 * A block of threads per tile.
 * \param message has FindRange(begin, EntryRange&), called by all threads, which leaves the
 * entries of a tile in shared memory, and GetIndex(entry) and GetValue(entry); indices outside of
 * the tile, as of a broken message, are left out
 */
template <typename Message>
__global__ void
__launch_bounds__(THREADS)
    FillTilesKernel(Message message, uint64_t elements, float* __restrict__ gradient)
{
    constexpr uint32_t VECTORS = FILL_ELEMENTS / 4 / THREADS;
    __shared__ float4 tile[FILL_ELEMENTS / 4];
    __shared__ EntryRange range;
    const uint64_t begin = static_cast<uint64_t>(blockIdx.x) * FILL_ELEMENTS;
#pragma unroll
    for (uint32_t i = 0; i < VECTORS; ++i)
    {
        tile[i * THREADS + threadIdx.x] = float4{};
    }
    message.FindRange(begin, range);
    __syncthreads();
    const uint64_t last = range.last;
#pragma unroll 1
    for (uint64_t entry = range.first + threadIdx.x; entry < last; entry += THREADS)
    {
        const uint64_t place = message.GetIndex(entry) - begin;
        if (place < FILL_ELEMENTS)
        {
            StoreContended(reinterpret_cast<float*>(tile) + place, message.GetValue(entry));
        }
    }
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < VECTORS; ++i)
    {
        const uint32_t vector = i * THREADS + threadIdx.x;
        StoreFour(gradient, begin + 4 * vector, elements, tile[vector]);
    }
}

template <typename Message>
cudaError_t
FillTiles(const Message& message, uint64_t elements, float* gradient, cudaStream_t stream)
{
    if (elements > 0)
    {
        const auto tiles = static_cast<uint32_t>((elements + FILL_ELEMENTS - 1) / FILL_ELEMENTS);
        Launch<FillTilesKernel<Message>>(tiles, THREADS, stream, message, elements, gradient);
    }
    return cudaGetLastError();
}

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_KERNELS_FILL_TILES_H
