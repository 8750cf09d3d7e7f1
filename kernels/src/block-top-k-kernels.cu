// SPDX-License-Identifier: GPL-2.0-only
#include "compression-kernels.h"
#include "fill-tiles.h"
#include "message-kernels.h"

#include "ns3/sparsifier-arithmetic.h"

namespace ns3::gradsync::kernels
{

namespace
{

/// Fewer than elsewhere: a thread holds up to 64 elements and their keys in registers.
constexpr uint32_t BLOCK_THREADS = 128;
constexpr uint32_t ROW = 4 * WARP; //!< elements that a warp loads at once

/// A warp's registers hold a block: number i of a lane is element 128 (i / 4) + 4 lane + i % 4.
__device__ inline uint32_t
GetOffset(uint32_t item)
{
    return ROW * (item / 4) + 4 * (threadIdx.x % WARP) + item % 4;
}

/// The largest key that at least `wanted` lanes reach, and so at least as many elements: no element
/// below it is selected. 0 if no lane decides it, as more lanes are wanted than there are.
template <uint32_t ITEMS>
__device__ inline uint32_t
FindBound(const float (&held)[ITEMS], uint32_t wanted)
{
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t largest = 0;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; ++i)
    {
        largest = max(largest, MagnitudeKey(held[i]));
    }
    uint32_t ahead = 0;
#pragma unroll
    for (uint32_t other = 0; other < WARP; ++other)
    {
        const uint32_t key = __shfl_sync(ALL_LANES, largest, other);
        ahead += key > largest || (key == largest && other < lane) ? 1U : 0U;
    }
    const uint32_t deciding = __ballot_sync(ALL_LANES, ahead + 1 == wanted);
    const uint32_t from = deciding != 0 ? static_cast<uint32_t>(__ffs(deciding)) - 1 : 0U;
    const uint32_t bound = __shfl_sync(ALL_LANES, largest, from);
    return deciding != 0 ? bound : 0U;
}

/// An element that may be selected.
struct Candidate
{
    float value;
    uint32_t offset; //!< in its block
};

/// Selects among as many candidates as lanes: each lane counts who is ahead of its own.
__device__ inline void
SelectCandidates(const Candidate* candidates,
                 uint32_t count,
                 uint32_t wanted,
                 uint16_t* offsets,
                 float* selected)
{
    const uint32_t lane = threadIdx.x % WARP;
    const Candidate own = lane < count ? candidates[lane] : Candidate{0.0F, 0};
    const uint32_t key = MagnitudeKey(own.value);
    uint32_t ahead = 0;
#pragma unroll 1
    for (uint32_t i = 0; i < count; ++i)
    {
        const Candidate other = candidates[i];
        const uint32_t otherKey = MagnitudeKey(other.value);
        ahead += otherKey > key || (otherKey == key && other.offset < own.offset) ? 1U : 0U;
    }
    const bool isSelected = lane < count && ahead < wanted;
    const uint32_t chosen = __ballot_sync(ALL_LANES, isSelected);
    uint32_t position = 0;
#pragma unroll 1
    for (uint32_t i = 0; i < count; ++i)
    {
        position += (chosen >> i & 1U) != 0 && candidates[i].offset < own.offset ? 1U : 0U;
    }
    if (isSelected)
    {
        offsets[position] = static_cast<uint16_t>(own.offset);
        selected[position] = own.value;
    }
}

/// Elements of all lanes whose key is at least `limit`.
template <uint32_t ITEMS>
__device__ inline uint32_t
CountFrom(const float (&held)[ITEMS], uint32_t limit)
{
    uint32_t own = 0;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; ++i)
    {
        own += MagnitudeKey(held[i]) >= limit ? 1U : 0U;
    }
    return __reduce_add_sync(ALL_LANES, own);
}

/// Where the k largest of a block end.
struct BlockCut
{
    uint32_t above; //!< everything from here on is selected
    uint32_t tie;   //!< and so many of those with this key:
    uint32_t ties;
};

/// Bit by bit the largest number that k keys reach.
template <uint32_t ITEMS>
__device__ inline BlockCut
FindBlockCut(const float (&held)[ITEMS], uint32_t k)
{
    uint32_t cut = 0;
    for (int32_t bit = 30; bit >= 0; --bit)
    {
        const uint32_t tried = cut | 1U << bit;
        const uint32_t reached = CountFrom(held, tried);
        if (reached == k)
        {
            return {tried, tried - 1, 0};
        }
        cut = reached > k ? tried : cut;
    }
    return {cut + 1, cut, k - CountFrom(held, cut + 1)};
}

/// Selects what a cut says, in order of elements, which are loaded once more: of registers no loop
/// can be made.
__device__ inline void
SelectFromCut(const float* values,
              uint32_t present,
              uint32_t rows,
              const BlockCut& cut,
              uint16_t* offsets,
              float* selected)
{
    uint32_t written = 0;  // selected in the rows before, by all lanes
    uint32_t tiesSeen = 0; // and ties there
#pragma unroll 1
    for (uint32_t row = 0; row < rows; ++row)
    {
        const float4 four = LoadFour<float4>(values, GetOffset(4 * row), present, 0.0F);
        const float each[4] = {four.x, four.y, four.z, four.w};
        uint32_t above = 0;
        uint32_t ties = 0;
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i)
        {
            const uint32_t key = MagnitudeKey(each[i]);
            above |= (key >= cut.above ? 1U : 0U) << i;
            ties |= (cut.ties > 0 && key == cut.tie ? 1U : 0U) << i;
        }
        // Ties take their turns in order of elements: count those of lower lanes.
        const uint32_t own =
            static_cast<uint32_t>(__popc(above)) << 16 | static_cast<uint32_t>(__popc(ties));
        const uint32_t packed = ScanLanes(own);
        const uint32_t total = __shfl_sync(ALL_LANES, packed, WARP - 1);
        uint32_t aboveBefore = written + ((packed - own) >> 16);
        uint32_t tiesBefore = tiesSeen + ((packed - own) & 0xffffU);
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i)
        {
            const bool isAbove = (above >> i & 1U) != 0;
            const bool isTie = (ties >> i & 1U) != 0;
            if (isAbove || (isTie && tiesBefore < cut.ties))
            {
                const uint32_t at = aboveBefore + min(tiesBefore, cut.ties);
                offsets[at] = static_cast<uint16_t>(GetOffset(4 * row + i));
                selected[at] = each[i];
            }
            aboveBefore += isAbove ? 1 : 0;
            tiesBefore += isTie ? 1 : 0;
        }
        written += total >> 16;
        tiesSeen += total & 0xffffU;
    }
}

/**
 * A warp per block, which is in registers. The k-th largest of the lanes' maxima bounds what can
 * be selected: of gradients little more than k elements reach it, and a lane looks after each.
 * Where more than 32 reach it, as of a block of equals, the cut is searched bit by bit.
 *
 * What is missing of a last block counts as zeros, which no element comes after: never selected.
 */
template <uint32_t BLOCK>
__global__ void
__launch_bounds__(BLOCK_THREADS, 2) SelectBlockTopKKernel(const float* __restrict__ values,
                                                          uint64_t count,
                                                          uint32_t k,
                                                          uint16_t* __restrict__ offsets,
                                                          float* __restrict__ selected)
{
    constexpr uint32_t ITEMS = BLOCK / WARP;
    __shared__ Candidate candidates[BLOCK_THREADS];
    const uint64_t block = (static_cast<uint64_t>(blockIdx.x) * BLOCK_THREADS + threadIdx.x) / WARP;
    const uint64_t begin = block * BLOCK;
    const uint64_t rest = count > begin ? count - begin : 0;
    const auto present = static_cast<uint32_t>(rest < BLOCK ? rest : BLOCK);
    const uint32_t wanted = min(k, present);
    float held[ITEMS];
#pragma unroll
    for (uint32_t j = 0; j < ITEMS / 4; ++j)
    {
        const float4 four = LoadFour<float4>(values, begin + GetOffset(4 * j), count, 0.0F);
        held[4 * j] = four.x;
        held[4 * j + 1] = four.y;
        held[4 * j + 2] = four.z;
        held[4 * j + 3] = four.w;
    }
    const uint32_t bound = FindBound(held, wanted);
    uint32_t own = 0;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; ++i)
    {
        own += MagnitudeKey(held[i]) >= bound ? 1U : 0U;
    }
    const uint32_t upTo = ScanLanes(own);
    const uint32_t total = __shfl_sync(ALL_LANES, upTo, WARP - 1);
    const bool isShort = bound > 0 && total <= WARP; // the same in all lanes
    Candidate* const ofWarp = candidates + threadIdx.x / WARP * WARP;
    if (isShort)
    {
        Candidate* at = ofWarp + (upTo - own);
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; ++i)
        {
            if (MagnitudeKey(held[i]) >= bound)
            {
                *at++ = {held[i], GetOffset(i)};
            }
        }
    }
    __syncthreads();
    uint16_t* const toOffsets = offsets + block * k;
    float* const toSelected = selected + block * k;
    if (isShort)
    {
        SelectCandidates(ofWarp, total, wanted, toOffsets, toSelected);
    }
    else if (wanted > 0)
    {
        const BlockCut cut = FindBlockCut(held, wanted);
        SelectFromCut(values + begin, present, ITEMS / 4, cut, toOffsets, toSelected);
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

/// As many entries of each block: a tile knows where its own begin.
struct BlockMessage
{
    const uint32_t* words; //!< offsets
    const float* selected;
    uint64_t entries;
    uint32_t blockElements; //!< a tile is so many whole blocks
    uint32_t k;
    uint32_t bits;

    __device__ void FindRange(uint64_t begin, EntryRange& range) const
    {
        if (threadIdx.x == 0)
        {
            range.first = begin / blockElements * k;
            range.last = min(entries, (begin + FILL_ELEMENTS) / blockElements * k);
        }
    }

    __device__ uint64_t GetIndex(uint64_t entry) const
    {
        const uint64_t bytes = (entries * bits + 7) / 8;
        const uint32_t offset = UnpackIndex(entry, bits, [this, bytes](uint64_t word) {
            return LoadStreamWord(words, word, bytes);
        });
        return entry / k * blockElements + offset;
    }

    __device__ float GetValue(uint64_t entry) const
    {
        return selected[entry];
    }
};

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
    if (FILL_ELEMENTS % blockElements != 0)
    {
        return cudaErrorInvalidValue;
    }
    const BlockMessage message{words,
                               selected,
                               entries,
                               blockElements,
                               perBlock,
                               GetIndexBits(blockElements)};
    return FillTiles(message, count, values, stream);
}

} // namespace ns3::gradsync::kernels
