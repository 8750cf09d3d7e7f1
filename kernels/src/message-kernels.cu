// SPDX-License-Identifier: GPL-2.0-only
#include "launch.h"
#include "message-kernels.h"

#include "ns3/float-bits.h"

namespace ns3::gradsync::kernels
{

namespace
{

constexpr uint64_t ENTRY_BYTES = 8;      //!< an index and a value
constexpr uint64_t HALF_ENTRY_BYTES = 6; //!< whose value is binary16

__device__ inline void
Scatter(uint64_t index, float value, uint64_t elements, float* gradient)
{
    if (index < elements)
    {
        StoreContended(gradient + index, value);
    }
}

__global__ void
__launch_bounds__(THREADS) ScatterSparseKernel(const uint32_t* __restrict__ indices,
                                               const float* __restrict__ values,
                                               uint64_t count,
                                               uint64_t elements,
                                               float* __restrict__ gradient)
{
    const uint64_t i = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (i < count)
    {
        Scatter(indices[i], values[i], elements, gradient);
    }
}

__global__ void
__launch_bounds__(THREADS) CloseSparseMessageKernel(const float* __restrict__ values,
                                                    const uint32_t* __restrict__ found,
                                                    uint32_t* __restrict__ message,
                                                    uint64_t* __restrict__ bytes)
{
    const uint64_t i = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    const uint64_t count = *found;
    if (i < count)
    {
        message[count + i] = __float_as_uint(values[i]);
    }
    if (i == 0)
    {
        *bytes = ENTRY_BYTES * count;
    }
}

__global__ void
__launch_bounds__(THREADS) ScatterSparseMessageKernel(const uint32_t* __restrict__ message,
                                                      const uint64_t* __restrict__ bytes,
                                                      uint64_t capacity,
                                                      uint64_t elements,
                                                      float* __restrict__ gradient)
{
    const uint64_t i = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    const uint64_t said = *bytes / ENTRY_BYTES;
    const uint64_t count = said < capacity ? said : capacity;
    if (i < count)
    {
        Scatter(message[i], __uint_as_float(message[count + i]), elements, gradient);
    }
}

/// \param found null: as many as the capacity \param bytes may be null
__global__ void
__launch_bounds__(THREADS) CloseHalfMessageKernel(const float* __restrict__ values,
                                                  const uint32_t* __restrict__ found,
                                                  uint64_t capacity,
                                                  uint32_t* __restrict__ message,
                                                  uint64_t* __restrict__ bytes)
{
    const uint64_t i = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    const uint64_t count = found == nullptr ? capacity : *found;
    if (i < count)
    {
        reinterpret_cast<uint16_t*>(message + count)[i] = FloatToHalf(values[i]);
    }
    if (i == 0 && bytes != nullptr)
    {
        *bytes = HALF_ENTRY_BYTES * count;
    }
}

/// \param bytes null: those of the capacity
__global__ void
__launch_bounds__(THREADS) ScatterHalfMessageKernel(const uint32_t* __restrict__ message,
                                                    const uint64_t* __restrict__ bytes,
                                                    uint64_t capacity,
                                                    uint64_t elements,
                                                    float* __restrict__ gradient)
{
    const uint64_t i = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    const uint64_t said = bytes == nullptr ? capacity : *bytes / HALF_ENTRY_BYTES;
    const uint64_t count = said < capacity ? said : capacity;
    if (i < count)
    {
        const auto* const halves = reinterpret_cast<const uint16_t*>(message + count);
        Scatter(message[i], HalfToFloat(halves[i]), elements, gradient);
    }
}

cudaError_t
Clear(float* gradient, uint64_t elements, cudaStream_t stream)
{
    return elements > 0 ? cudaMemsetAsync(gradient, 0, elements * sizeof *gradient, stream)
                        : cudaSuccess;
}

} // namespace

cudaError_t
CopyFloats(const float* from, uint64_t count, float* to, cudaStream_t stream)
{
    return count > 0
               ? cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyDeviceToDevice, stream)
               : cudaSuccess;
}

cudaError_t
ScatterSparse(const uint32_t* indices,
              const float* values,
              uint64_t count,
              uint64_t elements,
              float* gradient,
              cudaStream_t stream)
{
    const auto error = Clear(gradient, elements, stream);
    if (error != cudaSuccess || count == 0)
    {
        return error;
    }
    Launch<ScatterSparseKernel>(CountThreadBlocks(count),
                                THREADS,
                                stream,
                                indices,
                                values,
                                count,
                                elements,
                                gradient);
    return cudaGetLastError();
}

cudaError_t
CloseSparseMessage(const float* values,
                   const uint32_t* found,
                   uint64_t capacity,
                   uint32_t* message,
                   uint64_t* bytes,
                   cudaStream_t stream)
{
    const uint32_t blocks = CountThreadBlocks(capacity + 1); // one at least writes `bytes`
    Launch<CloseSparseMessageKernel>(blocks, THREADS, stream, values, found, message, bytes);
    return cudaGetLastError();
}

cudaError_t
CloseHalfMessage(const float* values,
                 const uint32_t* found,
                 uint64_t capacity,
                 uint32_t* message,
                 uint64_t* bytes,
                 cudaStream_t stream)
{
    const uint32_t blocks = CountThreadBlocks(capacity + 1); // one at least writes `bytes`
    Launch<CloseHalfMessageKernel>(blocks,
                                   THREADS,
                                   stream,
                                   values,
                                   found,
                                   capacity,
                                   message,
                                   bytes);
    return cudaGetLastError();
}

cudaError_t
ScatterHalfMessage(const uint32_t* message,
                   const uint64_t* bytes,
                   uint64_t capacity,
                   uint64_t elements,
                   float* gradient,
                   cudaStream_t stream)
{
    const auto error = Clear(gradient, elements, stream);
    if (error != cudaSuccess || capacity == 0)
    {
        return error;
    }
    Launch<ScatterHalfMessageKernel>(CountThreadBlocks(capacity),
                                     THREADS,
                                     stream,
                                     message,
                                     bytes,
                                     capacity,
                                     elements,
                                     gradient);
    return cudaGetLastError();
}

cudaError_t
ScatterSparseMessage(const uint32_t* message,
                     const uint64_t* bytes,
                     uint64_t capacity,
                     uint64_t elements,
                     float* gradient,
                     cudaStream_t stream)
{
    const auto error = Clear(gradient, elements, stream);
    if (error != cudaSuccess || capacity == 0)
    {
        return error;
    }
    Launch<ScatterSparseMessageKernel>(CountThreadBlocks(capacity),
                                       THREADS,
                                       stream,
                                       message,
                                       bytes,
                                       capacity,
                                       elements,
                                       gradient);
    return cudaGetLastError();
}

} // namespace ns3::gradsync::kernels
