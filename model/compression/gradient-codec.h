// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GRADIENT_CODEC_H
#define GRADSYNC_GRADIENT_CODEC_H

#include "ns3/codec-spec.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ns3::gradsync
{

/**
 * Compresses the gradient of one tensor at one worker, iteration by iteration. An object holds what
 * its codec keeps between iterations (residuals, momentum), so each tensor has its own.
 *
 * A message has no header: both ends know the codec and the number of elements.
 */
class GradientCodec
{
  public:
    virtual ~GradientCodec() = default;

    uint64_t GetElements() const
    {
        return m_elements;
    }

    /// Most bytes of a message.
    virtual uint64_t GetMaximumBytes() const = 0;

    /// Bytes of scratch memory that Compress and Decompress need, aligned to 16.
    virtual uint64_t GetWorkspaceBytes() const;

    /**
     * \param gradient GetElements() long
     * \param message at least GetMaximumBytes() long, aligned to 4
     * \param workspace at least GetWorkspaceBytes() long
     * \returns bytes written
     */
    virtual uint64_t Compress(std::span<const float> gradient,
                              std::span<std::byte> message,
                              std::span<std::byte> workspace) = 0;

    /**
     * Overwrites `gradient` with what a message says; elements that it does not name are 0.
     * \param message exactly the bytes that Compress wrote, aligned to 4
     * \throws std::invalid_argument when their number cannot be
     */
    virtual void Decompress(std::span<const std::byte> message,
                            std::span<float> gradient,
                            std::span<std::byte> workspace) const = 0;

  protected:
    explicit GradientCodec(uint64_t elements);

  private:
    uint64_t m_elements;
};

/// The codec of a tensor of that many elements (fewer than 2^32).
std::unique_ptr<GradientCodec> MakeCodec(const CodecSpec& spec, uint64_t elements);

/**
 * Error feedback around any codec (Seide et al., Interspeech'14; Karimireddy et al., ICML'19): what
 * a message lost is added to the next gradient. What is not finite is lost for good.
 */
std::unique_ptr<GradientCodec> AddErrorFeedback(std::unique_ptr<GradientCodec> codec);

/**
 * Local momentum before any codec: u = m u + g, and u is what is compressed.
 * \param momentum m, in [0, 1)
 */
std::unique_ptr<GradientCodec> AddMomentum(std::unique_ptr<GradientCodec> codec, float momentum);

} // namespace ns3::gradsync

#endif // GRADSYNC_GRADIENT_CODEC_H
