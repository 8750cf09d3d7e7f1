// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_KERNELS_TILE_COUNTS_H
#define GRADSYNC_KERNELS_TILE_COUNTS_H

#include "launch.h"

namespace ns3::gradsync::kernels
{

/**
 * Counts of tiles in flight, 0 before a launch. A word per tile: the state in the upper half, a
 * count in the lower, so that one 64-bit store publishes both.
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

    /// Tells the others a tile's count. Called by one thread.
    __device__ void Announce(uint32_t index, uint32_t count) const
    {
        if (index > 0)
        {
            Publish(index, OWN, count);
        }
    }

    /// Tells them that of all tiles so far, after Announce(). Called by the whole first warp.
    /// \returns that of all before
    __device__ uint32_t AddUp(uint32_t index, uint32_t count) const
    {
        const uint32_t earlier = LookBack(index);
        if (threadIdx.x == 0)
        {
            Publish(index, INCLUSIVE, earlier + count);
        }
        return earlier;
    }

    /// Both at once. Called by the whole first warp.
    __device__ uint32_t Add(uint32_t index, uint32_t count) const
    {
        if (threadIdx.x == 0)
        {
            Announce(index, count);
        }
        return AddUp(index, count);
    }
};

inline TileCounts
TakeTileCounts(WorkspaceCutter& cutter, uint32_t tiles)
{
    auto* const words = cutter.Take<unsigned long long>(tiles + 1ULL);
    return {reinterpret_cast<uint32_t*>(words), words + 1};
}

/// Words to clear from the ticket on.
inline uint64_t
CountTileWords(uint32_t tiles)
{
    return tiles + 1ULL;
}

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_KERNELS_TILE_COUNTS_H
