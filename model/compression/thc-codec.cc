// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/sized-codec.h"
#include "ns3/thc.h"

#include <memory>

namespace ns3::gradsync
{

namespace
{

/// Message: the norms, then the codes; the norms are those of the worker itself. Signs are those of
/// the last gradient that was compressed.
class ThcCodec : public SizedCodec
{
  public:
    ThcCodec(const CodecSpec& spec, uint64_t elements)
        : SizedCodec(spec, elements),
          m_table(MakeThcTable(spec.granularity))
    {
    }

    uint64_t Compress(std::span<const float> gradient,
                      std::span<std::byte> message,
                      std::span<std::byte>) override
    {
        const uint64_t blocks = CountThcBlocks(GetElements());
        const auto norms = ViewNumbers<float>(message, 0, blocks);
        m_iteration = m_next++;
        FindThcNorms(gradient, norms);
        EncodeThc(gradient,
                  norms,
                  m_table,
                  {m_iteration, m_spec.seed},
                  ViewNumbers<uint8_t>(message, 4 * blocks, GetMaximumBytes() - 4 * blocks));
        return GetMaximumBytes();
    }

    void Decompress(std::span<const std::byte> message,
                    std::span<float> gradient,
                    std::span<std::byte>) const override
    {
        CheckMessageBytes(message, GetMaximumBytes());
        const uint64_t blocks = CountThcBlocks(GetElements());
        DecodeThc(ViewNumbers<uint8_t>(message, 4 * blocks, message.size() - 4 * blocks),
                  ViewNumbers<float>(message, 0, blocks),
                  m_table,
                  m_iteration,
                  gradient);
    }

  private:
    ThcTable m_table;
    uint64_t m_iteration{0};
    uint64_t m_next{0};
};

} // namespace

std::unique_ptr<GradientCodec>
MakeThcCodec(const CodecSpec& spec, uint64_t elements)
{
    return std::make_unique<ThcCodec>(spec, elements);
}

} // namespace ns3::gradsync
