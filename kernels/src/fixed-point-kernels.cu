// SPDX-License-Identifier: GPL-2.0-only
#include "compression-kernels.h"
#include "launch.h"

#include "ns3/quantiser-arithmetic.h"

namespace ns3::gradsync::kernels
{

namespace
{

/// Converts four elements per thread. \param convert (element, its packet) -> code
template <typename InVector, typename OutVector, typename In, typename Out, typename Convert>
__global__ void
__launch_bounds__(THREADS) ConvertKernel(const In* __restrict__ in,
                                         uint64_t count,
                                         uint32_t packetElements,
                                         Out* __restrict__ out,
                                         Convert convert)
{
    const uint64_t first = 4 * (static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x);
    if (first >= count)
    {
        return;
    }
    // Fewer than 2^32 elements: a division of 64 bits takes 80 instructions more.
    const uint32_t packet = packetElements > 0 ? static_cast<uint32_t>(first) / packetElements : 0;
    const InVector four = LoadFour<InVector>(in, first, count, static_cast<In>(0));
    StoreFour(out,
              first,
              count,
              OutVector{convert(four.x, packet),
                        convert(four.y, packet),
                        convert(four.z, packet),
                        convert(four.w, packet)});
}

struct EncodeFixed
{
    float factor;

    __device__ int32_t operator()(float value, uint32_t) const
    {
        return EncodeFixedPoint(value, factor);
    }
};

struct DecodeFixed
{
    float inverse;

    __device__ float operator()(int32_t code, uint32_t) const
    {
        return DecodeFixedPoint(code, inverse);
    }
};

struct EncodeScaled
{
    const int8_t* exponents;
    float factor;

    __device__ int32_t operator()(float value, uint32_t packet) const
    {
        return EncodeWithExponent(value, factor, exponents[packet]);
    }
};

struct DecodeScaled
{
    const int8_t* exponents;
    float factor;

    __device__ float operator()(int32_t sum, uint32_t packet) const
    {
        return DecodeWithExponent(sum, factor, exponents[packet]);
    }
};

struct EncodeBytes
{
    const int8_t* exponents;
    float share;

    __device__ int8_t operator()(float value, uint32_t packet) const
    {
        return EncodeByteWithExponent(value, share, exponents[packet]);
    }
};

struct DecodeBytes
{
    const int8_t* exponents;
    float inverse;

    __device__ float operator()(int8_t sum, uint32_t packet) const
    {
        return DecodeByteWithExponent(sum, inverse, exponents[packet]);
    }
};

bool
IsByteSum(uint32_t packetElements, uint32_t workers)
{
    return packetElements > 0 && workers > 0 && workers <= BYTE_SUM_MAXIMUM;
}

/// Lanes that share a packet: a power of two, as many as it has vectors of four elements, or all.
uint32_t
CountPacketLanes(uint32_t packetElements)
{
    uint32_t lanes = 1;
    while (lanes < WARP && 4 * lanes < packetElements)
    {
        lanes *= 2;
    }
    return lanes;
}

/// So many lanes per packet.
__global__ void
__launch_bounds__(THREADS) FindExponentsKernel(const float* __restrict__ values,
                                               uint64_t count,
                                               uint32_t packetElements,
                                               uint32_t lanes,
                                               int8_t* __restrict__ exponents)
{
    // A power of two, but the compiler does not know.
    const uint32_t shift = static_cast<uint32_t>(__ffs(lanes)) - 1;
    const uint64_t packet = (static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x) >> shift;
    const uint32_t lane = threadIdx.x & (lanes - 1);
    const uint64_t begin = packet * packetElements;
    const uint64_t rest = count > begin ? count - begin : 0;
    const auto present = static_cast<uint32_t>(rest < packetElements ? rest : packetElements);
    uint32_t key = 0;
    for (uint32_t offset = 4 * lane; offset < present; offset += 4 * lanes)
    {
        const float4 four = LoadFour<float4>(values + begin, offset, present, 0.0F);
        key = max(key, max(MagnitudeKey(four.x), MagnitudeKey(four.y)));
        key = max(key, max(MagnitudeKey(four.z), MagnitudeKey(four.w)));
    }
    // Packets that do not exist take part: all lanes of the warp shuffle.
    for (uint32_t step = lanes / 2; step > 0; step /= 2)
    {
        key = max(key, __shfl_sync(ALL_LANES, key, threadIdx.x % WARP ^ step));
    }
    if (lane == 0 && present > 0)
    {
        exponents[packet] = GetPacketExponent(key);
    }
}

template <typename InVector, typename OutVector, typename In, typename Out, typename Convert>
cudaError_t
ConvertAll(const In* in,
           uint64_t count,
           uint32_t packetElements,
           Out* out,
           const Convert& convert,
           cudaStream_t stream)
{
    if (packetElements % 4 != 0)
    {
        return cudaErrorInvalidValue;
    }
    if (count > 0)
    {
        Launch<ConvertKernel<InVector, OutVector, In, Out, Convert>>(
            CountThreadBlocks((count + 3) / 4),
            THREADS,
            stream,
            in,
            count,
            packetElements,
            out,
            convert);
    }
    return cudaGetLastError();
}

} // namespace

cudaError_t
EncodeFixedPoints(const float* values,
                  uint64_t count,
                  float factor,
                  int32_t* codes,
                  cudaStream_t stream)
{
    return ConvertAll<float4, int4>(values, count, 0, codes, EncodeFixed{factor}, stream);
}

cudaError_t
DecodeFixedPoints(const int32_t* codes,
                  uint64_t count,
                  float factor,
                  float* values,
                  cudaStream_t stream)
{
    return ConvertAll<int4, float4>(codes, count, 0, values, DecodeFixed{1.0F / factor}, stream);
}

cudaError_t
FindPacketExponents(const float* values,
                    uint64_t count,
                    uint32_t packetElements,
                    int8_t* exponents,
                    cudaStream_t stream)
{
    if (packetElements == 0 || packetElements % 4 != 0)
    {
        return cudaErrorInvalidValue;
    }
    if (count > 0)
    {
        const uint64_t packets = (count + packetElements - 1) / packetElements;
        const uint32_t lanes = CountPacketLanes(packetElements);
        Launch<FindExponentsKernel>(CountThreadBlocks(packets * lanes),
                                    THREADS,
                                    stream,
                                    values,
                                    count,
                                    packetElements,
                                    lanes,
                                    exponents);
    }
    return cudaGetLastError();
}

cudaError_t
EncodeWithExponents(const float* values,
                    uint64_t count,
                    uint32_t packetElements,
                    uint32_t workers,
                    const int8_t* exponents,
                    int32_t* codes,
                    cudaStream_t stream)
{
    const EncodeScaled convert{exponents, GetSumFactor(workers)};
    return ConvertAll<float4, int4>(values, count, packetElements, codes, convert, stream);
}

cudaError_t
DecodeWithExponents(const int32_t* sums,
                    uint64_t count,
                    uint32_t packetElements,
                    uint32_t workers,
                    const int8_t* exponents,
                    float* values,
                    cudaStream_t stream)
{
    const DecodeScaled convert{exponents, GetSumFactor(workers)};
    return ConvertAll<int4, float4>(sums, count, packetElements, values, convert, stream);
}

cudaError_t
EncodeBytesWithExponents(const float* values,
                         uint64_t count,
                         uint32_t packetElements,
                         uint32_t workers,
                         const int8_t* exponents,
                         int8_t* codes,
                         cudaStream_t stream)
{
    if (!IsByteSum(packetElements, workers))
    {
        return cudaErrorInvalidValue;
    }
    const EncodeBytes convert{exponents, GetByteShare(workers)};
    return ConvertAll<float4, char4>(values, count, packetElements, codes, convert, stream);
}

cudaError_t
DecodeBytesWithExponents(const int8_t* sums,
                         uint64_t count,
                         uint32_t packetElements,
                         uint32_t workers,
                         const int8_t* exponents,
                         float* values,
                         cudaStream_t stream)
{
    if (!IsByteSum(packetElements, workers))
    {
        return cudaErrorInvalidValue;
    }
    const DecodeBytes convert{exponents, 1.0F / GetByteShare(workers)};
    return ConvertAll<char4, float4>(sums, count, packetElements, values, convert, stream);
}

} // namespace ns3::gradsync::kernels
