// SPDX-License-Identifier: GPL-2.0-only
#include "compression-kernels.h"
#include "launch.h"

#include "ns3/sparsifier-arithmetic.h"

#include <algorithm>

/**
 * Exact top-k. Two passes over the tensor: a histogram of the 11 leading bits of the magnitudes,
 * and an ordered copy of all elements from the bin on where the k-th largest lies. Two more digits
 * of that copy, which is little longer than k for gradients, give the exact cut, and a last ordered
 * copy the result. Blocks of threads have fixed ranges and know from the histograms of the ranges
 * before where to write, so nothing depends on the order in which they run.
 */
namespace ns3::gradsync::kernels
{

namespace
{

constexpr uint32_t WIDE = 1024;       //!< threads of a block
constexpr uint32_t MOST_RANGES = 512; //!< WIDE at most, as each thread adds one count of SumBefore

/// How far the selection is.
struct TopKState
{
    uint32_t wanted;     //!< still to be found inside the cut bin
    uint32_t prefix;     //!< digits of the cut that are known, in place
    uint32_t candidates; //!< elements of the ordered copy
};

/// Everything in the workspace.
struct TopKParts
{
    TopKState* state;
    uint32_t* totals;  //!< [level][bin]
    uint32_t* ranges;  //!< [range][bin] of the first level
    uint32_t* counts;  //!< [range] of what the copy in hand takes
    uint32_t* ties;    //!< [range] of elements equal to the cut
    uint32_t* indices; //!< of the ordered copy
    float* values;
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
CountRanges(uint64_t count)
{
    int device = 0;
    int processors = 0;
    int threads = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device);
    const auto resident = static_cast<uint32_t>(processors * threads) / WIDE;
    return std::clamp(resident, 1U, CountMostRanges(count));
}

TopKParts
CutTopK(WorkspaceCutter& cutter, uint64_t count)
{
    TopKParts parts{};
    parts.state = cutter.Take<TopKState>(1);
    parts.totals = cutter.Take<uint32_t>(uint64_t{RADIX_LEVELS} * RADIX_BINS);
    const uint64_t ranges = CountMostRanges(count);
    parts.ranges = cutter.Take<uint32_t>(ranges * RADIX_BINS);
    parts.counts = cutter.Take<uint32_t>(ranges);
    parts.ties = cutter.Take<uint32_t>(ranges);
    parts.indices = cutter.Take<uint32_t>(count);
    parts.values = cutter.Take<float>(count);
    return parts;
}

/// First element of a range, of which each block has one; ranges begin at multiples of 4.
__device__ inline uint64_t
GetRangeBegin(uint32_t range, uint64_t count)
{
    const uint64_t vectors = (count + 3) / 4;
    const uint64_t begin = vectors * range / gridDim.x * 4;
    return begin < count ? begin : count;
}

__device__ inline void
ClearBins(uint32_t* bins)
{
    for (uint32_t bin = threadIdx.x; bin < RADIX_BINS; bin += WIDE)
    {
        bins[bin] = 0;
    }
    __syncthreads();
}

__global__ void
StartTopKKernel(TopKState* state, uint32_t wanted)
{
    *state = {wanted, 0, 0};
}

/// First pass over the tensor.
__global__ void
__launch_bounds__(WIDE)
    CountLeadingDigitsKernel(const float* __restrict__ values, uint64_t count, TopKParts parts)
{
    __shared__ uint32_t bins[RADIX_BINS];
    ClearBins(bins);
    const uint64_t end = GetRangeBegin(blockIdx.x + 1, count);
    for (uint64_t first = GetRangeBegin(blockIdx.x, count) + 4 * threadIdx.x; first < end;
         first += 4 * WIDE)
    {
        const float4 four = LoadFour<float4>(values, first, end, 0.0F);
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
    for (uint32_t bin = threadIdx.x; bin < RADIX_BINS; bin += WIDE)
    {
        parts.ranges[blockIdx.x * RADIX_BINS + bin] = bins[bin];
        if (bins[bin] > 0)
        {
            atomicAdd(parts.totals + bin, bins[bin]);
        }
    }
}

/// A later digit of those elements of the copy that share the digits of the cut so far.
__global__ void
__launch_bounds__(WIDE) CountDigitsKernel(TopKParts parts, uint32_t level)
{
    __shared__ uint32_t bins[RADIX_BINS];
    ClearBins(bins);
    const uint32_t prefix = parts.state->prefix;
    const uint64_t candidates = parts.state->candidates;
    const uint32_t known = level == 1 ? 20 : 10; // bits below the known digits
    const uint64_t end = GetRangeBegin(blockIdx.x + 1, candidates);
    for (uint64_t i = GetRangeBegin(blockIdx.x, candidates) + threadIdx.x; i < end; i += WIDE)
    {
        const uint32_t key = MagnitudeKey(parts.values[i]);
        if (key >> known == prefix >> known)
        {
            atomicAdd(bins + GetRadixDigit(key, level), 1U);
        }
    }
    __syncthreads();
    for (uint32_t bin = threadIdx.x; bin < RADIX_BINS; bin += WIDE)
    {
        if (bins[bin] > 0)
        {
            atomicAdd(parts.totals + level * RADIX_BINS + bin, bins[bin]);
        }
    }
}

/// Finds the bin of a digit where the wanted element lies. One block of threads, two bins each.
__global__ void
__launch_bounds__(WIDE) FindCutKernel(TopKParts parts, uint32_t level)
{
    __shared__ uint32_t scratch[WIDE / WARP];
    const uint32_t high = RADIX_BINS - 1 - 2 * threadIdx.x; // the largest bins first
    const uint32_t inHigh = parts.totals[level * RADIX_BINS + high];
    const uint32_t inLow = parts.totals[level * RADIX_BINS + high - 1];
    const uint32_t wanted = parts.state->wanted;
    uint32_t total = 0;
    const uint32_t above = ScanThreads(inHigh + inLow, scratch, total); // has barriers inside
    const uint32_t shift = level == 0 ? 20 : (level == 1 ? 10 : 0);
    if (above < wanted && wanted <= above + inHigh + inLow)
    {
        const bool isHigh = wanted <= above + inHigh;
        const uint32_t over = isHigh ? above : above + inHigh;
        parts.state->wanted = wanted - over;
        parts.state->prefix |= (isHigh ? high : high - 1) << shift;
        if (level == 0)
        {
            parts.state->candidates = over + (isHigh ? inHigh : inLow);
        }
    }
}

/// How many elements of each range the ordered copy takes, from the range's histogram.
__global__ void
__launch_bounds__(WIDE) CountCandidatesKernel(TopKParts parts)
{
    __shared__ uint32_t scratch[WIDE / WARP];
    const uint32_t cut = GetRadixDigit(parts.state->prefix, 0);
    uint32_t own = 0;
    for (uint32_t bin = threadIdx.x; bin < RADIX_BINS; bin += WIDE)
    {
        own += bin >= cut ? parts.ranges[blockIdx.x * RADIX_BINS + bin] : 0U;
    }
    uint32_t total = 0;
    ScanThreads(own, scratch, total);
    if (threadIdx.x == 0)
    {
        parts.counts[blockIdx.x] = total;
    }
}

/// Sum of the counts of the ranges before this block's own.
__device__ inline uint32_t
SumBefore(const uint32_t* counts, uint32_t* scratch)
{
    uint32_t total = 0;
    ScanThreads(threadIdx.x < blockIdx.x ? counts[threadIdx.x] : 0U, scratch, total);
    return total;
}

/// Second pass over the tensor: everything from the cut bin on, in order.
__global__ void
__launch_bounds__(WIDE)
    CopyCandidatesKernel(const float* __restrict__ values, uint64_t count, TopKParts parts)
{
    __shared__ uint32_t scratch[WIDE / WARP];
    uint32_t position = SumBefore(parts.counts, scratch);
    const uint32_t cut = parts.state->prefix; // its leading digit; the rest is 0 so far
    const uint64_t end = GetRangeBegin(blockIdx.x + 1, count);
    for (uint64_t begin = GetRangeBegin(blockIdx.x, count); begin < end; begin += 4 * WIDE)
    {
        const uint64_t first = begin + 4 * threadIdx.x;
        const float4 four = LoadFour<float4>(values, first, end, 0.0F);
        const float each[4] = {four.x, four.y, four.z, four.w};
        uint32_t taken = 0;
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i)
        {
            taken |= (first + i < end && MagnitudeKey(each[i]) >= cut ? 1U : 0U) << i;
        }
        uint32_t total = 0;
        uint32_t at = position + ScanThreads(static_cast<uint32_t>(__popc(taken)), scratch, total);
        position += total;
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i)
        {
            if ((taken >> i & 1U) != 0)
            {
                parts.indices[at] = static_cast<uint32_t>(first + i);
                parts.values[at++] = each[i];
            }
        }
    }
}

/// Elements of each range of the copy that are above the cut, and those equal to it.
__global__ void
__launch_bounds__(WIDE) CountSelectedKernel(TopKParts parts)
{
    __shared__ uint32_t scratch[WIDE / WARP];
    const uint32_t cut = parts.state->prefix;
    const uint64_t candidates = parts.state->candidates;
    uint32_t above = 0;
    uint32_t equal = 0;
    const uint64_t end = GetRangeBegin(blockIdx.x + 1, candidates);
    for (uint64_t i = GetRangeBegin(blockIdx.x, candidates) + threadIdx.x; i < end; i += WIDE)
    {
        const uint32_t key = MagnitudeKey(parts.values[i]);
        above += key > cut ? 1 : 0;
        equal += key == cut ? 1 : 0;
    }
    uint32_t aboveTotal = 0;
    uint32_t equalTotal = 0;
    ScanThreads(above, scratch, aboveTotal);
    ScanThreads(equal, scratch, equalTotal);
    if (threadIdx.x == 0)
    {
        parts.counts[blockIdx.x] = aboveTotal;
        parts.ties[blockIdx.x] = equalTotal;
    }
}

/// The result: everything above the cut and the first `wanted` equal to it, in order.
__global__ void
__launch_bounds__(WIDE) CopySelectedKernel(TopKParts parts,
                                           uint32_t* __restrict__ indices,
                                           float* __restrict__ selected,
                                           uint32_t* __restrict__ cutKey)
{
    __shared__ uint32_t scratch[WIDE / WARP];
    const uint32_t cut = parts.state->prefix;
    const uint32_t wanted = parts.state->wanted;
    const uint64_t candidates = parts.state->candidates;
    uint32_t above = SumBefore(parts.counts, scratch);
    uint32_t ties = SumBefore(parts.ties, scratch);
    if (blockIdx.x == 0 && threadIdx.x == 0 && cutKey != nullptr)
    {
        *cutKey = cut;
    }
    const uint64_t end = GetRangeBegin(blockIdx.x + 1, candidates);
    for (uint64_t begin = GetRangeBegin(blockIdx.x, candidates); begin < end; begin += WIDE)
    {
        const uint64_t i = begin + threadIdx.x;
        const float value = i < end ? parts.values[i] : 0.0F;
        const uint32_t key = MagnitudeKey(value);
        const bool isAbove = i < end && key > cut;
        const bool isTie = i < end && key == cut;
        uint32_t aboveTotal = 0;
        uint32_t tieTotal = 0;
        const uint32_t aboveBefore = above + ScanThreads(isAbove ? 1U : 0U, scratch, aboveTotal);
        const uint32_t tiesBefore = ties + ScanThreads(isTie ? 1U : 0U, scratch, tieTotal);
        if (isAbove || (isTie && tiesBefore < wanted))
        {
            const uint32_t at = aboveBefore + min(tiesBefore, wanted);
            indices[at] = parts.indices[i];
            selected[at] = value;
        }
        above += aboveTotal;
        ties += tieTotal;
    }
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
           uint32_t* cutKey,
           void* workspace,
           cudaStream_t stream)
{
    const uint64_t wanted = k < count ? k : count;
    if (wanted == 0)
    {
        // No element reaches this key.
        return cutKey != nullptr ? cudaMemsetAsync(cutKey, 0xff, sizeof *cutKey, stream)
                                 : cudaSuccess;
    }
    WorkspaceCutter cutter(workspace);
    const TopKParts parts = CutTopK(cutter, count);
    const size_t bytes = RADIX_LEVELS * RADIX_BINS * sizeof(uint32_t);
    if (const auto error = cudaMemsetAsync(parts.totals, 0, bytes, stream); error != cudaSuccess)
    {
        return error;
    }
    const uint32_t ranges = CountRanges(count);
    Launch<StartTopKKernel>(1, 1, stream, parts.state, static_cast<uint32_t>(wanted));
    Launch<CountLeadingDigitsKernel>(ranges, WIDE, stream, values, count, parts);
    Launch<FindCutKernel>(1, WIDE, stream, parts, 0);
    Launch<CountCandidatesKernel>(ranges, WIDE, stream, parts);
    Launch<CopyCandidatesKernel>(ranges, WIDE, stream, values, count, parts);
    for (uint32_t level = 1; level < RADIX_LEVELS; ++level)
    {
        Launch<CountDigitsKernel>(ranges, WIDE, stream, parts, level);
        Launch<FindCutKernel>(1, WIDE, stream, parts, level);
    }
    Launch<CountSelectedKernel>(ranges, WIDE, stream, parts);
    Launch<CopySelectedKernel>(ranges, WIDE, stream, parts, indices, selected, cutKey);
    return cudaGetLastError();
}

} // namespace ns3::gradsync::kernels
