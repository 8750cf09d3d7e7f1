// SPDX-License-Identifier: GPL-2.0-only
#include "fixed-size-codec.h"

#include "ns3/codec-spec.h"
#include "ns3/quantisers.h"

#include <stdexcept>

namespace ns3::gradsync::kernels
{

namespace
{

/// Message: the values.
class Fp32Codec : public FixedSizeCodec
{
  public:
    using FixedSizeCodec::FixedSizeCodec;

    cudaError_t Encode(const float* gradient,
                       void*,
                       void* message,
                       void*,
                       cudaStream_t stream) const override
    {
        return CopyFloats(gradient, GetElements(), At<float>(message), stream);
    }

    cudaError_t Decode(const void* message,
                       float* gradient,
                       void*,
                       cudaStream_t stream) const override
    {
        return CopyFloats(At<float>(message), GetElements(), gradient, stream);
    }
};

/// Message: the scales, then the codes.
class Int8Codec : public FixedSizeCodec
{
  public:
    using FixedSizeCodec::FixedSizeCodec;

    cudaError_t Encode(const float* gradient,
                       void*,
                       void* message,
                       void*,
                       cudaStream_t stream) const override
    {
        return EncodeInt8Blocks(gradient,
                                GetElements(),
                                m_spec.blockElements,
                                At<int8_t>(message, GetScaleBytes()),
                                At<float>(message),
                                stream);
    }

    cudaError_t Decode(const void* message,
                       float* gradient,
                       void*,
                       cudaStream_t stream) const override
    {
        return DecodeInt8Blocks(At<int8_t>(message, GetScaleBytes()),
                                At<float>(message),
                                GetElements(),
                                m_spec.blockElements,
                                gradient,
                                stream);
    }

  private:
    uint64_t GetScaleBytes() const
    {
        return 4 * CountBlocks(GetElements(), m_spec.blockElements);
    }
};

/// Message: 16 bits per element.
class HalfCodec : public FixedSizeCodec
{
  public:
    using FixedSizeCodec::FixedSizeCodec;

    cudaError_t Encode(const float* gradient,
                       void*,
                       void* message,
                       void*,
                       cudaStream_t stream) const override
    {
        auto* const codes = At<uint16_t>(message);
        return m_spec.kind == CodecKind::Fp16
                   ? EncodeHalf(gradient, GetElements(), codes, stream)
                   : EncodeBfloat(gradient, GetElements(), codes, stream);
    }

    cudaError_t Decode(const void* message,
                       float* gradient,
                       void*,
                       cudaStream_t stream) const override
    {
        const auto* const codes = At<uint16_t>(message);
        return m_spec.kind == CodecKind::Fp16
                   ? DecodeHalf(codes, GetElements(), gradient, stream)
                   : DecodeBfloat(codes, GetElements(), gradient, stream);
    }
};

/// Message: words of sixteen codes. State: the residual.
class TwoBitCodec : public FixedSizeCodec
{
  public:
    using FixedSizeCodec::FixedSizeCodec;

    size_t GetStateBytes() const override
    {
        return sizeof(float) * GetElements();
    }

    cudaError_t Encode(const float* gradient,
                       void* state,
                       void* message,
                       void*,
                       cudaStream_t stream) const override
    {
        return EncodeTwoBits(gradient,
                             At<float>(state),
                             GetElements(),
                             static_cast<float>(m_spec.threshold),
                             At<uint32_t>(message),
                             stream);
    }

    cudaError_t Decode(const void* message,
                       float* gradient,
                       void*,
                       cudaStream_t stream) const override
    {
        return DecodeTwoBits(At<uint32_t>(message),
                             GetElements(),
                             static_cast<float>(m_spec.threshold),
                             gradient,
                             stream);
    }
};

/// Message: int32 per element.
class FixedPointCodec : public FixedSizeCodec
{
  public:
    using FixedSizeCodec::FixedSizeCodec;

    cudaError_t Encode(const float* gradient,
                       void*,
                       void* message,
                       void*,
                       cudaStream_t stream) const override
    {
        return EncodeFixedPoints(gradient,
                                 GetElements(),
                                 static_cast<float>(m_spec.factor),
                                 At<int32_t>(message),
                                 stream);
    }

    cudaError_t Decode(const void* message,
                       float* gradient,
                       void*,
                       cudaStream_t stream) const override
    {
        return DecodeFixedPoints(At<int32_t>(message),
                                 GetElements(),
                                 static_cast<float>(m_spec.factor),
                                 gradient,
                                 stream);
    }
};

} // namespace

std::unique_ptr<DeviceCodec>
MakeDenseDeviceCodec(const CodecSpec& spec, uint64_t elements)
{
    switch (spec.kind)
    {
    case CodecKind::Int8:
        return std::make_unique<Int8Codec>(spec, elements);
    case CodecKind::Fp16:
    case CodecKind::Bf16:
        return std::make_unique<HalfCodec>(spec, elements);
    case CodecKind::TwoBit:
        return std::make_unique<TwoBitCodec>(spec, elements);
    case CodecKind::FixedPoint:
        return std::make_unique<FixedPointCodec>(spec, elements);
    case CodecKind::Fp32:
        return std::make_unique<Fp32Codec>(spec, elements);
    case CodecKind::Thc:
        return MakeThcDeviceCodec(spec, elements);
    case CodecKind::PowerSgd:
        return MakeLowRankDeviceCodec(spec, elements);
    case CodecKind::Qsgd:
    case CodecKind::TernGrad:
    case CodecKind::SignSgd:
        return MakeStochasticDeviceCodec(spec, elements);
    case CodecKind::TopK:
    case CodecKind::Sq8:
    case CodecKind::Dgc:
    case CodecKind::BiSparse:
    case CodecKind::BbTopK:
        break;
    }
    throw std::logic_error(GetCodecInfo(spec.kind).name + " is no dense codec");
}

} // namespace ns3::gradsync::kernels
