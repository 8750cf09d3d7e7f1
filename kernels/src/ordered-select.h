// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_KERNELS_ORDERED_SELECT_H
#define GRADSYNC_KERNELS_ORDERED_SELECT_H

#include "launch.h"
#include "tile-counts.h"
#include "tuning.h"

#include "ns3/sparsifier-arithmetic.h"

#include <algorithm>

/**
 * One pass over an array that writes the elements which a rule selects, in order, and stops at a
 * capacity: decoupled look-back (Merrill and Garland, NVIDIA technical report NVR-2016-002).
 *
 * Each warp has a contiguous part of its tile, of which a vector of four elements per lane is a
 * row. So one scan over lanes, a byte for each row, gives every lane its place in all rows, and
 * another one, over warps, the place of the warp.
 */
namespace ns3::gradsync::kernels
{

inline constexpr uint32_t ROW_ELEMENTS = 4 * WARP; //!< 128 at most are selected: fits a byte

GRADSYNC_HOST_DEVICE constexpr uint64_t
GetTileElements(uint32_t vectors)
{
    return uint64_t{4} * vectors * THREADS;
}

inline uint32_t
CountTiles(uint64_t count, uint32_t vectors)
{
    const uint64_t tile = GetTileElements(vectors);
    return static_cast<uint32_t>((count + tile - 1) / tile);
}

/// Room for the tiles of any architecture.
inline TileCounts
TakeTileCounts(WorkspaceCutter& cutter, uint64_t count, TuningNumber vectors)
{
    return TakeTileCounts(cutter, CountTiles(count, GetLeast(vectors)));
}

/// Four elements of a tile.
struct TileVector
{
    uint64_t first;
    int32_t left; //!< elements of the tile from the first on; none if it is not above 0

    __device__ TileVector GetRow(uint32_t row) const
    {
        return {first + ROW_ELEMENTS * row, left - static_cast<int32_t>(ROW_ELEMENTS * row)};
    }

    /// Bits 0 to 3: which of the four there are.
    __device__ uint32_t GetPresentBits() const
    {
        return (1U << min(max(left, 0), 4)) - 1U;
    }

    __device__ float4 Load(const float* values) const
    {
        return LoadFour<float4>(values + first, 0, left, 0.0F);
    }

    __device__ void Store(float* values, const float4& four) const
    {
        StoreFour(values + first, 0, left, four);
    }
};

/// Component of a vector by a number that is known when compiled.
template <typename Vector>
__device__ inline auto
GetComponent(const Vector& four, uint32_t element)
{
    return element == 0 ? four.x : (element == 1 ? four.y : (element == 2 ? four.z : four.w));
}

/// Bits 0 to 3: which of four magnitudes reach a key.
__device__ inline uint32_t
FindReached(const float4& four, uint32_t key)
{
    uint32_t bits = MagnitudeKey(four.x) >= key ? 1U : 0U;
    bits |= MagnitudeKey(four.y) >= key ? 2U : 0U;
    bits |= MagnitudeKey(four.z) >= key ? 4U : 0U;
    bits |= MagnitudeKey(four.w) >= key ? 8U : 0U;
    return bits;
}

/// Base of rules that do nothing beside selecting.
struct SelectRule
{
    static constexpr TuningNumber VECTORS = &Tuning::selectVectors;
    static constexpr uint32_t BLOCKS = 6; //!< of threads on a multiprocessor: 40 registers each
    static constexpr bool HOLDS = false;  //!< the values in registers, and has GetValue
    static constexpr bool KEEPS = false;  //!< changes them where they are, and has Keep

    /// In shared memory.
    struct Shared
    {
    };

    /// Of four elements, from the look at them to the end of their tile.
    struct Held
    {
    };

    __device__ void Begin(Shared&) const
    {
    }

    __device__ void End(Shared&, uint32_t*) const
    {
    }

    __device__ void Finish() const
    {
    }
};

/// Sum of the four bytes of a word, each 128 at most.
__device__ inline uint32_t
SumBytes(uint32_t word)
{
    const uint32_t pairs = (word & 0x00ff00ffU) + (word >> 8 & 0x00ff00ffU);
    return (pairs & 0xffffU) + (pairs >> 16);
}

/// Where in its tile a thread's vector of a row begins.
template <uint32_t TILE>
__device__ inline uint32_t
GetOffset(uint32_t thread, uint32_t row)
{
    return thread / WARP * (TILE / THREADS * WARP) + ROW_ELEMENTS * row + 4 * (thread % WARP);
}

/// What a tile selects, in order, on the way from the threads that have it to those that write it:
/// a warp writes 32 neighbours at once. Values that nobody holds are read then.
template <typename Rule, uint32_t TILE>
struct SelectedOfTile
{
    static_assert(TILE <= 16 * THREADS, "a thread has sixteen elements at most");

    uint16_t sources[TILE]; //!< the thread, and the number among its elements in four bits
    float values[Rule::HOLDS ? TILE : 1];

    /// Takes what is wanted of four elements.
    __device__ void Put(const Rule& rule,
                        const typename Rule::Held& held,
                        uint32_t wanted,
                        uint32_t row,
                        uint32_t rank)
    {
        uint16_t* at = sources + rank;
        float* value = values + (Rule::HOLDS ? rank : 0);
        const uint32_t source = 16 * threadIdx.x + 4 * row;
#pragma unroll 1
        for (uint32_t left = wanted; left != 0; left &= left - 1)
        {
            const auto element = static_cast<uint32_t>(__ffs(left)) - 1;
            *at++ = static_cast<uint16_t>(source + element);
            if constexpr (Rule::HOLDS)
            {
                *value++ = rule.GetValue(held, element);
            }
        }
    }

    /// Writes the first `count` to where they belong.
    __device__ void Write(const Rule& rule,
                          uint64_t begin,
                          uint32_t count,
                          uint32_t* indices,
                          float* selected) const
    {
#pragma unroll 1
        for (uint32_t rank = threadIdx.x; rank < count; rank += THREADS)
        {
            const uint32_t source = sources[rank];
            const uint64_t index =
                begin + GetOffset<TILE>(source / 16, source / 4 % 4) + source % 4;
            indices[rank] = static_cast<uint32_t>(index);
            if constexpr (Rule::HOLDS)
            {
                selected[rank] = values[rank];
            }
            else
            {
                selected[rank] = rule.values[index];
            }
        }
    }
};

/// The lowest `count` of the bits 0 to 3 of a word.
__device__ inline uint32_t
KeepLowest(uint32_t bits, uint32_t count)
{
    while (static_cast<uint32_t>(__popc(bits)) > count)
    {
        bits &= bits >> 1 | bits >> 2 | bits >> 3;
    }
    return bits;
}

/// A thread's first vector of a tile.
template <uint32_t TILE>
__device__ inline TileVector
FindVector(uint32_t tile, uint64_t count)
{
    const uint64_t begin = static_cast<uint64_t>(tile) * TILE;
    const uint64_t rest = count > begin ? count - begin : 0;
    const uint32_t offset = GetOffset<TILE>(threadIdx.x, 0);
    return {begin + offset,
            static_cast<int32_t>(rest < TILE ? rest : TILE) - static_cast<int32_t>(offset)};
}

template <uint32_t VECTORS, typename Rule>
__device__ inline void
LoadRows(const Rule& rule, const TileVector& vector, typename Rule::Loaded (&loaded)[VECTORS])
{
#pragma unroll
    for (uint32_t i = 0; i < VECTORS; ++i)
    {
        loaded[i] = rule.Load(vector.GetRow(i));
    }
}

/// Where what a thread selects is among all that its tile does.
struct PlacesInTile
{
    uint32_t inTile; //!< selected in the tile
    uint32_t ofWarp; //!< by the warps before
    uint32_t rows;   //!< by the warp, a byte for each row
    uint32_t before; //!< by its lanes before, likewise

    /// Calls use(row, rank of the first).
    template <uint32_t VECTORS, typename Use>
    __device__ void ForEachRow(const Use& use) const
    {
        uint32_t ofRows = ofWarp;
#pragma unroll
        for (uint32_t i = 0; i < VECTORS; ++i)
        {
            use(i, ofRows + (before >> (8 * i) & 0xffU));
            ofRows += rows >> (8 * i) & 0xffU;
        }
    }
};

/// \param packed what the thread selects of each row, a byte each \param scratch a word for a warp
__device__ inline PlacesInTile
FindPlaces(uint32_t packed, uint32_t* scratch)
{
    const uint32_t lane = threadIdx.x % WARP;
    const uint32_t warp = threadIdx.x / WARP;
    const uint32_t upTo = ScanLanes(packed);
    const uint32_t rows = __shfl_sync(ALL_LANES, upTo, WARP - 1);
    if (lane == 0)
    {
        scratch[warp] = SumBytes(rows);
    }
    __syncthreads();
    const uint32_t upToWarp = ScanLanes(lane < THREADS / WARP ? scratch[lane] : 0U);
    return {__shfl_sync(ALL_LANES, upToWarp, WARP - 1),
            __shfl_sync(ALL_LANES, upToWarp, warp) - SumBytes(rows),
            rows,
            upTo - packed};
}

/**
 * A block of threads takes tile after tile. What it reads of the next one is under way while it
 * waits for what the tiles before this one have.
 * \param rule as SelectRule, with GetCount(), the elements that there are, and `Loaded`, what is
 * read of four of them: Loaded Load(vector); uint32_t Look(vector, loaded, Held&, Shared&): bits 0
 * to 3 say which of them are selected; void Keep(vector, held, sent): bits of `sent` say which of
 * them were written; float GetValue(held, i), or an array `values` of all elements. Begin(Shared&)
 * and End(Shared&, scratch) are called by all threads, Finish() by one of the last tile.
 */
template <typename Rule>
__global__ void
__launch_bounds__(THREADS, Rule::BLOCKS) OrderedSelectKernel(Rule rule,
                                                             uint32_t tiles,
                                                             uint32_t capacity,
                                                             TileCounts counts,
                                                             uint32_t* __restrict__ indices,
                                                             float* __restrict__ selected,
                                                             uint32_t* __restrict__ found)
{
    constexpr uint32_t VECTORS = DEVICE_TUNING.*Rule::VECTORS;
    constexpr auto TILE = static_cast<uint32_t>(GetTileElements(VECTORS));
    static_assert(VECTORS <= 4, "a row has a byte of a word");
    __shared__ uint32_t scratch[THREADS / WARP];
    __shared__ uint32_t shared[2]; // the tile, and the elements before it
    __shared__ typename Rule::Shared ofRule;
    __shared__ SelectedOfTile<Rule, TILE> stage;
    rule.Begin(ofRule);
    if (threadIdx.x == 0)
    {
        shared[0] = atomicAdd(counts.ticket, 1U);
    }
    __syncthreads();
    const uint64_t count = rule.GetCount();
    uint32_t tile = shared[0];
    TileVector vector = FindVector<TILE>(tile, count);
    typename Rule::Loaded loaded[VECTORS];
    LoadRows<VECTORS>(rule, vector, loaded);
#pragma unroll 1
    while (tile < tiles)
    {
        const uint32_t ticket = threadIdx.x == 0 ? atomicAdd(counts.ticket, 1U) : 0U;
        typename Rule::Held held[VECTORS];
        uint32_t wanted[VECTORS];
        uint32_t packed = 0; // selected elements of each row
#pragma unroll
        for (uint32_t i = 0; i < VECTORS; ++i)
        {
            wanted[i] = rule.Look(vector.GetRow(i), loaded[i], held[i], ofRule);
            packed |= static_cast<uint32_t>(__popc(wanted[i])) << (8 * i);
        }
        const PlacesInTile places = FindPlaces(packed, scratch);
        if (threadIdx.x == 0)
        {
            counts.Announce(tile, places.inTile);
            shared[0] = ticket;
        }
        places.ForEachRow<VECTORS>([&](uint32_t row, uint32_t rank) {
            stage.Put(rule, held[row], wanted[row], row, rank);
        });
        __syncthreads();
        const uint32_t next = shared[0];
        const TileVector later = FindVector<TILE>(next, count);
        LoadRows<VECTORS>(rule, later, loaded);
        if (threadIdx.x < WARP)
        {
            const uint32_t earlier = counts.AddUp(tile, places.inTile);
            if (threadIdx.x == 0)
            {
                shared[1] = earlier;
                if (tile + 1 == tiles)
                {
                    *found = min(capacity, earlier + places.inTile);
                    rule.Finish();
                }
            }
        }
        __syncthreads();
        const uint32_t earlier = shared[1];
        const uint32_t room = capacity > earlier ? capacity - earlier : 0U;
        stage.Write(rule,
                    static_cast<uint64_t>(tile) * TILE,
                    min(places.inTile, room),
                    indices + earlier,
                    selected + earlier);
        if constexpr (Rule::KEEPS)
        {
            places.ForEachRow<VECTORS>([&](uint32_t row, uint32_t rank) {
                const uint32_t left = room > rank ? room - rank : 0U;
                rule.Keep(vector.GetRow(row), held[row], KeepLowest(wanted[row], left));
            });
        }
        tile = next;
        vector = later;
    }
    rule.End(ofRule, scratch);
}

/// As many blocks of threads as this device runs at the same time; no more than there are tiles.
template <typename Rule>
uint32_t
CountSelectBlocks(uint32_t tiles)
{
    return std::min(tiles, CountProcessors() * Rule::BLOCKS);
}

/// Puts the pass on a stream; the counts must be 0. \param count the most elements that there are
template <typename Rule>
void
LaunchOrderedSelect(const Rule& rule,
                    uint64_t count,
                    uint32_t capacity,
                    const TileCounts& counts,
                    uint32_t* indices,
                    float* selected,
                    uint32_t* found,
                    cudaStream_t stream)
{
    const uint32_t tiles = CountTiles(count, GetTuning().*Rule::VECTORS);
    Launch<OrderedSelectKernel<Rule>>(CountSelectBlocks<Rule>(tiles),
                                      THREADS,
                                      stream,
                                      rule,
                                      tiles,
                                      capacity,
                                      counts,
                                      indices,
                                      selected,
                                      found);
}

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_KERNELS_ORDERED_SELECT_H
