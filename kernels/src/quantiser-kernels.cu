// SPDX-License-Identifier: GPL-2.0-only
#include "compression-kernels.h"
#include "launch.h"
#include "tuning.h"

#include "ns3/quantiser-arithmetic.h"

namespace ns3::gradsync::kernels
{

namespace
{

constexpr uint32_t INT8_VECTORS = 8; //!< float4 per thread: 256 threads hold a block of 8192

__device__ inline uint32_t
FourKeys(const float4& values)
{
    const uint32_t left = max(MagnitudeKey(values.x), MagnitudeKey(values.y));
    const uint32_t right = max(MagnitudeKey(values.z), MagnitudeKey(values.w));
    return max(left, right);
}

/// The largest of all threads of a block.
__device__ inline uint32_t
FindLargest(uint32_t value, uint32_t* scratch)
{
    const uint32_t largest = __reduce_max_sync(ALL_LANES, value);
    if (threadIdx.x % WARP == 0)
    {
        scratch[threadIdx.x / WARP] = largest;
    }
    __syncthreads();
    uint32_t all = 0;
    for (uint32_t warp = 0; warp < blockDim.x / WARP; ++warp)
    {
        all = max(all, scratch[warp]);
    }
    return all;
}

/// A block of threads per block of elements, which stays in registers between the two looks at it.
__global__ void
__launch_bounds__(THREADS) EncodeInt8Kernel(const float* __restrict__ values,
                                            uint64_t count,
                                            uint32_t blockElements,
                                            int8_t* __restrict__ codes,
                                            float* __restrict__ scales)
{
    __shared__ uint32_t scratch[THREADS / WARP];
    const uint64_t begin = static_cast<uint64_t>(blockIdx.x) * blockElements;
    const uint64_t end = begin + blockElements < count ? begin + blockElements : count;
    float4 held[INT8_VECTORS];
    uint32_t key = 0;
#pragma unroll
    for (uint32_t i = 0; i < INT8_VECTORS; ++i)
    {
        const uint64_t first = begin + 4 * (threadIdx.x + THREADS * i);
        held[i] = LoadFour<float4>(values, first, end, 0.0F);
        key = max(key, FourKeys(held[i]));
    }
    const Int8Scale scale = MakeInt8Scale(FindLargest(key, scratch));
    if (threadIdx.x == 0)
    {
        scales[blockIdx.x] = scale.scale;
    }
#pragma unroll
    for (uint32_t i = 0; i < INT8_VECTORS; ++i)
    {
        const uint64_t first = begin + 4 * (threadIdx.x + THREADS * i);
        const char4 four{EncodeInt8(held[i].x, scale.inverse),
                         EncodeInt8(held[i].y, scale.inverse),
                         EncodeInt8(held[i].z, scale.inverse),
                         EncodeInt8(held[i].w, scale.inverse)};
        StoreFour(codes, first, end, four);
    }
}

__global__ void
__launch_bounds__(THREADS) DecodeInt8Kernel(const int8_t* __restrict__ codes,
                                            const float* __restrict__ scales,
                                            uint64_t count,
                                            uint32_t blockElements,
                                            float* __restrict__ values)
{
    const uint64_t first = 4 * (static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x);
    if (first >= count)
    {
        return;
    }
    // Fewer than 2^32 elements: a division of 64 bits takes 80 instructions more.
    const float scale = scales[static_cast<uint32_t>(first) / blockElements];
    const char4 four = LoadFour<char4>(codes, first, count, static_cast<int8_t>(0));
    StoreFour(values,
              first,
              count,
              float4{DecodeInt8(four.x, scale),
                     DecodeInt8(four.y, scale),
                     DecodeInt8(four.z, scale),
                     DecodeInt8(four.w, scale)});
}

struct HalfFormat
{
    static __device__ uint32_t Encode(float value)
    {
        return FloatToHalf(value);
    }

    static __device__ float Decode(uint32_t code)
    {
        return HalfToFloat(static_cast<uint16_t>(code));
    }
};

struct BfloatFormat
{
    static __device__ uint32_t Encode(float value)
    {
        return FloatToBfloat(value);
    }

    static __device__ float Decode(uint32_t code)
    {
        return BfloatToFloat(static_cast<uint16_t>(code));
    }
};

/// Elements of a block of threads that convert to or from 16 bits.
uint64_t
CountConverted()
{
    return uint64_t{4} * THREADS * GetTuning().convertVectors;
}

/// Vectors of a thread lie a block's width apart, so that each access of a warp is to a whole run
/// of memory: of 512 bytes of floats, of 256 bytes of codes.
template <typename Format>
__global__ void
__launch_bounds__(THREADS) EncodeSixteenBitsKernel(const float* __restrict__ values,
                                                   uint64_t count,
                                                   uint16_t* __restrict__ codes)
{
    constexpr uint32_t VECTORS = DEVICE_TUNING.convertVectors;
    const uint64_t begin =
        4 * (static_cast<uint64_t>(blockIdx.x) * THREADS * VECTORS + threadIdx.x);
    float4 four[VECTORS];
#pragma unroll
    for (uint32_t i = 0; i < VECTORS; ++i)
    {
        four[i] = LoadFour<float4>(values, begin + 4 * THREADS * i, count, 0.0F);
    }
#pragma unroll
    for (uint32_t i = 0; i < VECTORS; ++i)
    {
        StoreFour(codes,
                  begin + 4 * THREADS * i,
                  count,
                  ushort4{static_cast<uint16_t>(Format::Encode(four[i].x)),
                          static_cast<uint16_t>(Format::Encode(four[i].y)),
                          static_cast<uint16_t>(Format::Encode(four[i].z)),
                          static_cast<uint16_t>(Format::Encode(four[i].w))});
    }
}

template <typename Format>
__global__ void
__launch_bounds__(THREADS) DecodeSixteenBitsKernel(const uint16_t* __restrict__ codes,
                                                   uint64_t count,
                                                   float* __restrict__ values)
{
    constexpr uint32_t VECTORS = DEVICE_TUNING.convertVectors;
    const uint64_t begin =
        4 * (static_cast<uint64_t>(blockIdx.x) * THREADS * VECTORS + threadIdx.x);
    ushort4 four[VECTORS];
#pragma unroll
    for (uint32_t i = 0; i < VECTORS; ++i)
    {
        four[i] =
            LoadFour<ushort4>(codes, begin + 4 * THREADS * i, count, static_cast<uint16_t>(0));
    }
#pragma unroll
    for (uint32_t i = 0; i < VECTORS; ++i)
    {
        StoreFour(values,
                  begin + 4 * THREADS * i,
                  count,
                  float4{Format::Decode(four[i].x),
                         Format::Decode(four[i].y),
                         Format::Decode(four[i].z),
                         Format::Decode(four[i].w)});
    }
}

/// Four elements per thread make a byte; the words are little-endian, so bytes are in order.
__global__ void
__launch_bounds__(THREADS) EncodeTwoBitsKernel(const float* __restrict__ gradients,
                                               float* __restrict__ residual,
                                               uint64_t count,
                                               float threshold,
                                               uint8_t* __restrict__ bytes,
                                               uint64_t byteCount)
{
    const uint64_t byte = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (byte >= byteCount)
    {
        return;
    }
    // Beyond the end 0 + 0 gives code 0, as the threshold is positive.
    const float4 gradient = LoadFour<float4>(gradients, 4 * byte, count, 0.0F);
    const float4 kept = LoadFour<float4>(residual, 4 * byte, count, 0.0F);
    const TwoBitStep x = EncodeTwoBit(gradient.x, kept.x, threshold);
    const TwoBitStep y = EncodeTwoBit(gradient.y, kept.y, threshold);
    const TwoBitStep z = EncodeTwoBit(gradient.z, kept.z, threshold);
    const TwoBitStep w = EncodeTwoBit(gradient.w, kept.w, threshold);
    StoreFour(residual, 4 * byte, count, float4{x.residual, y.residual, z.residual, w.residual});
    bytes[byte] = static_cast<uint8_t>(x.code | y.code << 2 | z.code << 4 | w.code << 6);
}

__global__ void
__launch_bounds__(THREADS) DecodeTwoBitsKernel(const uint8_t* __restrict__ bytes,
                                               uint64_t count,
                                               float threshold,
                                               float* __restrict__ values)
{
    const uint64_t byte = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (4 * byte >= count)
    {
        return;
    }
    const uint32_t codes = bytes[byte];
    StoreFour(values,
              4 * byte,
              count,
              float4{DecodeTwoBit(codes & 3U, threshold),
                     DecodeTwoBit((codes >> 2) & 3U, threshold),
                     DecodeTwoBit((codes >> 4) & 3U, threshold),
                     DecodeTwoBit(codes >> 6, threshold)});
}

template <typename Format>
cudaError_t
EncodeSixteenBits(const float* values, uint64_t count, uint16_t* codes, cudaStream_t stream)
{
    if (count > 0)
    {
        const uint64_t each = CountConverted();
        Launch<EncodeSixteenBitsKernel<Format>>(static_cast<uint32_t>((count + each - 1) / each),
                                                THREADS,
                                                stream,
                                                values,
                                                count,
                                                codes);
    }
    return cudaGetLastError();
}

template <typename Format>
cudaError_t
DecodeSixteenBits(const uint16_t* codes, uint64_t count, float* values, cudaStream_t stream)
{
    if (count > 0)
    {
        const uint64_t each = CountConverted();
        Launch<DecodeSixteenBitsKernel<Format>>(static_cast<uint32_t>((count + each - 1) / each),
                                                THREADS,
                                                stream,
                                                codes,
                                                count,
                                                values);
    }
    return cudaGetLastError();
}

bool
IsBlockSize(uint32_t elements)
{
    return elements > 0 && elements % 4 == 0 && elements <= 4 * THREADS * INT8_VECTORS;
}

} // namespace

cudaError_t
EncodeInt8Blocks(const float* values,
                 uint64_t count,
                 uint32_t blockElements,
                 int8_t* codes,
                 float* scales,
                 cudaStream_t stream)
{
    if (!IsBlockSize(blockElements))
    {
        return cudaErrorInvalidValue;
    }
    if (count > 0)
    {
        const auto blocks = static_cast<uint32_t>((count + blockElements - 1) / blockElements);
        Launch<EncodeInt8Kernel>(blocks,
                                 THREADS,
                                 stream,
                                 values,
                                 count,
                                 blockElements,
                                 codes,
                                 scales);
    }
    return cudaGetLastError();
}

cudaError_t
DecodeInt8Blocks(const int8_t* codes,
                 const float* scales,
                 uint64_t count,
                 uint32_t blockElements,
                 float* values,
                 cudaStream_t stream)
{
    if (!IsBlockSize(blockElements))
    {
        return cudaErrorInvalidValue;
    }
    if (count > 0)
    {
        Launch<DecodeInt8Kernel>(CountThreadBlocks((count + 3) / 4),
                                 THREADS,
                                 stream,
                                 codes,
                                 scales,
                                 count,
                                 blockElements,
                                 values);
    }
    return cudaGetLastError();
}

cudaError_t
EncodeHalf(const float* values, uint64_t count, uint16_t* codes, cudaStream_t stream)
{
    return EncodeSixteenBits<HalfFormat>(values, count, codes, stream);
}

cudaError_t
DecodeHalf(const uint16_t* codes, uint64_t count, float* values, cudaStream_t stream)
{
    return DecodeSixteenBits<HalfFormat>(codes, count, values, stream);
}

cudaError_t
EncodeBfloat(const float* values, uint64_t count, uint16_t* codes, cudaStream_t stream)
{
    return EncodeSixteenBits<BfloatFormat>(values, count, codes, stream);
}

cudaError_t
DecodeBfloat(const uint16_t* codes, uint64_t count, float* values, cudaStream_t stream)
{
    return DecodeSixteenBits<BfloatFormat>(codes, count, values, stream);
}

cudaError_t
EncodeTwoBits(const float* gradients,
              float* residual,
              uint64_t count,
              float threshold,
              uint32_t* words,
              cudaStream_t stream)
{
    if (count > 0)
    {
        // Whole words: the bytes after the last element are 0.
        const uint64_t bytes = (count + TWO_BITS_PER_WORD - 1) / TWO_BITS_PER_WORD * 4;
        Launch<EncodeTwoBitsKernel>(CountThreadBlocks(bytes),
                                    THREADS,
                                    stream,
                                    gradients,
                                    residual,
                                    count,
                                    threshold,
                                    reinterpret_cast<uint8_t*>(words),
                                    bytes);
    }
    return cudaGetLastError();
}

cudaError_t
DecodeTwoBits(const uint32_t* words,
              uint64_t count,
              float threshold,
              float* values,
              cudaStream_t stream)
{
    if (count > 0)
    {
        Launch<DecodeTwoBitsKernel>(CountThreadBlocks((count + 3) / 4),
                                    THREADS,
                                    stream,
                                    reinterpret_cast<const uint8_t*>(words),
                                    count,
                                    threshold,
                                    values);
    }
    return cudaGetLastError();
}

} // namespace ns3::gradsync::kernels
