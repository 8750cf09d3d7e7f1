// SPDX-License-Identifier: GPL-2.0-only
#include "stochastic-kernels.h"
#include "warp-sums.h"

namespace ns3::gradsync::kernels
{

namespace
{

constexpr uint32_t FINISH_THREADS = 1024;

/// A warp per strip.
__global__ void
__launch_bounds__(THREADS) SumStripsKernel(const float* __restrict__ values,
                                           uint64_t count,
                                           double* __restrict__ squares,
                                           uint32_t* __restrict__ keys)
{
    const uint64_t strip = static_cast<uint64_t>(blockIdx.x) * WARPS + threadIdx.x / WARP;
    const uint64_t begin = strip * TERNARY_STRIP_ELEMENTS;
    if (begin >= count)
    {
        return;
    }
    const uint64_t end =
        begin + TERNARY_STRIP_ELEMENTS < count ? begin + TERNARY_STRIP_ELEMENTS : count;
    const LaneSums own = SumVectors(values, begin, end);
    const double sum = AddWarp(own.squares);
    const uint32_t largest = __reduce_max_sync(ALL_LANES, own.largestKey);
    if (threadIdx.x % WARP == 0)
    {
        squares[strip] = sum;
        keys[strip] = largest;
    }
}

/// One block of threads, each for a lane of the strips; then the warps of 32 lanes by halves.
__global__ void
__launch_bounds__(FINISH_THREADS) FinishScalerKernel(const double* __restrict__ squares,
                                                     const uint32_t* __restrict__ keys,
                                                     uint32_t strips,
                                                     uint64_t count,
                                                     double clipDeviations,
                                                     float* __restrict__ scaler)
{
    __shared__ double sums[FINISH_THREADS / WARP];
    __shared__ uint32_t maxima[FINISH_THREADS / WARP];
    double own = 0.0;
    uint32_t key = 0;
#pragma unroll 1
    for (uint32_t strip = threadIdx.x; strip < strips; strip += FINISH_THREADS)
    {
        own += squares[strip];
        key = max(key, keys[strip]);
    }
    const double ofWarp = AddWarp(own);
    const uint32_t largest = __reduce_max_sync(ALL_LANES, key);
    if (threadIdx.x % WARP == 0)
    {
        sums[threadIdx.x / WARP] = ofWarp;
        maxima[threadIdx.x / WARP] = largest;
    }
    __syncthreads();
    if (threadIdx.x < WARP)
    {
        const double all = AddWarp(sums[threadIdx.x]);
        const uint32_t maximum = __reduce_max_sync(ALL_LANES, maxima[threadIdx.x]);
        if (threadIdx.x == 0)
        {
            *scaler = MakeTernaryScaler(maximum, all, count, clipDeviations);
        }
    }
}

/// Four elements per thread make a byte, as of two-bit.
__global__ void
__launch_bounds__(THREADS) EncodeTernaryKernel(const float* __restrict__ values,
                                               uint64_t count,
                                               const float* __restrict__ scaler,
                                               RandomStream random,
                                               uint8_t* __restrict__ bytes,
                                               uint64_t byteCount)
{
    const uint64_t byte = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (byte >= byteCount)
    {
        return;
    }
    const float inverse = GetTernaryInverse(*scaler);
    const float4 four = LoadFour<float4>(values, 4 * byte, count, 0.0F);
    const PhiloxBlock drawn = DrawFour(random, byte);
    bytes[byte] = static_cast<uint8_t>(EncodeTernary(four.x, inverse, drawn.words[0]) |
                                       EncodeTernary(four.y, inverse, drawn.words[1]) << 2 |
                                       EncodeTernary(four.z, inverse, drawn.words[2]) << 4 |
                                       EncodeTernary(four.w, inverse, drawn.words[3]) << 6);
}

__global__ void
__launch_bounds__(THREADS) DecodeTernaryKernel(const uint8_t* __restrict__ bytes,
                                               const float* __restrict__ scaler,
                                               uint64_t count,
                                               float* __restrict__ values)
{
    const uint64_t byte = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (4 * byte >= count)
    {
        return;
    }
    const float magnitude = *scaler;
    const uint32_t codes = bytes[byte];
    StoreFour(values,
              4 * byte,
              count,
              float4{DecodeTernary(codes & 3U, magnitude),
                     DecodeTernary(codes >> 2 & 3U, magnitude),
                     DecodeTernary(codes >> 4 & 3U, magnitude),
                     DecodeTernary(codes >> 6, magnitude)});
}

/// Cuts the workspace of FindTernaryScaler.
struct StripSums
{
    explicit StripSums(uint64_t count, void* workspace)
        : strips(
              static_cast<uint32_t>((count + TERNARY_STRIP_ELEMENTS - 1) / TERNARY_STRIP_ELEMENTS)),
          cutter(workspace),
          squares(cutter.Take<double>(strips)),
          keys(cutter.Take<uint32_t>(strips))
    {
    }

    uint32_t strips;
    WorkspaceCutter cutter;
    double* squares;
    uint32_t* keys;
};

} // namespace

size_t
GetTernaryWorkspaceBytes(uint64_t count)
{
    return StripSums(count, nullptr).cutter.GetBytes();
}

cudaError_t
FindTernaryScaler(const float* values,
                  uint64_t count,
                  double clipDeviations,
                  float* scaler,
                  void* workspace,
                  cudaStream_t stream)
{
    if (count == 0)
    {
        return cudaErrorInvalidValue;
    }
    const StripSums sums(count, workspace);
    Launch<SumStripsKernel>((sums.strips + WARPS - 1) / WARPS,
                            THREADS,
                            stream,
                            values,
                            count,
                            sums.squares,
                            sums.keys);
    Launch<FinishScalerKernel>(1,
                               FINISH_THREADS,
                               stream,
                               sums.squares,
                               sums.keys,
                               sums.strips,
                               count,
                               clipDeviations,
                               scaler);
    return cudaGetLastError();
}

cudaError_t
EncodeTernaryWords(const float* values,
                   uint64_t count,
                   const float* scaler,
                   const RandomStream& random,
                   uint32_t* words,
                   cudaStream_t stream)
{
    if (count > 0)
    {
        // Whole words: the bytes after the last element are 0.
        const uint64_t bytes = (count + TWO_BITS_PER_WORD - 1) / TWO_BITS_PER_WORD * 4;
        Launch<EncodeTernaryKernel>(CountThreadBlocks(bytes),
                                    THREADS,
                                    stream,
                                    values,
                                    count,
                                    scaler,
                                    random,
                                    reinterpret_cast<uint8_t*>(words),
                                    bytes);
    }
    return cudaGetLastError();
}

cudaError_t
DecodeTernaryWords(const uint32_t* words,
                   const float* scaler,
                   uint64_t count,
                   float* values,
                   cudaStream_t stream)
{
    if (count > 0)
    {
        Launch<DecodeTernaryKernel>(CountThreadBlocks((count + 3) / 4),
                                    THREADS,
                                    stream,
                                    reinterpret_cast<const uint8_t*>(words),
                                    scaler,
                                    count,
                                    values);
    }
    return cudaGetLastError();
}

} // namespace ns3::gradsync::kernels
