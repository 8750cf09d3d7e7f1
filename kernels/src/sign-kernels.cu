// SPDX-License-Identifier: GPL-2.0-only
#include "launch.h"
#include "stochastic-kernels.h"

namespace ns3::gradsync::kernels
{

namespace
{

/// Signs of four elements, and which of them have none.
__device__ inline uint32_t
TakeSigns(const float4& four, uint32_t& undecided)
{
    undecided = (HasSign(four.x) ? 0U : 1U) | (HasSign(four.y) ? 0U : 2U) |
                (HasSign(four.z) ? 0U : 4U) | (HasSign(four.w) ? 0U : 8U);
    return (four.x < 0.0F ? 1U : 0U) | (four.y < 0.0F ? 2U : 0U) | (four.z < 0.0F ? 4U : 0U) |
           (four.w < 0.0F ? 8U : 0U);
}

/// Eight elements per thread make a byte; the words are little-endian, so bytes are in order.
__global__ void
__launch_bounds__(THREADS) EncodeSignsKernel(const float* __restrict__ values,
                                             uint64_t count,
                                             RandomStream random,
                                             uint8_t* __restrict__ bytes,
                                             uint64_t byteCount)
{
    const uint64_t byte = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (byte >= byteCount)
    {
        return;
    }
    const uint64_t first = 8 * byte;
    uint32_t low = 0;
    uint32_t high = 0;
    uint32_t signs = TakeSigns(LoadFour<float4>(values, first, count, 0.0F), low);
    signs |= TakeSigns(LoadFour<float4>(values, first + 4, count, 0.0F), high) << 4;
    const auto rest = static_cast<uint32_t>(first < count ? count - first : 0U);
    const uint32_t real = rest < 8 ? (1U << rest) - 1U : 255U; // behind the last element all is 0
    const uint32_t undecided = (low | high << 4) & real;
    if (undecided != 0)
    {
        signs |= undecided & DrawCoins(random, byte / 4) >> (8 * (byte % 4));
    }
    bytes[byte] = static_cast<uint8_t>(signs);
}

/// Four elements per thread, half a byte: what a warp stores at once lies side by side.
__global__ void
__launch_bounds__(THREADS) DecodeSignsKernel(const uint8_t* __restrict__ bytes,
                                             uint64_t count,
                                             float magnitude,
                                             float* __restrict__ values)
{
    const uint64_t half = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    const uint64_t first = 4 * half;
    if (first >= count)
    {
        return;
    }
    const uint32_t signs = static_cast<uint32_t>(bytes[half / 2]) >> (4 * (half % 2));
    StoreFour(values,
              first,
              count,
              float4{DecodeSign(signs & 1U, magnitude),
                     DecodeSign(signs & 2U, magnitude),
                     DecodeSign(signs & 4U, magnitude),
                     DecodeSign(signs & 8U, magnitude)});
}

/// A word per thread, of all voters.
__global__ void
__launch_bounds__(THREADS) CountMajorityKernel(const uint32_t* __restrict__ votes,
                                               uint32_t voters,
                                               uint64_t count,
                                               RandomStream random,
                                               uint32_t* __restrict__ words)
{
    const uint64_t word = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (word >= count)
    {
        return;
    }
    VoteCount sum{};
#pragma unroll 1
    for (uint32_t voter = 0; voter < voters; ++voter)
    {
        AddVotes(votes[voter * count + word], sum);
    }
    const VoteResult result = CloseVote(sum, voters);
    uint32_t majority = result.majority;
    if (result.ties != 0)
    {
        majority |= result.ties & DrawCoins(random, word);
    }
    words[word] = majority;
}

} // namespace

cudaError_t
EncodeSigns(const float* values,
            uint64_t count,
            const RandomStream& random,
            uint32_t* words,
            cudaStream_t stream)
{
    if (count > 0)
    {
        const uint64_t bytes = (count + SIGNS_PER_WORD - 1) / SIGNS_PER_WORD * 4;
        Launch<EncodeSignsKernel>(CountThreadBlocks(bytes),
                                  THREADS,
                                  stream,
                                  values,
                                  count,
                                  random,
                                  reinterpret_cast<uint8_t*>(words),
                                  bytes);
    }
    return cudaGetLastError();
}

cudaError_t
DecodeSigns(const uint32_t* words,
            uint64_t count,
            float magnitude,
            float* values,
            cudaStream_t stream)
{
    if (count > 0)
    {
        Launch<DecodeSignsKernel>(CountThreadBlocks((count + 3) / 4),
                                  THREADS,
                                  stream,
                                  reinterpret_cast<const uint8_t*>(words),
                                  count,
                                  magnitude,
                                  values);
    }
    return cudaGetLastError();
}

cudaError_t
CountMajority(const uint32_t* votes,
              uint32_t voters,
              uint64_t count,
              const RandomStream& random,
              uint32_t* words,
              cudaStream_t stream)
{
    if (voters == 0 || voters > MAX_VOTERS)
    {
        return cudaErrorInvalidValue;
    }
    if (count > 0)
    {
        Launch<CountMajorityKernel>(CountThreadBlocks(count),
                                    THREADS,
                                    stream,
                                    votes,
                                    voters,
                                    count,
                                    random,
                                    words);
    }
    return cudaGetLastError();
}

} // namespace ns3::gradsync::kernels
