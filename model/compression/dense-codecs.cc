// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/quantisers.h"
#include "ns3/sized-codec.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

/// Message: the values.
class Fp32Codec : public SizedCodec
{
  public:
    using SizedCodec::SizedCodec;

    uint64_t Compress(std::span<const float> gradient, Bytes message, Bytes) override
    {
        std::copy(gradient.begin(),
                  gradient.end(),
                  ViewNumbers<float>(message, 0, GetElements()).begin());
        return GetMaximumBytes();
    }

    void Decompress(ConstBytes message, std::span<float> gradient, Bytes) const override
    {
        CheckMessageBytes(message, GetMaximumBytes());
        const auto values = ViewNumbers<float>(message, 0, GetElements());
        std::copy(values.begin(), values.end(), gradient.begin());
    }
};

/// Message: the scales, then the codes.
class Int8Codec : public SizedCodec
{
  public:
    using SizedCodec::SizedCodec;

    uint64_t Compress(std::span<const float> gradient, Bytes message, Bytes) override
    {
        const uint64_t blocks = CountBlocks(GetElements(), m_spec.blockElements);
        EncodeInt8Blocks(gradient,
                         m_spec.blockElements,
                         ViewNumbers<int8_t>(message, 4 * blocks, GetElements()),
                         ViewNumbers<float>(message, 0, blocks));
        return GetMaximumBytes();
    }

    void Decompress(ConstBytes message, std::span<float> gradient, Bytes) const override
    {
        CheckMessageBytes(message, GetMaximumBytes());
        const uint64_t blocks = CountBlocks(GetElements(), m_spec.blockElements);
        DecodeInt8Blocks(ViewNumbers<int8_t>(message, 4 * blocks, GetElements()),
                         ViewNumbers<float>(message, 0, blocks),
                         m_spec.blockElements,
                         gradient);
    }
};

/// Message: 16 bits per element.
class HalfCodec : public SizedCodec
{
  public:
    using SizedCodec::SizedCodec;

    uint64_t Compress(std::span<const float> gradient, Bytes message, Bytes) override
    {
        const auto codes = ViewNumbers<uint16_t>(message, 0, GetElements());
        m_spec.kind == CodecKind::Fp16 ? EncodeHalf(gradient, codes)
                                       : EncodeBfloat(gradient, codes);
        return GetMaximumBytes();
    }

    void Decompress(ConstBytes message, std::span<float> gradient, Bytes) const override
    {
        CheckMessageBytes(message, GetMaximumBytes());
        const auto codes = ViewNumbers<uint16_t>(message, 0, GetElements());
        m_spec.kind == CodecKind::Fp16 ? DecodeHalf(codes, gradient)
                                       : DecodeBfloat(codes, gradient);
    }
};

/// Message: words of sixteen codes.
class TwoBitCodec : public SizedCodec
{
  public:
    TwoBitCodec(const CodecSpec& spec, uint64_t elements)
        : SizedCodec(spec, elements),
          m_residual(elements, 0.0F)
    {
    }

    uint64_t Compress(std::span<const float> gradient, Bytes message, Bytes) override
    {
        EncodeTwoBits(gradient,
                      m_residual,
                      static_cast<float>(m_spec.threshold),
                      ViewNumbers<uint32_t>(message, 0, GetMaximumBytes() / 4));
        return GetMaximumBytes();
    }

    void Decompress(ConstBytes message, std::span<float> gradient, Bytes) const override
    {
        CheckMessageBytes(message, GetMaximumBytes());
        DecodeTwoBits(ViewNumbers<uint32_t>(message, 0, message.size() / 4),
                      static_cast<float>(m_spec.threshold),
                      gradient);
    }

  private:
    std::vector<float> m_residual;
};

/// Message: int32 per element.
class FixedPointCodec : public SizedCodec
{
  public:
    using SizedCodec::SizedCodec;

    uint64_t Compress(std::span<const float> gradient, Bytes message, Bytes) override
    {
        EncodeFixedPoints(gradient,
                          static_cast<float>(m_spec.factor),
                          ViewNumbers<int32_t>(message, 0, GetElements()));
        return GetMaximumBytes();
    }

    void Decompress(ConstBytes message, std::span<float> gradient, Bytes) const override
    {
        CheckMessageBytes(message, GetMaximumBytes());
        DecodeFixedPoints(ViewNumbers<int32_t>(message, 0, GetElements()),
                          static_cast<float>(m_spec.factor),
                          gradient);
    }
};

} // namespace

std::unique_ptr<GradientCodec>
MakeDenseCodec(const CodecSpec& spec, uint64_t elements)
{
    switch (spec.kind)
    {
    case CodecKind::Fp32:
        return std::make_unique<Fp32Codec>(spec, elements);
    case CodecKind::Int8:
        return std::make_unique<Int8Codec>(spec, elements);
    case CodecKind::Fp16:
    case CodecKind::Bf16:
        return std::make_unique<HalfCodec>(spec, elements);
    case CodecKind::TwoBit:
        return std::make_unique<TwoBitCodec>(spec, elements);
    case CodecKind::FixedPoint:
        return std::make_unique<FixedPointCodec>(spec, elements);
    case CodecKind::Thc:
        return MakeThcCodec(spec, elements);
    case CodecKind::PowerSgd:
        return MakeLowRankCodec(spec, elements);
    case CodecKind::Qsgd:
    case CodecKind::TernGrad:
    case CodecKind::SignSgd:
        return MakeStochasticCodec(spec, elements);
    case CodecKind::TopK:
    case CodecKind::Sq8:
    case CodecKind::Dgc:
    case CodecKind::BiSparse:
    case CodecKind::BbTopK:
        break;
    }
    throw std::logic_error(GetCodecInfo(spec.kind).name + " is no dense codec");
}

} // namespace ns3::gradsync
