// SPDX-License-Identifier: GPL-2.0-only
// The cut of exact top-k, and all candidates in order.
#include "top-k-search.h"

#include "ns3/sparsifier-arithmetic.h"

namespace ns3::gradsync::kernels
{

namespace
{

constexpr uint32_t WIDE = MOST_RANGE_THREADS; //!< threads of a block that counts
constexpr uint32_t LATER_BINS = 1024;         //!< of a digit of 10 bits

/// As many blocks as this device runs at the same time, so that none waits for another's end.
uint32_t
CountCountedRanges(uint64_t count)
{
    const uint32_t threads = GetDeviceNumber(cudaDevAttrMaxThreadsPerMultiProcessor);
    const uint32_t resident = CountProcessors() * threads / WIDE;
    return std::clamp(resident, 1U, CountMostRanges(count));
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

} // namespace

cudaError_t
SearchTopK(const TopKInput& input, const TopKParts& parts, uint32_t* cutKey, cudaStream_t stream)
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
    return SearchTopK({values, most, 0, limits}, parts, key, stream);
}

} // namespace ns3::gradsync::kernels
