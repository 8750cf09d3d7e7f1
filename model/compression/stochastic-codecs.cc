// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/quantisers.h"
#include "ns3/sized-codec.h"
#include "ns3/stochastic-quantisers.h"

#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

/// Each message draws numbers of its own.
class StochasticCodec : public SizedCodec
{
  public:
    using SizedCodec::SizedCodec;

  protected:
    RandomStream TakeStream()
    {
        return {m_spec.seed, m_messages++};
    }

  private:
    uint64_t m_messages{0};
};

/// Message: the norms, then the codes.
class QsgdCodec : public StochasticCodec
{
  public:
    using StochasticCodec::StochasticCodec;

    uint64_t Compress(std::span<const float> gradient, Bytes message, Bytes) override
    {
        const uint64_t buckets = CountBlocks(GetElements(), m_spec.blockElements);
        EncodeQsgdBuckets(gradient,
                          m_spec.blockElements,
                          m_spec.levels,
                          TakeStream(),
                          ViewNumbers<uint8_t>(message, 4 * buckets, GetCodeBytes()),
                          ViewNumbers<float>(message, 0, buckets));
        return GetMaximumBytes();
    }

    void Decompress(ConstBytes message, std::span<float> gradient, Bytes) const override
    {
        CheckMessageBytes(message, GetMaximumBytes());
        const uint64_t buckets = CountBlocks(GetElements(), m_spec.blockElements);
        DecodeQsgdBuckets(ViewNumbers<uint8_t>(message, 4 * buckets, GetCodeBytes()),
                          ViewNumbers<float>(message, 0, buckets),
                          m_spec.blockElements,
                          m_spec.levels,
                          gradient);
    }

  private:
    uint64_t GetCodeBytes() const
    {
        return CountQsgdBytes(GetElements(), m_spec.levels);
    }
};

/// Message: the scaler, then words of sixteen codes.
class TernGradCodec : public StochasticCodec
{
  public:
    using StochasticCodec::StochasticCodec;

    uint64_t Compress(std::span<const float> gradient, Bytes message, Bytes) override
    {
        const auto stream = TakeStream();
        if (!gradient.empty())
        {
            auto& scaler = ViewNumbers<float>(message, 0, 1)[0];
            scaler = FindTernaryScaler(gradient, m_spec.clipDeviations);
            EncodeTernaryWords(gradient,
                               scaler,
                               stream,
                               ViewNumbers<uint32_t>(message, 4, GetMaximumBytes() / 4 - 1));
        }
        return GetMaximumBytes();
    }

    void Decompress(ConstBytes message, std::span<float> gradient, Bytes) const override
    {
        CheckMessageBytes(message, GetMaximumBytes());
        if (!gradient.empty())
        {
            DecodeTernaryWords(ViewNumbers<uint32_t>(message, 4, GetMaximumBytes() / 4 - 1),
                               ViewNumbers<float>(message, 0, 1)[0],
                               gradient);
        }
    }
};

/// Message: words of 32 signs.
class SignSgdCodec : public StochasticCodec
{
  public:
    using StochasticCodec::StochasticCodec;

    uint64_t Compress(std::span<const float> gradient, Bytes message, Bytes) override
    {
        EncodeSigns(gradient,
                    TakeStream(),
                    ViewNumbers<uint32_t>(message, 0, GetMaximumBytes() / 4));
        return GetMaximumBytes();
    }

    void Decompress(ConstBytes message, std::span<float> gradient, Bytes) const override
    {
        CheckMessageBytes(message, GetMaximumBytes());
        DecodeSigns(ViewNumbers<uint32_t>(message, 0, GetMaximumBytes() / 4),
                    static_cast<float>(m_spec.magnitude),
                    gradient);
    }
};

} // namespace

std::unique_ptr<GradientCodec>
MakeStochasticCodec(const CodecSpec& spec, uint64_t elements)
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

} // namespace ns3::gradsync
