// SPDX-License-Identifier: GPL-2.0-only
#include "fixed-size-codec.h"
#include "thc-kernels.h"

#include "ns3/thc.h"

namespace ns3::gradsync::kernels
{

namespace
{

/// Message: the norms, then the codes; the norms are those of the worker itself. Signs are those of
/// the last gradient that was compressed.
class ThcCodec : public FixedSizeCodec
{
  public:
    ThcCodec(const CodecSpec& spec, uint64_t elements)
        : FixedSizeCodec(spec, elements),
          m_table(MakeThcTable(spec.granularity))
    {
    }

    cudaError_t Compress(const float* gradient,
                         void* state,
                         void* message,
                         uint64_t* bytes,
                         void* workspace,
                         cudaStream_t stream) override
    {
        m_iteration = m_next++;
        return FixedSizeCodec::Compress(gradient, state, message, bytes, workspace, stream);
    }

  protected:
    cudaError_t Encode(const float* gradient,
                       void*,
                       void* message,
                       void*,
                       cudaStream_t stream) const override
    {
        auto* const norms = At<float>(message);
        const auto error = kernels::FindThcNorms(gradient, GetElements(), norms, stream);
        return error != cudaSuccess ? error
                                    : kernels::EncodeThc(gradient,
                                                         GetElements(),
                                                         norms,
                                                         m_table,
                                                         {m_iteration, m_spec.seed},
                                                         At<uint8_t>(message, GetNormBytes()),
                                                         stream);
    }

    cudaError_t Decode(const void* message,
                       float* gradient,
                       void*,
                       cudaStream_t stream) const override
    {
        return kernels::DecodeThc(At<uint8_t>(message, GetNormBytes()),
                                  At<float>(message),
                                  GetElements(),
                                  m_table,
                                  m_iteration,
                                  gradient,
                                  stream);
    }

  private:
    uint64_t GetNormBytes() const
    {
        return 4 * CountThcBlocks(GetElements());
    }

    ThcTable m_table;
    uint64_t m_iteration{0};
    uint64_t m_next{0};
};

} // namespace

std::unique_ptr<DeviceCodec>
MakeThcDeviceCodec(const CodecSpec& spec, uint64_t elements)
{
    return std::make_unique<ThcCodec>(spec, elements);
}

} // namespace ns3::gradsync::kernels
