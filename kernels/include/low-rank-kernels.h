// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_LOW_RANK_KERNELS_H
#define GRADSYNC_LOW_RANK_KERNELS_H

#include "ns3/low-rank.h"

#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>

/// PowerSGD on a GPU, by the rules of compression-kernels.h: results are those of the CPU functions
/// of the same name (low-rank.h), bit for bit. Matrices have columns in multiples of 4 and at least
/// one row; values and Q are aligned to 16.
namespace ns3::gradsync::kernels
{

cudaError_t RestartColumns(float* q, const LowRankShape& shape, cudaStream_t stream);

/// \param count of the values
cudaError_t ProjectRows(const float* values,
                        uint64_t count,
                        const LowRankShape& shape,
                        const float* q,
                        float* p,
                        cudaStream_t stream);

cudaError_t Orthogonalise(float* p, const LowRankShape& shape, cudaStream_t stream);

/// Of ProjectColumns: sums of strips.
size_t GetLowRankWorkspaceBytes(const LowRankShape& shape);

cudaError_t ProjectColumns(const float* values,
                           uint64_t count,
                           const LowRankShape& shape,
                           const float* p,
                           float* q,
                           void* workspace,
                           cudaStream_t stream);

cudaError_t ExpandFactors(const float* p,
                          const float* q,
                          const LowRankShape& shape,
                          uint64_t count,
                          float* values,
                          cudaStream_t stream);

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_LOW_RANK_KERNELS_H
