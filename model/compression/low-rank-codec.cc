// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/low-rank.h"
#include "ns3/sized-codec.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Message: Q, then P; of one worker alone, or of the sum of all gradients, which is the same to a
/// codec whose steps are linear. Q is kept for the next gradient.
class LowRankCodec : public SizedCodec
{
  public:
    LowRankCodec(const CodecSpec& spec, uint64_t elements)
        : SizedCodec(spec, elements),
          m_shape(GetLowRankShape(elements, spec.columns, spec.rank)),
          m_q(CountColumnFactors(m_shape), 0.0F)
    {
    }

    uint64_t Compress(std::span<const float> gradient,
                      std::span<std::byte> message,
                      std::span<std::byte>) override
    {
        const auto q = ViewNumbers<float>(message, 0, m_q.size());
        const auto p =
            ViewNumbers<float>(message, m_q.size() * sizeof(float), CountRowFactors(m_shape));
        RestartColumns(m_q, m_shape);
        ProjectRows(gradient, m_shape, m_q, p);
        Orthogonalise(p, m_shape);
        ProjectColumns(gradient, m_shape, p, q);
        std::ranges::copy(q, m_q.begin());
        return GetMaximumBytes();
    }

    void Decompress(std::span<const std::byte> message,
                    std::span<float> gradient,
                    std::span<std::byte>) const override
    {
        CheckMessageBytes(message, GetMaximumBytes());
        ExpandFactors(
            ViewNumbers<float>(message, m_q.size() * sizeof(float), CountRowFactors(m_shape)),
            ViewNumbers<float>(message, 0, m_q.size()),
            m_shape,
            gradient);
    }

  private:
    LowRankShape m_shape;
    std::vector<float> m_q;
};

} // namespace

std::unique_ptr<GradientCodec>
MakeLowRankCodec(const CodecSpec& spec, uint64_t elements)
{
    return std::make_unique<LowRankCodec>(spec, elements);
}

} // namespace ns3::gradsync
