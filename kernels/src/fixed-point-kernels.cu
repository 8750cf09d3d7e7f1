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
    const uint64_t packet = packetElements > 0 ? first / packetElements : 0;
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

    __device__ int32_t operator()(float value, uint64_t) const
    {
        return EncodeFixedPoint(value, factor);
    }
};

struct DecodeFixed
{
    float inverse;

    __device__ float operator()(int32_t code, uint64_t) const
    {
        return DecodeFixedPoint(code, inverse);
    }
};

struct EncodeScaled
{
    const int8_t* exponents;
    float factor;

    __device__ int32_t operator()(float value, uint64_t packet) const
    {
        return EncodeWithExponent(value, factor, exponents[packet]);
    }
};

struct DecodeScaled
{
    const int8_t* exponents;
    float factor;

    __device__ float operator()(int32_t sum, uint64_t packet) const
    {
        return DecodeWithExponent(sum, factor, exponents[packet]);
    }
};

/// A warp per packet.
__global__ void
__launch_bounds__(THREADS) FindExponentsKernel(const float* __restrict__ values,
                                               uint64_t count,
                                               uint32_t packetElements,
                                               int8_t* __restrict__ exponents)
{
    const uint64_t packet = (static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x) / WARP;
    const uint32_t lane = threadIdx.x % WARP;
    const uint64_t begin = packet * packetElements;
    if (begin >= count)
    {
        return;
    }
    const uint64_t end = begin + packetElements < count ? begin + packetElements : count;
    uint32_t key = 0;
    for (uint64_t first = begin + 4 * lane; first < end; first += 4 * WARP)
    {
        const float4 four = LoadFour<float4>(values, first, end, 0.0F);
        key = max(key, max(MagnitudeKey(four.x), MagnitudeKey(four.y)));
        key = max(key, max(MagnitudeKey(four.z), MagnitudeKey(four.w)));
    }
    key = __reduce_max_sync(ALL_LANES, key);
    if (lane == 0)
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
        Launch<FindExponentsKernel>(CountThreadBlocks(packets * WARP),
                                    THREADS,
                                    stream,
                                    values,
                                    count,
                                    packetElements,
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

} // namespace ns3::gradsync::kernels
