// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_KERNELS_TOP_K_H
#define GRADSYNC_KERNELS_TOP_K_H

#include <cstdint>
#include <cuda_runtime_api.h>

/// A part of exact top-k that other kernels use.
namespace ns3::gradsync::kernels
{

/// What a selection is of, where only the device knows it.
struct TopKLimits
{
    uint32_t count;  //!< elements
    uint32_t wanted; //!< of them, at least 1 and at most all
};

/**
 * The key of the smallest magnitude that SelectTopK would select (MagnitudeKey).
 * \param most elements that there may be, at least 1
 * \param limits on the device
 * \param key where it goes, on the device
 * \param workspace of GetTopKWorkspaceBytes(most)
 */
cudaError_t FindTopKKey(const float* values,
                        uint64_t most,
                        const TopKLimits* limits,
                        uint32_t* key,
                        void* workspace,
                        cudaStream_t stream);

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_KERNELS_TOP_K_H
