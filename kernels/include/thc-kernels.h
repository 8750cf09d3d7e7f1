// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_THC_KERNELS_H
#define GRADSYNC_THC_KERNELS_H

#include "ns3/thc-arithmetic.h"

#include <cstdint>
#include <cuda_runtime_api.h>

/// THC on a GPU, by the rules of compression-kernels.h: results are those of the CPU functions of
/// the same name (thc.h), bit for bit. Norms, codes and sums are aligned to 4.
namespace ns3::gradsync::kernels
{

/// \param norms one per block of THC_BLOCK elements
cudaError_t FindThcNorms(const float* values, uint64_t count, float* norms, cudaStream_t stream);

/// \param norms of each block, the largest of all workers
cudaError_t EncodeThc(const float* values,
                      uint64_t count,
                      const float* norms,
                      const ThcTable& table,
                      const ThcDraw& draw,
                      uint8_t* codes,
                      cudaStream_t stream);

cudaError_t DecodeThc(const uint8_t* codes,
                      const float* norms,
                      uint64_t count,
                      const ThcTable& table,
                      uint64_t iteration,
                      float* values,
                      cudaStream_t stream);

/// \param coordinates of the codes, and bytes of the sums
cudaError_t AddThc(const uint8_t* codes,
                   uint64_t coordinates,
                   const ThcTable& table,
                   uint8_t* sums,
                   cudaStream_t stream);

cudaError_t DecodeThcSums(const uint8_t* sums,
                          const float* norms,
                          uint64_t count,
                          uint32_t granularity,
                          uint32_t workers,
                          uint64_t iteration,
                          float* values,
                          cudaStream_t stream);

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_THC_KERNELS_H
