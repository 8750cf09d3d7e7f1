// SPDX-License-Identifier: GPL-2.0-only
#include "compression-kernels.h"
#include "launch.h"

#include "ns3/sparsifier-arithmetic.h"

namespace ns3::gradsync::kernels
{

namespace
{

constexpr uint32_t LANES_PER_THREAD = SUM_LANES / THREADS;
static_assert(LANES_PER_THREAD == 4, "a thread owns the lanes of one float4");

/// Adds the lanes by halves, as the CPU does. \param own those of a thread, which are neighbours
/// \returns the sum in thread 0, which wrote it; 0 in others
template <typename Number, uint32_t EACH>
__device__ inline Number
AddLanes(const Number (&own)[EACH], Number* lanes)
{
#pragma unroll
    for (uint32_t i = 0; i < EACH; ++i)
    {
        lanes[EACH * threadIdx.x + i] = own[i];
    }
    for (uint32_t half = SUM_LANES / 2; half > 0; half /= 2)
    {
        __syncthreads();
        for (uint32_t lane = threadIdx.x; lane < half; lane += SUM_LANES / EACH)
        {
            lanes[lane] += lanes[lane + half];
        }
    }
    return threadIdx.x == 0 ? lanes[0] : Number{0};
}

/// Sum of convert(element) over a block of 4096; element i in lane i mod 1024.
template <typename Number, typename Convert>
__device__ inline Number
SumBlock(const float* values, uint64_t begin, uint64_t end, Number* lanes, const Convert& convert)
{
    Number own[LANES_PER_THREAD] = {};
#pragma unroll
    for (uint32_t i = 0; i < DGT_BLOCK_ELEMENTS / SUM_LANES; ++i)
    {
        const uint64_t first = begin + SUM_LANES * i + 4 * threadIdx.x;
        const float4 four = LoadFour<float4>(values, first, end, 0.0F);
        own[0] += convert(four.x);
        own[1] += convert(four.y);
        own[2] += convert(four.z);
        own[3] += convert(four.w);
    }
    return AddLanes(own, lanes);
}

__global__ void
__launch_bounds__(THREADS) ScoreBlocksKernel(const float* __restrict__ values,
                                             uint64_t count,
                                             float memory,
                                             float* __restrict__ contributions)
{
    __shared__ float lanes[SUM_LANES];
    const uint64_t begin = static_cast<uint64_t>(blockIdx.x) * DGT_BLOCK_ELEMENTS;
    const uint64_t rest = count - begin;
    const auto elements =
        static_cast<uint32_t>(rest < DGT_BLOCK_ELEMENTS ? rest : DGT_BLOCK_ELEMENTS);
    const float sum = SumBlock(values, begin, begin + elements, lanes, [](float value) {
        return FromBits(MagnitudeKey(value));
    });
    if (threadIdx.x == 0)
    {
        contributions[blockIdx.x] =
            UpdateContribution(contributions[blockIdx.x], sum, elements, memory);
    }
}

__global__ void
__launch_bounds__(THREADS)
    SumSquaresKernel(const float* __restrict__ values, uint64_t count, double* __restrict__ sums)
{
    __shared__ double lanes[SUM_LANES];
    const uint64_t begin = static_cast<uint64_t>(blockIdx.x) * DGT_BLOCK_ELEMENTS;
    const uint64_t whole = begin + DGT_BLOCK_ELEMENTS;
    const double sum =
        SumBlock(values, begin, whole < count ? whole : count, lanes, [](float value) {
            return static_cast<double>(value) * static_cast<double>(value);
        });
    if (threadIdx.x == 0)
    {
        sums[blockIdx.x] = sum;
    }
}

/// One block of threads, each for a lane. It waits for memory all the time: for several loads at
/// once.
__global__ void
__launch_bounds__(SUM_LANES)
    FinishNormKernel(const double* __restrict__ sums, uint32_t blocks, double* __restrict__ norm)
{
    constexpr uint32_t AT_ONCE = 8;
    __shared__ double lanes[SUM_LANES];
    double own[1] = {};
#pragma unroll 1
    for (uint32_t first = threadIdx.x; first < blocks; first += AT_ONCE * SUM_LANES)
    {
        double next[AT_ONCE];
#pragma unroll
        for (uint32_t i = 0; i < AT_ONCE; ++i)
        {
            const uint32_t block = first + i * SUM_LANES;
            next[i] = block < blocks ? sums[block] : 0.0;
        }
#pragma unroll
        for (uint32_t i = 0; i < AT_ONCE; ++i)
        {
            own[0] += next[i]; // of squares: a sum is never -0, which 0 would change
        }
    }
    const double sum = AddLanes(own, lanes);
    if (threadIdx.x == 0)
    {
        *norm = sqrt(sum);
    }
}

/// A block of threads per word of the bitmap, a warp for four of its blocks.
__global__ void
__launch_bounds__(THREADS) FindNonZeroKernel(const float* __restrict__ values,
                                             uint64_t count,
                                             uint32_t* __restrict__ bitmap,
                                             uint32_t* __restrict__ found)
{
    constexpr uint32_t BLOCKS_PER_WARP = 32 / (THREADS / WARP);
    __shared__ uint32_t word;
    if (threadIdx.x == 0)
    {
        word = 0;
    }
    __syncthreads();
    const uint32_t lane = threadIdx.x % WARP;
    const uint32_t warp = threadIdx.x / WARP;
    const uint64_t wordBegin = static_cast<uint64_t>(blockIdx.x) * 32 * ZERO_BLOCK_ELEMENTS;
    for (uint32_t i = 0; i < BLOCKS_PER_WARP; ++i)
    {
        const uint32_t bit = warp * BLOCKS_PER_WARP + i;
        const uint64_t first =
            wordBegin + static_cast<uint64_t>(bit) * ZERO_BLOCK_ELEMENTS + 4 * lane;
        const float4 low = LoadFour<float4>(values, first, count, 0.0F);
        const float4 high = LoadFour<float4>(values, first + 4 * WARP, count, 0.0F);
        const uint32_t keys = MagnitudeKey(low.x) | MagnitudeKey(low.y) | MagnitudeKey(low.z) |
                              MagnitudeKey(low.w) | MagnitudeKey(high.x) | MagnitudeKey(high.y) |
                              MagnitudeKey(high.z) | MagnitudeKey(high.w);
        if (__any_sync(ALL_LANES, keys != 0) && lane == 0)
        {
            atomicOr(&word, 1U << bit);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
    {
        bitmap[blockIdx.x] = word;
        atomicAdd(found, static_cast<uint32_t>(__popc(word)));
    }
}

__global__ void
__launch_bounds__(THREADS) AddSparseKernel(const uint32_t* __restrict__ indices,
                                           const float* __restrict__ values,
                                           uint64_t count,
                                           float* __restrict__ sum,
                                           uint32_t* __restrict__ marks)
{
    const uint64_t i = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (i < count)
    {
        const uint32_t index = indices[i];
        sum[index] += values[i];
        if (marks != nullptr)
        {
            atomicOr(marks + index / 32, 1U << (index % 32));
        }
    }
}

uint32_t
CountSumBlocks(uint64_t count)
{
    return static_cast<uint32_t>((count + DGT_BLOCK_ELEMENTS - 1) / DGT_BLOCK_ELEMENTS);
}

} // namespace

size_t
GetNormWorkspaceBytes(uint64_t count)
{
    WorkspaceCutter cutter(nullptr);
    cutter.Take<double>(CountSumBlocks(count));
    return cutter.GetBytes();
}

cudaError_t
ComputeNorm(const float* values, uint64_t count, double* norm, void* workspace, cudaStream_t stream)
{
    auto* const sums = WorkspaceCutter(workspace).Take<double>(CountSumBlocks(count));
    if (count > 0)
    {
        Launch<SumSquaresKernel>(CountSumBlocks(count), THREADS, stream, values, count, sums);
    }
    Launch<FinishNormKernel>(1, SUM_LANES, stream, sums, CountSumBlocks(count), norm);
    return cudaGetLastError();
}

cudaError_t
ScoreBlocks(const float* values,
            uint64_t count,
            float memory,
            float* contributions,
            cudaStream_t stream)
{
    if (count > 0)
    {
        Launch<ScoreBlocksKernel>(CountSumBlocks(count),
                                  THREADS,
                                  stream,
                                  values,
                                  count,
                                  memory,
                                  contributions);
    }
    return cudaGetLastError();
}

cudaError_t
FindNonZeroBlocks(const float* values,
                  uint64_t count,
                  uint32_t* bitmap,
                  uint32_t* found,
                  cudaStream_t stream)
{
    constexpr uint64_t WORD_ELEMENTS = 32ULL * ZERO_BLOCK_ELEMENTS;
    if (const auto error = cudaMemsetAsync(found, 0, sizeof *found, stream); error != cudaSuccess)
    {
        return error;
    }
    if (count > 0)
    {
        const auto words = static_cast<uint32_t>((count + WORD_ELEMENTS - 1) / WORD_ELEMENTS);
        Launch<FindNonZeroKernel>(words, THREADS, stream, values, count, bitmap, found);
    }
    return cudaGetLastError();
}

cudaError_t
AddSparseMarked(const uint32_t* indices,
                const float* values,
                uint64_t count,
                float* sum,
                uint32_t* marks,
                cudaStream_t stream)
{
    if (count > 0)
    {
        Launch<AddSparseKernel>(CountThreadBlocks(count),
                                THREADS,
                                stream,
                                indices,
                                values,
                                count,
                                sum,
                                marks);
    }
    return cudaGetLastError();
}

cudaError_t
AddSparse(const uint32_t* indices,
          const float* values,
          uint64_t count,
          float* sum,
          cudaStream_t stream)
{
    return AddSparseMarked(indices, values, count, sum, nullptr, stream);
}

} // namespace ns3::gradsync::kernels
