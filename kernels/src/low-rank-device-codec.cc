// SPDX-License-Identifier: GPL-2.0-only
#include "fixed-size-codec.h"
#include "low-rank-kernels.h"

namespace ns3::gradsync::kernels
{

namespace
{

/// Message: Q, then P, so that Q is aligned. State: Q of the gradient before. Workspace: sums of
/// strips.
class LowRankCodec : public FixedSizeCodec
{
  public:
    LowRankCodec(const CodecSpec& spec, uint64_t elements)
        : FixedSizeCodec(spec, elements),
          m_shape(GetLowRankShape(elements, spec.columns, spec.rank))
    {
    }

    size_t GetStateBytes() const override
    {
        return GetColumnBytes();
    }

    size_t GetWorkspaceBytes() const override
    {
        return GetLowRankWorkspaceBytes(m_shape);
    }

  protected:
    cudaError_t Encode(const float* gradient,
                       void* state,
                       void* message,
                       void* workspace,
                       cudaStream_t stream) const override
    {
        auto* const known = At<float>(state);
        auto* const q = At<float>(message);
        auto* const p = At<float>(message, GetColumnBytes());
        auto error = kernels::RestartColumns(known, m_shape, stream);
        error = error != cudaSuccess
                    ? error
                    : kernels::ProjectRows(gradient, GetElements(), m_shape, known, p, stream);
        error = error != cudaSuccess ? error : kernels::Orthogonalise(p, m_shape, stream);
        error = error != cudaSuccess ? error
                                     : kernels::ProjectColumns(gradient,
                                                               GetElements(),
                                                               m_shape,
                                                               p,
                                                               q,
                                                               workspace,
                                                               stream);
        return error != cudaSuccess ? error
                                    : CopyFloats(q, CountColumnFactors(m_shape), known, stream);
    }

    cudaError_t Decode(const void* message,
                       float* gradient,
                       void*,
                       cudaStream_t stream) const override
    {
        return kernels::ExpandFactors(At<float>(message, GetColumnBytes()),
                                      At<float>(message),
                                      m_shape,
                                      GetElements(),
                                      gradient,
                                      stream);
    }

  private:
    uint64_t GetColumnBytes() const
    {
        return sizeof(float) * CountColumnFactors(m_shape);
    }

    LowRankShape m_shape;
};

} // namespace

std::unique_ptr<DeviceCodec>
MakeLowRankDeviceCodec(const CodecSpec& spec, uint64_t elements)
{
    return std::make_unique<LowRankCodec>(spec, elements);
}

} // namespace ns3::gradsync::kernels
