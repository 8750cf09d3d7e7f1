// SPDX-License-Identifier: GPL-2.0-only
#include "compression-kernels.h"
#include "ordered-select.h"

namespace ns3::gradsync::kernels
{

namespace
{

/// Of rules whose elements are those of an array.
struct ArrayRule : SelectRule
{
    const float* values;
    uint64_t count;

    ArrayRule(const float* array, uint64_t elements)
        : values(array),
          count(elements)
    {
    }

    __device__ uint64_t GetCount() const
    {
        return count;
    }
};

/// Elements whose magnitude reaches a key.
struct FromKey : ArrayRule
{
    static constexpr bool HOLDS = true;
    using Loaded = float4;
    using Held = float4;

    const uint32_t* key;

    FromKey(const float* array, uint64_t elements, const uint32_t* least)
        : ArrayRule(array, elements),
          key(least)
    {
    }

    __device__ Loaded Load(const TileVector& vector) const
    {
        return vector.Load(values);
    }

    __device__ uint32_t Look(const TileVector& vector,
                             const Loaded& loaded,
                             Held& held,
                             Shared&) const
    {
        held = loaded;
        return FindReached(loaded, *key) & vector.GetPresentBits();
    }

    __device__ float GetValue(const Held& held, uint32_t element) const
    {
        return GetComponent(held, element);
    }
};

/// Elements that are marked in a bitmap.
struct Marked : ArrayRule
{
    static constexpr uint32_t BLOCKS = 8; // 32 registers: nothing but marks is held
    using Loaded = uint32_t;              // the word of the bitmap where they are

    const uint32_t* marks;

    Marked(const float* array, uint64_t elements, const uint32_t* bitmap)
        : ArrayRule(array, elements),
          marks(bitmap)
    {
    }

    __device__ Loaded Load(const TileVector& vector) const
    {
        return vector.left > 0 ? marks[vector.first / 32] : 0U;
    }

    __device__ uint32_t Look(const TileVector& vector, Loaded word, Held&, Shared&) const
    {
        // Four bits never straddle words, as vectors begin at multiples of 4.
        return word >> (vector.first % 32) & 15U;
    }
};

template <typename Rule>
cudaError_t
Select(const Rule& rule,
       uint32_t capacity,
       uint32_t* indices,
       float* selected,
       uint32_t* found,
       void* workspace,
       cudaStream_t stream)
{
    if (rule.count == 0)
    {
        return cudaMemsetAsync(found, 0, sizeof *found, stream);
    }
    WorkspaceCutter cutter(workspace);
    const TileCounts counts = TakeTileCounts(cutter, rule.count, Rule::VECTORS);
    const uint32_t tiles = CountTiles(rule.count, GetTuning().*Rule::VECTORS);
    const size_t bytes = CountTileWords(tiles) * sizeof(unsigned long long);
    if (const auto error = cudaMemsetAsync(counts.ticket, 0, bytes, stream); error != cudaSuccess)
    {
        return error;
    }
    LaunchOrderedSelect(rule, rule.count, capacity, counts, indices, selected, found, stream);
    return cudaGetLastError();
}

/// First of `count` ascending numbers that is not below `limit`.
__device__ inline uint32_t
FindLowerBound(const uint32_t* numbers, uint32_t count, uint32_t limit)
{
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high)
    {
        const uint32_t middle = low + (high - low) / 2;
        if (numbers[middle] < limit)
        {
            low = middle + 1;
        }
        else
        {
            high = middle;
        }
    }
    return low;
}

__global__ void
__launch_bounds__(THREADS) CountPerRegionKernel(const uint32_t* __restrict__ indices,
                                                const uint32_t* __restrict__ found,
                                                const uint32_t* __restrict__ ends,
                                                uint32_t regions,
                                                uint32_t* __restrict__ counts)
{
    const uint32_t region = blockIdx.x * THREADS + threadIdx.x;
    if (region < regions)
    {
        const uint32_t begin = region > 0 ? FindLowerBound(indices, *found, ends[region - 1]) : 0U;
        counts[region] = FindLowerBound(indices, *found, ends[region]) - begin;
    }
}

__global__ void
__launch_bounds__(THREADS) ProposeRegionEndsKernel(const uint32_t* __restrict__ indices,
                                                   const uint32_t* __restrict__ found,
                                                   uint32_t elements,
                                                   uint32_t regions,
                                                   uint32_t* __restrict__ ends)
{
    const uint32_t region = blockIdx.x * THREADS + threadIdx.x;
    if (region >= regions)
    {
        return;
    }
    const uint64_t selected = *found;
    const uint64_t equal = static_cast<uint64_t>(elements) * (region + 1) / regions;
    const uint64_t rank = selected * (region + 1) / regions;
    ends[region] = region + 1 == regions ? elements
                   : selected == 0       ? static_cast<uint32_t>(equal)
                                         : indices[rank];
}

} // namespace

size_t
GetSelectWorkspaceBytes(uint64_t count)
{
    WorkspaceCutter cutter(nullptr);
    TakeTileCounts(cutter, count, SelectRule::VECTORS);
    return cutter.GetBytes();
}

cudaError_t
SelectFromKey(const float* values,
              uint64_t count,
              const uint32_t* key,
              uint32_t capacity,
              uint32_t* indices,
              float* selected,
              uint32_t* found,
              void* workspace,
              cudaStream_t stream)
{
    return Select(FromKey{values, count, key},
                  capacity,
                  indices,
                  selected,
                  found,
                  workspace,
                  stream);
}

cudaError_t
GatherMarked(const float* sum,
             const uint32_t* marks,
             uint64_t count,
             uint32_t capacity,
             uint32_t* indices,
             float* values,
             uint32_t* found,
             void* workspace,
             cudaStream_t stream)
{
    return Select(Marked{sum, count, marks}, capacity, indices, values, found, workspace, stream);
}

cudaError_t
CountPerRegion(const uint32_t* indices,
               const uint32_t* found,
               const uint32_t* ends,
               uint32_t regions,
               uint32_t* counts,
               cudaStream_t stream)
{
    if (regions > 0)
    {
        Launch<CountPerRegionKernel>(CountThreadBlocks(regions),
                                     THREADS,
                                     stream,
                                     indices,
                                     found,
                                     ends,
                                     regions,
                                     counts);
    }
    return cudaGetLastError();
}

cudaError_t
ProposeRegionEnds(const uint32_t* indices,
                  const uint32_t* found,
                  uint32_t elements,
                  uint32_t regions,
                  uint32_t* ends,
                  cudaStream_t stream)
{
    if (regions > 0)
    {
        Launch<ProposeRegionEndsKernel>(CountThreadBlocks(regions),
                                        THREADS,
                                        stream,
                                        indices,
                                        found,
                                        elements,
                                        regions,
                                        ends);
    }
    return cudaGetLastError();
}

} // namespace ns3::gradsync::kernels
