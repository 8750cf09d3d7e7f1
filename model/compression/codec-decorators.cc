// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/gradient-codec.h"
#include "ns3/gradient-reductions.h"

#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Floats at the front of a workspace.
std::span<float>
TakeFloats(std::span<std::byte> workspace, uint64_t count)
{
    return {reinterpret_cast<float*>(workspace.data()), count};
}

/// Bytes of so many floats, rounded up to keep what follows aligned.
uint64_t
GetFloatBytes(uint64_t count)
{
    return (count * sizeof(float) + 15) / 16 * 16;
}

/// Passes everything on to another codec.
class CodecDecorator : public GradientCodec
{
  public:
    explicit CodecDecorator(std::unique_ptr<GradientCodec> codec)
        : GradientCodec(codec->GetElements()),
          m_codec(std::move(codec))
    {
    }

    uint64_t GetMaximumBytes() const override
    {
        return m_codec->GetMaximumBytes();
    }

    void Decompress(std::span<const std::byte> message,
                    std::span<float> gradient,
                    std::span<std::byte> workspace) const override
    {
        m_codec->Decompress(message, gradient, workspace);
    }

  protected:
    std::unique_ptr<GradientCodec> m_codec;
};

/// As AddErrorFeedback says.
class ErrorFeedback : public CodecDecorator
{
  public:
    explicit ErrorFeedback(std::unique_ptr<GradientCodec> codec)
        : CodecDecorator(std::move(codec)),
          m_residual(GetElements(), 0.0F)
    {
    }

    /// Holds what was received.
    uint64_t GetWorkspaceBytes() const override
    {
        return GetFloatBytes(GetElements()) + m_codec->GetWorkspaceBytes();
    }

    uint64_t Compress(std::span<const float> gradient,
                      std::span<std::byte> message,
                      std::span<std::byte> workspace) override
    {
        const auto received = TakeFloats(workspace, GetElements());
        const auto rest = workspace.subspan(GetFloatBytes(GetElements()));
        AddDense(gradient, m_residual);
        const uint64_t bytes = m_codec->Compress(m_residual, message, rest);
        m_codec->Decompress(message.first(bytes), received, rest);
        KeepResidual(received, m_residual);
        return bytes;
    }

  private:
    std::vector<float> m_residual;
};

/// As AddMomentum says.
class Momentum : public CodecDecorator
{
  public:
    Momentum(std::unique_ptr<GradientCodec> codec, float momentum)
        : CodecDecorator(std::move(codec)),
          m_momentum(momentum),
          m_velocity(GetElements(), 0.0F)
    {
    }

    uint64_t GetWorkspaceBytes() const override
    {
        return m_codec->GetWorkspaceBytes();
    }

    uint64_t Compress(std::span<const float> gradient,
                      std::span<std::byte> message,
                      std::span<std::byte> workspace) override
    {
        StepMomentum(gradient, m_momentum, m_velocity);
        return m_codec->Compress(m_velocity, message, workspace);
    }

  private:
    float m_momentum;
    std::vector<float> m_velocity;
};

} // namespace

std::unique_ptr<GradientCodec>
AddErrorFeedback(std::unique_ptr<GradientCodec> codec)
{
    return std::make_unique<ErrorFeedback>(std::move(codec));
}

std::unique_ptr<GradientCodec>
AddMomentum(std::unique_ptr<GradientCodec> codec, float momentum)
{
    return std::make_unique<Momentum>(std::move(codec), momentum);
}

} // namespace ns3::gradsync
