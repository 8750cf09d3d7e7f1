// SPDX-License-Identifier: GPL-2.0-only
// PowerSGD's kernels without a GPU, as those of cpu-kernels.cc.
#include "low-rank-kernels.h"

#include "ns3/low-rank.h"

namespace ns3::gradsync::kernels
{

cudaError_t
RestartColumns(float* q, const LowRankShape& shape, cudaStream_t)
{
    gradsync::RestartColumns({q, CountColumnFactors(shape)}, shape);
    return cudaSuccess;
}

cudaError_t
ProjectRows(const float* values,
            uint64_t count,
            const LowRankShape& shape,
            const float* q,
            float* p,
            cudaStream_t)
{
    gradsync::ProjectRows({values, count},
                          shape,
                          {q, CountColumnFactors(shape)},
                          {p, CountRowFactors(shape)});
    return cudaSuccess;
}

cudaError_t
Orthogonalise(float* p, const LowRankShape& shape, cudaStream_t)
{
    gradsync::Orthogonalise({p, CountRowFactors(shape)}, shape);
    return cudaSuccess;
}

size_t
GetLowRankWorkspaceBytes(const LowRankShape&)
{
    return 0;
}

cudaError_t
ProjectColumns(const float* values,
               uint64_t count,
               const LowRankShape& shape,
               const float* p,
               float* q,
               void*,
               cudaStream_t)
{
    gradsync::ProjectColumns({values, count},
                             shape,
                             {p, CountRowFactors(shape)},
                             {q, CountColumnFactors(shape)});
    return cudaSuccess;
}

cudaError_t
ExpandFactors(const float* p,
              const float* q,
              const LowRankShape& shape,
              uint64_t count,
              float* values,
              cudaStream_t)
{
    gradsync::ExpandFactors({p, CountRowFactors(shape)},
                            {q, CountColumnFactors(shape)},
                            shape,
                            {values, count});
    return cudaSuccess;
}

} // namespace ns3::gradsync::kernels
