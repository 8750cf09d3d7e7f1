// SPDX-License-Identifier: GPL-2.0-only
#include "fill-tiles.h"
#include "message-kernels.h"

#include "ns3/float-bits.h"

namespace ns3::gradsync::kernels
{

namespace
{

constexpr uint64_t ENTRY_BYTES = 8;      //!< an index and a value
constexpr uint64_t HALF_ENTRY_BYTES = 6; //!< whose value is binary16

__device__ inline float
ToFloat(float value)
{
    return value;
}

__device__ inline float
ToFloat(uint16_t half)
{
    return HalfToFloat(half);
}

/// Ascending indices, and values, which the kernel finds behind them where it is not told.
template <typename Value>
struct SparseMessage
{
    const uint32_t* indices;
    const Value* values;   //!< null: behind as many indices as there are
    const uint64_t* bytes; //!< of the message; null: those of the capacity
    uint64_t capacity;     //!< in entries

    __device__ uint64_t CountEntries() const
    {
        constexpr uint64_t ENTRY = sizeof *indices + sizeof *values;
        return bytes == nullptr ? capacity : min(*bytes / ENTRY, capacity);
    }

    __device__ void FindRange(uint64_t begin, EntryRange& range) const
    {
        const uint32_t warp = threadIdx.x / WARP;
        if (warp < 2)
        {
            const uint64_t found =
                FindFirstFrom(indices, CountEntries(), begin + warp * FILL_ELEMENTS);
            if (threadIdx.x % WARP == 0)
            {
                (warp == 0 ? range.first : range.last) = found;
            }
        }
    }

    __device__ uint64_t GetIndex(uint64_t entry) const
    {
        return indices[entry];
    }

    __device__ float GetValue(uint64_t entry) const
    {
        const auto* const behind = reinterpret_cast<const Value*>(indices + CountEntries());
        return ToFloat(values != nullptr ? values[entry] : behind[entry]);
    }
};

// Named, as machine code and counts of launches are found by name.
struct FloatMessage : SparseMessage<float>
{
};

struct HalfMessage : SparseMessage<uint16_t>
{
};

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
    const FloatMessage message{{indices, values, nullptr, count}};
    return FillTiles(message, elements, gradient, stream);
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
    const HalfMessage entries{{message, nullptr, bytes, capacity}};
    return FillTiles(entries, elements, gradient, stream);
}

cudaError_t
ScatterSparseMessage(const uint32_t* message,
                     const uint64_t* bytes,
                     uint64_t capacity,
                     uint64_t elements,
                     float* gradient,
                     cudaStream_t stream)
{
    const FloatMessage entries{{message, nullptr, bytes, capacity}};
    return FillTiles(entries, elements, gradient, stream);
}

} // namespace ns3::gradsync::kernels
