// SPDX-License-Identifier: GPL-2.0-only
#include "compression-kernels.h"
#include "ordered-select.h"
#include "top-k.h"

#include "ns3/sparsifier-arithmetic.h"

#include <algorithm>

/**
 * Exact top-k. Two passes over the tensor: a histogram of the 11 leading bits of the magnitudes,
 * and an ordered copy of all elements from the bin on where the k-th largest lies, which counts the
 * next 10 bits of that bin on the way. The last 10 bits, counted in the copy, which is little
 * longer than k for gradients, give the exact cut, and a last ordered copy the result. The block of
 * threads that ends last finds the cut of a digit, so that nothing is launched for it. Places in
 * the copies come from look-back, so nothing depends on the order in which blocks run.
 */
namespace ns3::gradsync::kernels
{

namespace
{

constexpr uint32_t WIDE = 1024;        //!< threads of a block that counts
constexpr uint32_t COPY_THREADS = 512; //!< of one that copies, and needs more registers
constexpr uint32_t COPY_BLOCKS = 3;    //!< of these on a multiprocessor
constexpr uint32_t MOST_RANGES = 512;  //!< of the candidates
constexpr uint32_t LATER_BINS = 1024;  //!< of a digit of 10 bits

/// What is known of the cut, the key of the smallest magnitude that is selected.
struct Cut
{
    uint32_t wanted; //!< still to be found inside the bin of its last known digit
    uint32_t prefix; //!< its known digits, in place
};

/// How far the selection is; 0 before the first kernel.
struct TopKState
{
    Cut cuts[RADIX_LEVELS];          //!< with one digit more each
    uint32_t finished[RADIX_LEVELS]; //!< blocks that have counted their part of a digit
    uint32_t candidates;             //!< elements of the ordered copy
    uint32_t copied;                 //!< as many, of the kernel that copies them
};

/// Everything in the workspace; up to the indices it must be 0 before the first kernel.
struct TopKParts
{
    TopKState* state;
    uint32_t* totals;  //!< [level][bin]
    TileCounts tiles;  //!< of the tensor, what the copy takes
    TileCounts above;  //!< of the ranges of candidates, what lies above the cut
    TileCounts ties;   //!< and what is equal to it
    uint32_t* indices; //!< of the ordered copy
    float* values;
};

/// What is selected from: how many there are and how many are wanted the device may know alone.
struct TopKInput
{
    const float* values;
    uint64_t count; //!< at most
    uint32_t wanted;
    const TopKLimits* limits; //!< unless null

    __device__ uint64_t GetCount() const
    {
        return limits != nullptr ? limits->count : count;
    }

    __device__ uint32_t GetWanted() const
    {
        return limits != nullptr ? limits->wanted : wanted;
    }
};

/// Ranges of any device: at least a vector for each thread of a range's block.
uint32_t
CountMostRanges(uint64_t count)
{
    return static_cast<uint32_t>(
        std::clamp<uint64_t>(count / (uint64_t{4} * WIDE), 1, MOST_RANGES));
}

/// As many blocks as this device runs at the same time, so that none waits for another's end.
uint32_t
CountCountedRanges(uint64_t count)
{
    int device = 0;
    int threads = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device);
    const uint32_t resident = CountProcessors() * static_cast<uint32_t>(threads) / WIDE;
    return std::clamp(resident, 1U, CountMostRanges(count));
}

/// Likewise.
uint32_t
CountCopiedRanges(uint64_t count)
{
    return std::min(CountProcessors() * COPY_BLOCKS, CountMostRanges(count));
}

TopKParts
CutTopK(WorkspaceCutter& cutter, uint64_t count)
{
    TopKParts parts{};
    parts.state = cutter.Take<TopKState>(1);
    parts.totals = cutter.Take<uint32_t>(uint64_t{RADIX_LEVELS} * RADIX_BINS);
    parts.tiles = TakeTileCounts(cutter, count, &Tuning::selectVectors);
    parts.above = TakeTileCounts(cutter, CountMostRanges(count));
    parts.ties = TakeTileCounts(cutter, CountMostRanges(count));
    parts.indices = cutter.Take<uint32_t>(count);
    parts.values = cutter.Take<float>(count);
    return parts;
}

/// First element of a range; ranges begin at multiples of 4.
__device__ inline uint64_t
GetRangeBegin(uint32_t range, uint64_t count)
{
    const uint64_t vectors = (count + 3) / 4;
    const uint64_t begin = vectors * range / gridDim.x * 4;
    return begin < count ? begin : count;
}

template <uint32_t BINS, uint32_t BLOCK>
__device__ inline void
ClearBins(uint32_t* bins)
{
    for (uint32_t bin = threadIdx.x; bin < BINS; bin += BLOCK)
    {
        bins[bin] = 0;
    }
}

template <uint32_t BINS, uint32_t BLOCK>
__device__ inline void
AddBins(const uint32_t* bins, uint32_t* totals)
{
    for (uint32_t bin = threadIdx.x; bin < BINS; bin += BLOCK)
    {
        if (bins[bin] > 0)
        {
            atomicAdd(totals + bin, bins[bin]);
        }
    }
}

/// The bin of a digit where the wanted element lies, from the totals of all blocks.
template <uint32_t BINS, uint32_t BLOCK>
__device__ inline void
FindCut(const TopKParts& parts,
        uint32_t level,
        uint32_t wanted,
        uint32_t* scratch,
        uint32_t* cutKey)
{
    constexpr uint32_t EACH = BINS / BLOCK;
    const volatile uint32_t* const totals = parts.totals + level * RADIX_BINS;
    uint32_t counts[EACH];
    uint32_t own = 0;
#pragma unroll
    for (uint32_t i = 0; i < EACH; ++i)
    {
        counts[i] = totals[BINS - 1 - EACH * threadIdx.x - i]; // the largest bins first
        own += counts[i];
    }
    const uint32_t prefix = level > 0 ? parts.state->cuts[level - 1].prefix : 0U;
    uint32_t total = 0;
    uint32_t above = ScanThreads(own, scratch, total); // has barriers inside
#pragma unroll
    for (uint32_t i = 0; i < EACH; ++i)
    {
        if (above < wanted && wanted <= above + counts[i])
        {
            const uint32_t bin = BINS - 1 - EACH * threadIdx.x - i;
            const uint32_t cut = prefix | bin << (level == 0 ? 20 : (level == 1 ? 10 : 0));
            parts.state->cuts[level] = {wanted - above, cut};
            if (level == 0)
            {
                parts.state->candidates = above + counts[i];
            }
            if (cutKey != nullptr)
            {
                *cutKey = cut;
            }
        }
        above += counts[i];
    }
}

/// First pass over the tensor.
__global__ void
__launch_bounds__(WIDE) CountLeadingDigitsKernel(TopKInput input, TopKParts parts)
{
    __shared__ uint32_t bins[RADIX_BINS];
    __shared__ uint32_t scratch[WIDE / WARP];
    __shared__ uint32_t isLast;
    ClearBins<RADIX_BINS, WIDE>(bins);
    __syncthreads();
    const uint64_t count = input.GetCount();
    const uint64_t end = GetRangeBegin(blockIdx.x + 1, count);
    for (uint64_t first = GetRangeBegin(blockIdx.x, count) + 4 * threadIdx.x; first < end;
         first += 4 * WIDE)
    {
        const float4 four = LoadFour<float4>(input.values, first, end, 0.0F);
        atomicAdd(bins + GetRadixDigit(MagnitudeKey(four.x), 0), 1U);
        if (first + 1 < end)
        {
            atomicAdd(bins + GetRadixDigit(MagnitudeKey(four.y), 0), 1U);
        }
        if (first + 2 < end)
        {
            atomicAdd(bins + GetRadixDigit(MagnitudeKey(four.z), 0), 1U);
        }
        if (first + 3 < end)
        {
            atomicAdd(bins + GetRadixDigit(MagnitudeKey(four.w), 0), 1U);
        }
    }
    __syncthreads();
    AddBins<RADIX_BINS, WIDE>(bins, parts.totals);
    if (IsLastBlock(parts.state->finished, &isLast))
    {
        FindCut<RADIX_BINS, WIDE>(parts, 0, input.GetWanted(), scratch, nullptr);
    }
}

/// Second pass over the tensor: everything from the cut bin on, in order, and the next digit of
/// what lies in that bin.
struct Candidates : SelectRule
{
    struct Shared
    {
        uint32_t bins[LATER_BINS];
        uint32_t isLast;
    };

    static constexpr bool HOLDS = true;
    using Loaded = float4;
    using Held = float4;

    const float* values;
    TopKInput input;
    TopKParts parts;

    Candidates(const TopKInput& from, const TopKParts& workspace)
        : values(from.values),
          input(from),
          parts(workspace)
    {
    }

    __device__ uint64_t GetCount() const
    {
        return input.GetCount();
    }

    __device__ void Begin(Shared& shared) const
    {
        ClearBins<LATER_BINS, THREADS>(shared.bins);
    }

    __device__ Loaded Load(const TileVector& vector) const
    {
        return vector.Load(values);
    }

    __device__ uint32_t Look(const TileVector& vector,
                             const Loaded& loaded,
                             Held& held,
                             Shared& shared) const
    {
        held = loaded;
        const uint32_t cut = parts.state->cuts[0].prefix; // its leading digit, the rest is 0
        const uint32_t reached = FindReached(loaded, cut) & vector.GetPresentBits();
        // One leading digit more is beyond the bin; above all keys it is 2^31 at most.
        const uint32_t inBin = reached & ~FindReached(loaded, cut + (1U << 20));
#pragma unroll 1
        for (uint32_t left = inBin; left != 0; left &= left - 1)
        {
            const auto element = static_cast<uint32_t>(__ffs(left)) - 1;
            const uint32_t key = MagnitudeKey(GetComponent(loaded, element));
            atomicAdd(shared.bins + GetRadixDigit(key, 1), 1U);
        }
        return reached;
    }

    __device__ float GetValue(const Held& held, uint32_t element) const
    {
        return GetComponent(held, element);
    }

    __device__ void End(Shared& shared, uint32_t* scratch) const
    {
        AddBins<LATER_BINS, THREADS>(shared.bins, parts.totals + RADIX_BINS);
        if (IsLastBlock(parts.state->finished + 1, &shared.isLast))
        {
            FindCut<LATER_BINS, THREADS>(parts, 1, parts.state->cuts[0].wanted, scratch, nullptr);
        }
    }
};

/// The last digit of those candidates that share the others with the cut.
__global__ void
__launch_bounds__(WIDE) CountLastDigitsKernel(TopKParts parts, uint32_t* __restrict__ cutKey)
{
    __shared__ uint32_t bins[LATER_BINS];
    __shared__ uint32_t scratch[WIDE / WARP];
    __shared__ uint32_t isLast;
    ClearBins<LATER_BINS, WIDE>(bins);
    __syncthreads();
    const Cut known = parts.state->cuts[1];
    const uint64_t candidates = parts.state->candidates;
    const uint64_t end = GetRangeBegin(blockIdx.x + 1, candidates);
    for (uint64_t first = GetRangeBegin(blockIdx.x, candidates) + 4 * threadIdx.x; first < end;
         first += 4 * WIDE)
    {
        const float4 four = LoadFour<float4>(parts.values, first, end, 0.0F);
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i)
        {
            const uint32_t key = MagnitudeKey(GetComponent(four, i));
            if (first + i < end && key >> 10 == known.prefix >> 10)
            {
                atomicAdd(bins + GetRadixDigit(key, 2), 1U);
            }
        }
    }
    __syncthreads();
    AddBins<LATER_BINS, WIDE>(bins, parts.totals + 2 * RADIX_BINS);
    if (IsLastBlock(parts.state->finished + 2, &isLast))
    {
        FindCut<LATER_BINS, WIDE>(parts, 2, known.wanted, scratch, cutKey);
    }
}

/// Which of four candidates are above the cut (bits 0 to 3), and which equal to it (16 to 19).
__device__ inline uint32_t
CompareFour(const float4& four, uint32_t cut, uint32_t present)
{
    const uint32_t reached = FindReached(four, cut) & present;
    const uint32_t above = FindReached(four, cut + 1) & present;
    return above | (reached & ~above) << 16;
}

/// How many bits of both halves of a word are set, in the halves.
__device__ inline uint32_t
CountHalves(uint32_t word)
{
    return static_cast<uint32_t>(__popc(word & 0xffffU)) | static_cast<uint32_t>(__popc(word >> 16))
                                                               << 16;
}

/// The result: everything above the cut and the first `wanted` equal to it, in order. A block takes
/// a range, counts in it, learns from look-back what the ranges before have, and copies.
__global__ void
__launch_bounds__(COPY_THREADS, COPY_BLOCKS) CopySelectedKernel(TopKParts parts,
                                                                uint32_t* __restrict__ indices,
                                                                float* __restrict__ selected)
{
    __shared__ uint32_t scratch[COPY_THREADS / WARP];
    __shared__ uint32_t shared[3]; // the range, and what ranges before have above the cut and at it
    if (threadIdx.x == 0)
    {
        shared[0] = atomicAdd(parts.above.ticket, 1U);
    }
    __syncthreads();
    const uint32_t range = shared[0];
    const uint32_t cut = parts.state->cuts[2].prefix;
    const uint32_t wanted = parts.state->cuts[2].wanted;
    const uint64_t candidates = parts.state->candidates;
    // Tensors are so much shorter than 2^32 that no place beyond a range's end wraps.
    const auto rangeBegin = static_cast<uint32_t>(GetRangeBegin(range, candidates));
    const auto end = static_cast<uint32_t>(GetRangeBegin(range + 1, candidates));
    const auto look = [&](uint32_t first, float4& four) {
        const TileVector vector{first,
                                static_cast<int32_t>(end > first ? min(end - first, 4U) : 0U)};
        four = vector.Load(parts.values);
        return CompareFour(four, cut, vector.GetPresentBits());
    };
    uint32_t above = 0;
    uint32_t ties = 0;
    for (uint32_t first = rangeBegin + 4 * threadIdx.x; first < end; first += 4 * COPY_THREADS)
    {
        float4 four;
        const uint32_t counts = CountHalves(look(first, four));
        above += counts & 0xffffU;
        ties += counts >> 16;
    }
    uint32_t aboveTotal = 0;
    uint32_t tieTotal = 0;
    ScanThreads(above, scratch, aboveTotal);
    ScanThreads(ties, scratch, tieTotal);
    if (threadIdx.x < WARP)
    {
        const uint32_t aboveBefore = parts.above.Add(range, aboveTotal);
        const uint32_t tiesBefore = parts.ties.Add(range, tieTotal);
        if (threadIdx.x == 0)
        {
            shared[1] = aboveBefore;
            shared[2] = tiesBefore;
        }
    }
    __syncthreads();
    above = shared[1];
    ties = shared[2];
    float4 next;
    uint32_t foundNext = look(rangeBegin + 4 * threadIdx.x, next);
    for (uint32_t begin = rangeBegin; begin < end; begin += 4 * COPY_THREADS)
    {
        const uint32_t first = begin + 4 * threadIdx.x;
        const float4 four = next;
        const uint32_t found = foundNext;
        const uint4 places = LoadFour<uint4>(parts.indices, first, end, 0U);
        foundNext = look(first + 4 * COPY_THREADS, next); // under way during the scan
        uint32_t total = 0;
        const uint32_t before = ScanThreads(CountHalves(found), scratch, total);
        uint32_t aboveBefore = above + (before & 0xffffU);
        uint32_t tiesBefore = ties + (before >> 16);
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i)
        {
            const bool isAbove = (found >> i & 1U) != 0;
            const bool isTie = (found >> (16 + i) & 1U) != 0;
            if (isAbove || (isTie && tiesBefore < wanted))
            {
                const uint32_t at = aboveBefore + min(tiesBefore, wanted);
                indices[at] = GetComponent(places, i);
                selected[at] = GetComponent(four, i);
            }
            aboveBefore += isAbove ? 1U : 0U;
            tiesBefore += isTie ? 1U : 0U;
        }
        above += total & 0xffffU;
        ties += total >> 16;
    }
}

/// All but the last copy. \param cutKey where the cut's key goes; may be null
cudaError_t
LaunchSearch(const TopKInput& input, const TopKParts& parts, uint32_t* cutKey, cudaStream_t stream)
{
    const auto bytes = static_cast<size_t>(reinterpret_cast<char*>(parts.indices) -
                                           reinterpret_cast<char*>(parts.state));
    if (const auto error = cudaMemsetAsync(parts.state, 0, bytes, stream); error != cudaSuccess)
    {
        return error;
    }
    const uint32_t ranges = CountCountedRanges(input.count);
    Launch<CountLeadingDigitsKernel>(ranges, WIDE, stream, input, parts);
    LaunchOrderedSelect(Candidates(input, parts),
                        input.count,
                        static_cast<uint32_t>(input.count),
                        parts.tiles,
                        parts.indices,
                        parts.values,
                        &parts.state->copied,
                        stream);
    Launch<CountLastDigitsKernel>(ranges, WIDE, stream, parts, cutKey);
    return cudaGetLastError();
}

} // namespace

size_t
GetTopKWorkspaceBytes(uint64_t count)
{
    WorkspaceCutter cutter(nullptr);
    CutTopK(cutter, count);
    return cutter.GetBytes();
}

cudaError_t
SelectTopK(const float* values,
           uint64_t count,
           uint64_t k,
           uint32_t* indices,
           float* selected,
           void* workspace,
           cudaStream_t stream)
{
    const uint64_t wanted = k < count ? k : count;
    if (wanted == 0)
    {
        return cudaSuccess;
    }
    WorkspaceCutter cutter(workspace);
    const TopKParts parts = CutTopK(cutter, count);
    const TopKInput input{values, count, static_cast<uint32_t>(wanted), nullptr};
    if (const auto error = LaunchSearch(input, parts, nullptr, stream); error != cudaSuccess)
    {
        return error;
    }
    Launch<CopySelectedKernel>(CountCopiedRanges(count),
                               COPY_THREADS,
                               stream,
                               parts,
                               indices,
                               selected);
    return cudaGetLastError();
}

cudaError_t
FindTopKKey(const float* values,
            uint64_t most,
            const TopKLimits* limits,
            uint32_t* key,
            void* workspace,
            cudaStream_t stream)
{
    WorkspaceCutter cutter(workspace);
    const TopKParts parts = CutTopK(cutter, most);
    return LaunchSearch({values, most, 0, limits}, parts, key, stream);
}

} // namespace ns3::gradsync::kernels
