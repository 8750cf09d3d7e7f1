// SPDX-License-Identifier: GPL-2.0-only
#include "compression-kernels.h"
#include "launch.h"
#include "message-kernels.h"

#include "ns3/sparsifier-arithmetic.h"

namespace ns3::gradsync::kernels
{

namespace
{

/// Fewer than elsewhere: a thread holds up to 64 elements and their keys in registers.
constexpr uint32_t BLOCK_THREADS = 128;

/// Elements of all lanes whose key is at least `limit`.
template <uint32_t ITEMS>
__device__ inline uint32_t
CountFrom(const int32_t (&keys)[ITEMS], int32_t limit)
{
    uint32_t own = 0;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; ++i)
    {
        own += keys[i] >= limit ? 1 : 0;
    }
    return __reduce_add_sync(ALL_LANES, own);
}

/// Where the k largest of a block end.
struct BlockCut
{
    int32_t above; //!< everything from here on is selected
    int32_t tie;   //!< and so many of those with this key:
    uint32_t ties;
};

/// Bit by bit the largest number that k keys reach. Keys of no element are -1 and never count.
template <uint32_t ITEMS>
__device__ inline BlockCut
FindBlockCut(const int32_t (&keys)[ITEMS], uint32_t k)
{
    int32_t cut = 0;
    for (int32_t bit = 30; bit >= 0; --bit)
    {
        const int32_t tried = cut | 1 << bit;
        const uint32_t reached = CountFrom(keys, tried);
        if (reached == k)
        {
            return {tried, tried - 1, 0};
        }
        cut = reached > k ? tried : cut;
    }
    return {cut + 1, cut, k - CountFrom(keys, cut + 1)};
}

/// A warp per block, which stays in registers: float4 number j of lane l begins at 128 j + 4 l.
template <uint32_t BLOCK>
__global__ void
__launch_bounds__(BLOCK_THREADS, 2) SelectBlockTopKKernel(const float* __restrict__ values,
                                                          uint64_t count,
                                                          uint32_t k,
                                                          uint16_t* __restrict__ offsets,
                                                          float* __restrict__ selected)
{
    constexpr uint32_t ITEMS = BLOCK / WARP;
    constexpr uint32_t VECTORS = ITEMS / 4;
    const uint64_t block = (static_cast<uint64_t>(blockIdx.x) * BLOCK_THREADS + threadIdx.x) / WARP;
    const uint64_t begin = block * BLOCK;
    if (begin >= count)
    {
        return;
    }
    const uint32_t lane = threadIdx.x % WARP;
    const uint64_t rest = count - begin;
    const auto present = static_cast<uint32_t>(rest < BLOCK ? rest : BLOCK);
    float held[ITEMS];
    int32_t keys[ITEMS];
#pragma unroll
    for (uint32_t j = 0; j < VECTORS; ++j)
    {
        const uint32_t offset = 128 * j + 4 * lane;
        const float4 four = LoadFour<float4>(values, begin + offset, count, 0.0F);
        held[4 * j] = four.x;
        held[4 * j + 1] = four.y;
        held[4 * j + 2] = four.z;
        held[4 * j + 3] = four.w;
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i)
        {
            keys[4 * j + i] =
                offset + i < present ? static_cast<int32_t>(MagnitudeKey(held[4 * j + i])) : -1;
        }
    }
    const BlockCut cut = FindBlockCut(keys, k < present ? k : present);
    const uint64_t base = block * k;
    uint32_t written = 0;  // selected in the vectors before, by all lanes
    uint32_t tiesSeen = 0; // and ties there
    for (uint32_t j = 0; j < VECTORS; ++j)
    {
        uint32_t above = 0;
        uint32_t ties = 0;
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; ++i)
        {
            // Unrolled, so that the registers are named; only vector j counts.
            const bool isHere = i / 4 == j;
            above |= (isHere && keys[i] >= cut.above ? 1U : 0U) << (i % 4);
            ties |= (isHere && cut.ties > 0 && keys[i] == cut.tie ? 1U : 0U) << (i % 4);
        }
        // Ties take their turns in order of elements: count those of lower lanes.
        uint32_t packed =
            static_cast<uint32_t>(__popc(above)) << 16 | static_cast<uint32_t>(__popc(ties));
        const uint32_t own = packed;
        for (uint32_t step = 1; step < WARP; step *= 2)
        {
            const uint32_t below = __shfl_up_sync(ALL_LANES, packed, step);
            packed += lane >= step ? below : 0U;
        }
        const uint32_t total = __shfl_sync(ALL_LANES, packed, WARP - 1);
        uint32_t aboveBefore = written + ((packed - own) >> 16);
        uint32_t tiesBefore = tiesSeen + ((packed - own) & 0xffffU);
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; ++i)
        {
            if (i / 4 == j)
            {
                const bool isAbove = (above >> (i % 4) & 1U) != 0;
                const bool isTie = (ties >> (i % 4) & 1U) != 0;
                if (isAbove || (isTie && tiesBefore < cut.ties))
                {
                    const uint64_t at = base + aboveBefore + min(tiesBefore, cut.ties);
                    offsets[at] = static_cast<uint16_t>(128 * j + 4 * lane + i % 4);
                    selected[at] = held[i];
                }
                aboveBefore += isAbove ? 1 : 0;
                tiesBefore += isTie ? 1 : 0;
            }
        }
        written += total >> 16;
        tiesSeen += total & 0xffffU;
    }
}

__global__ void
__launch_bounds__(THREADS) PackOffsetsKernel(const uint16_t* __restrict__ offsets,
                                             uint64_t count,
                                             uint32_t bits,
                                             uint32_t* __restrict__ words,
                                             uint64_t bytes)
{
    const uint64_t word = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (4 * word >= bytes)
    {
        return;
    }
    const uint32_t packed =
        PackIndexWord(word, count, bits, [=](uint64_t entry) { return offsets[entry]; });
    if (4 * word + 4 <= bytes)
    {
        words[word] = packed;
        return;
    }
    auto* const last = reinterpret_cast<uint8_t*>(words + word);
    for (uint32_t i = 0; 4 * word + i < bytes; ++i)
    {
        last[i] = static_cast<uint8_t>(packed >> (8 * i));
    }
}

/// A word of a stream that may end inside it.
__device__ inline uint32_t
LoadStreamWord(const uint32_t* words, uint64_t word, uint64_t bytes)
{
    if (4 * word + 4 <= bytes)
    {
        return words[word];
    }
    const auto* const last = reinterpret_cast<const uint8_t*>(words + word);
    uint32_t loaded = 0;
    for (uint32_t i = 0; 4 * word + i < bytes; ++i)
    {
        loaded |= static_cast<uint32_t>(last[i]) << (8 * i);
    }
    return loaded;
}

__global__ void
__launch_bounds__(THREADS) UnpackOffsetsKernel(const uint32_t* __restrict__ words,
                                               uint64_t count,
                                               uint32_t bits,
                                               uint16_t* __restrict__ offsets)
{
    const uint64_t entry = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (entry < count)
    {
        offsets[entry] = static_cast<uint16_t>(
            UnpackIndex(entry, bits, [=](uint64_t word) { return words[word]; }));
    }
}

__global__ void
__launch_bounds__(THREADS) ScatterBlockTopKKernel(const uint32_t* __restrict__ words,
                                                  const float* __restrict__ selected,
                                                  uint64_t entries,
                                                  uint32_t blockElements,
                                                  uint32_t k,
                                                  uint32_t bits,
                                                  uint64_t count,
                                                  float* __restrict__ values)
{
    const uint64_t entry = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (entry >= entries)
    {
        return;
    }
    const uint64_t bytes = (entries * bits + 7) / 8;
    const uint32_t offset =
        UnpackIndex(entry, bits, [=](uint64_t word) { return LoadStreamWord(words, word, bytes); });
    const uint64_t index = entry / k * blockElements + offset;
    if (index < count) // unless the message is broken
    {
        StoreContended(values + index, selected[entry]);
    }
}

cudaError_t
LaunchPackOffsets(const uint16_t* offsets,
                  uint64_t count,
                  uint32_t bits,
                  uint32_t* words,
                  uint64_t bytes,
                  cudaStream_t stream)
{
    if (bytes > 0)
    {
        Launch<PackOffsetsKernel>(CountThreadBlocks((bytes + 3) / 4),
                                  THREADS,
                                  stream,
                                  offsets,
                                  count,
                                  bits,
                                  words,
                                  bytes);
    }
    return cudaGetLastError();
}

template <uint32_t BLOCK>
cudaError_t
LaunchBlockTopK(const float* values,
                uint64_t count,
                uint32_t k,
                uint16_t* offsets,
                float* selected,
                cudaStream_t stream)
{
    const uint64_t blocks = (count + BLOCK - 1) / BLOCK;
    constexpr uint32_t WARPS = BLOCK_THREADS / WARP;
    const auto grid = static_cast<uint32_t>((blocks + WARPS - 1) / WARPS);
    Launch<SelectBlockTopKKernel<BLOCK>>(grid,
                                         BLOCK_THREADS,
                                         stream,
                                         values,
                                         count,
                                         k,
                                         offsets,
                                         selected);
    return cudaGetLastError();
}

} // namespace

cudaError_t
SelectBlockTopK(const float* values,
                uint64_t count,
                uint32_t blockElements,
                uint32_t k,
                uint16_t* offsets,
                float* selected,
                cudaStream_t stream)
{
    const uint32_t perBlock = k < blockElements ? k : blockElements;
    if (count == 0 || k == 0)
    {
        return cudaSuccess;
    }
    switch (blockElements)
    {
    case 256:
        return LaunchBlockTopK<256>(values, count, perBlock, offsets, selected, stream);
    case 512:
        return LaunchBlockTopK<512>(values, count, perBlock, offsets, selected, stream);
    case 1024:
        return LaunchBlockTopK<1024>(values, count, perBlock, offsets, selected, stream);
    case 2048:
        return LaunchBlockTopK<2048>(values, count, perBlock, offsets, selected, stream);
    default:
        return cudaErrorInvalidValue;
    }
}

cudaError_t
PackOffsets(const uint16_t* offsets,
            uint64_t count,
            uint32_t bits,
            uint32_t* words,
            cudaStream_t stream)
{
    return LaunchPackOffsets(offsets, count, bits, words, (count * bits + 31) / 32 * 4, stream);
}

cudaError_t
PackOffsetBytes(const uint16_t* offsets,
                uint64_t count,
                uint32_t bits,
                void* bytes,
                cudaStream_t stream)
{
    auto* const words = static_cast<uint32_t*>(bytes);
    return LaunchPackOffsets(offsets, count, bits, words, (count * bits + 7) / 8, stream);
}

cudaError_t
UnpackOffsets(const uint32_t* words,
              uint64_t count,
              uint32_t bits,
              uint16_t* offsets,
              cudaStream_t stream)
{
    if (count > 0)
    {
        Launch<UnpackOffsetsKernel>(CountThreadBlocks(count),
                                    THREADS,
                                    stream,
                                    words,
                                    count,
                                    bits,
                                    offsets);
    }
    return cudaGetLastError();
}

cudaError_t
ScatterBlockTopK(const uint32_t* words,
                 const float* selected,
                 uint64_t count,
                 uint32_t blockElements,
                 uint32_t k,
                 float* values,
                 cudaStream_t stream)
{
    const uint32_t perBlock = k < blockElements ? k : blockElements;
    const uint64_t rest = count % blockElements;
    const uint64_t entries = count / blockElements * perBlock + (perBlock < rest ? perBlock : rest);
    const auto error = cudaMemsetAsync(values, 0, count * sizeof *values, stream);
    if (error != cudaSuccess || entries == 0)
    {
        return error;
    }
    Launch<ScatterBlockTopKKernel>(CountThreadBlocks(entries),
                                   THREADS,
                                   stream,
                                   words,
                                   selected,
                                   entries,
                                   blockElements,
                                   perBlock,
                                   GetIndexBits(blockElements),
                                   count,
                                   values);
    return cudaGetLastError();
}

} // namespace ns3::gradsync::kernels
