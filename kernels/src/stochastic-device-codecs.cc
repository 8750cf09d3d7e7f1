// SPDX-License-Identifier: GPL-2.0-only
#include "fixed-size-codec.h"
#include "stochastic-kernels.h"

#include "ns3/codec-spec.h"
#include "ns3/quantisers.h"

#include <stdexcept>

namespace ns3::gradsync::kernels
{

namespace
{

/// Each message draws numbers of its own.
class StochasticCodec : public FixedSizeCodec
{
  public:
    using FixedSizeCodec::FixedSizeCodec;

    cudaError_t Compress(const float* gradient,
                         void* state,
                         void* message,
                         uint64_t* bytes,
                         void* workspace,
                         cudaStream_t stream) override
    {
        const auto error =
            FixedSizeCodec::Compress(gradient, state, message, bytes, workspace, stream);
        ++m_messages;
        return error;
    }

  protected:
    RandomStream GetRandom() const
    {
        return {m_spec.seed, m_messages};
    }

  private:
    uint64_t m_messages{0};
};

/// Message: the norms, then the codes.
class QsgdCodec : public StochasticCodec
{
  public:
    using StochasticCodec::StochasticCodec;

    cudaError_t Encode(const float* gradient,
                       void*,
                       void* message,
                       void*,
                       cudaStream_t stream) const override
    {
        return EncodeQsgdBuckets(gradient,
                                 GetElements(),
                                 m_spec.blockElements,
                                 m_spec.levels,
                                 GetRandom(),
                                 At<uint8_t>(message, GetNormBytes()),
                                 At<float>(message),
                                 stream);
    }

    cudaError_t Decode(const void* message,
                       float* gradient,
                       void*,
                       cudaStream_t stream) const override
    {
        return DecodeQsgdBuckets(At<uint8_t>(message, GetNormBytes()),
                                 At<float>(message),
                                 GetElements(),
                                 m_spec.blockElements,
                                 m_spec.levels,
                                 gradient,
                                 stream);
    }

  private:
    uint64_t GetNormBytes() const
    {
        return 4 * CountBlocks(GetElements(), m_spec.blockElements);
    }
};

/// Message: the scaler, then words of sixteen codes. Workspace: sums of strips.
class TernGradCodec : public StochasticCodec
{
  public:
    using StochasticCodec::StochasticCodec;

    size_t GetWorkspaceBytes() const override
    {
        return GetTernaryWorkspaceBytes(GetElements());
    }

    cudaError_t Encode(const float* gradient,
                       void*,
                       void* message,
                       void* workspace,
                       cudaStream_t stream) const override
    {
        if (GetElements() == 0)
        {
            return cudaSuccess;
        }
        const auto error = FindTernaryScaler(gradient,
                                             GetElements(),
                                             m_spec.clipDeviations,
                                             At<float>(message),
                                             workspace,
                                             stream);
        return error != cudaSuccess ? error
                                    : EncodeTernaryWords(gradient,
                                                         GetElements(),
                                                         At<float>(message),
                                                         GetRandom(),
                                                         At<uint32_t>(message, 4),
                                                         stream);
    }

    cudaError_t Decode(const void* message,
                       float* gradient,
                       void*,
                       cudaStream_t stream) const override
    {
        return DecodeTernaryWords(At<uint32_t>(message, 4),
                                  At<float>(message),
                                  GetElements(),
                                  gradient,
                                  stream);
    }
};

/// Message: words of 32 signs.
class SignSgdCodec : public StochasticCodec
{
  public:
    using StochasticCodec::StochasticCodec;

    cudaError_t Encode(const float* gradient,
                       void*,
                       void* message,
                       void*,
                       cudaStream_t stream) const override
    {
        return EncodeSigns(gradient, GetElements(), GetRandom(), At<uint32_t>(message), stream);
    }

    cudaError_t Decode(const void* message,
                       float* gradient,
                       void*,
                       cudaStream_t stream) const override
    {
        return DecodeSigns(At<uint32_t>(message),
                           GetElements(),
                           static_cast<float>(m_spec.magnitude),
                           gradient,
                           stream);
    }
};

} // namespace

std::unique_ptr<DeviceCodec>
MakeStochasticDeviceCodec(const CodecSpec& spec, uint64_t elements)
{
    if (spec.kind == CodecKind::Qsgd)
    {
        return std::make_unique<QsgdCodec>(spec, elements);
    }
    if (spec.kind == CodecKind::TernGrad)
    {
        return std::make_unique<TernGradCodec>(spec, elements);
    }
    if (spec.kind == CodecKind::SignSgd)
    {
        return std::make_unique<SignSgdCodec>(spec, elements);
    }
    throw std::logic_error(GetCodecInfo(spec.kind).name + " draws no random numbers");
}

} // namespace ns3::gradsync::kernels
