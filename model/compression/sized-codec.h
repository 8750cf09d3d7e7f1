// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SIZED_CODEC_H
#define GRADSYNC_SIZED_CODEC_H

#include "ns3/gradient-codec.h"

#include <stdexcept>

/// What the codecs have in common; for their implementation only.
namespace ns3::gradsync
{

/// `count` numbers at byte `offset` of a message.
template <typename Number>
std::span<Number>
ViewNumbers(std::span<std::byte> message, uint64_t offset, uint64_t count)
{
    return {reinterpret_cast<Number*>(message.data() + offset), count};
}

template <typename Number>
std::span<const Number>
ViewNumbers(std::span<const std::byte> message, uint64_t offset, uint64_t count)
{
    return {reinterpret_cast<const Number*>(message.data() + offset), count};
}

/// \throws std::invalid_argument when a message has another size
inline void
CheckMessageBytes(std::span<const std::byte> message, uint64_t expected)
{
    if (message.size() != expected)
    {
        throw std::invalid_argument("the message does not have the bytes of its codec");
    }
}

/// Codecs whose message has a size that depends on the number of elements alone.
class SizedCodec : public GradientCodec
{
  public:
    SizedCodec(const CodecSpec& spec, uint64_t elements)
        : GradientCodec(elements),
          m_spec(spec)
    {
    }

    uint64_t GetMaximumBytes() const override
    {
        return GetMessageBytes(m_spec, GetElements());
    }

  protected:
    CodecSpec m_spec;
};

/// The codecs that send every element. \param spec of one of those kinds
std::unique_ptr<GradientCodec> MakeDenseCodec(const CodecSpec& spec, uint64_t elements);
std::unique_ptr<GradientCodec> MakeThcCodec(const CodecSpec& spec, uint64_t elements);
std::unique_ptr<GradientCodec> MakeLowRankCodec(const CodecSpec& spec, uint64_t elements);

/// The codecs that draw random numbers. \param spec of one of those kinds
std::unique_ptr<GradientCodec> MakeStochasticCodec(const CodecSpec& spec, uint64_t elements);

/// The codecs that send indices. \param spec of one of those kinds
std::unique_ptr<GradientCodec> MakeSparseCodec(const CodecSpec& spec, uint64_t elements);

} // namespace ns3::gradsync

#endif // GRADSYNC_SIZED_CODEC_H
