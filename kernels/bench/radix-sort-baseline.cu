// SPDX-License-Identifier: GPL-2.0-only
#include "bench-kernels.h"

#include <cub/device/device_radix_sort.cuh>

namespace ns3::gradsync::bench
{

namespace
{

/// Without the sign: the order is that of the magnitudes.
constexpr int MAGNITUDE_BITS = 31;

/// \param bytes without a workspace set to what it must have
cudaError_t
Sort(void* workspace,
     size_t& bytes,
     const uint32_t* keys,
     uint32_t* sortedKeys,
     const uint32_t* indices,
     uint32_t* sortedIndices,
     uint64_t count,
     cudaStream_t stream)
{
    return cub::DeviceRadixSort::SortPairsDescending(workspace,
                                                     bytes,
                                                     keys,
                                                     sortedKeys,
                                                     indices,
                                                     sortedIndices,
                                                     count,
                                                     0,
                                                     MAGNITUDE_BITS,
                                                     stream);
}

} // namespace

size_t
GetSortWorkspaceBytes(uint64_t count)
{
    size_t bytes = 0;
    Check(Sort(nullptr, bytes, nullptr, nullptr, nullptr, nullptr, count, nullptr));
    return bytes;
}

cudaError_t
SortByMagnitude(const Buffers& buffers)
{
    size_t bytes = buffers.workspaceBytes;
    auto* const sorted = buffers.out.As<uint32_t>();
    return Sort(buffers.workspace.As<void>(),
                bytes,
                buffers.gradient.As<uint32_t>(),
                sorted,
                buffers.codes.As<uint32_t>(),
                sorted + buffers.count,
                buffers.count,
                buffers.stream);
}

} // namespace ns3::gradsync::bench
