// SPDX-License-Identifier: GPL-2.0-only
// The last step of exact top-k: what is selected of the candidates.
#include "compression-kernels.h"
#include "top-k-search.h"

#include "ns3/sparsifier-arithmetic.h"

namespace ns3::gradsync::kernels
{

namespace
{

constexpr uint32_t COPY_THREADS =
    512; //!< of a block: fewer than where is counted, as each needs more registers
constexpr uint32_t COPY_BLOCKS = 3; //!< of these on a multiprocessor

/// As many blocks as this device runs at the same time, so that none waits for another's end.
uint32_t
CountCopiedRanges(uint64_t count)
{
    return std::min(CountProcessors() * COPY_BLOCKS, CountMostRanges(count));
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
    if (const auto error = SearchTopK(input, parts, nullptr, stream); error != cudaSuccess)
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

} // namespace ns3::gradsync::kernels
