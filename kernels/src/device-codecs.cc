// SPDX-License-Identifier: GPL-2.0-only
#include "device-codecs.h"

#include "codec-decorators.h"
#include "fixed-size-codec.h"
#include "workspace-cutter.h"

#include <stdexcept>
#include <utility>

namespace ns3::gradsync::kernels
{

namespace
{

/// Passes everything on to another codec.
class CodecDecorator : public DeviceCodec
{
  public:
    explicit CodecDecorator(std::unique_ptr<DeviceCodec> codec)
        : DeviceCodec(codec->GetElements()),
          m_codec(std::move(codec))
    {
    }

    uint64_t GetMaximumBytes() const override
    {
        return m_codec->GetMaximumBytes();
    }

    bool IsSizeFixed() const override
    {
        return m_codec->IsSizeFixed();
    }

    /// The decorator's array, then the codec's state.
    size_t GetStateBytes() const override
    {
        return Cut(nullptr).offset + m_codec->GetStateBytes();
    }

    size_t GetWorkspaceBytes() const override
    {
        return m_codec->GetWorkspaceBytes();
    }

    cudaError_t Decompress(const void* message,
                           const uint64_t* bytes,
                           float* gradient,
                           void* workspace,
                           cudaStream_t stream) const override
    {
        return m_codec->Decompress(message, bytes, gradient, workspace, stream);
    }

  protected:
    /// An array of as many floats as the tensor has, and what comes behind it.
    struct Parts
    {
        float* array;
        void* rest;
        size_t offset; //!< of the rest
    };

    Parts Cut(void* memory) const
    {
        WorkspaceCutter cutter(memory);
        auto* const array = cutter.Take<float>(GetElements());
        return {array, cutter.Take<char>(0), cutter.GetBytes()};
    }

    std::unique_ptr<DeviceCodec> m_codec;
};

/// State: what is owed. Workspace: what was received.
class ErrorFeedback : public CodecDecorator
{
  public:
    using CodecDecorator::CodecDecorator;

    size_t GetWorkspaceBytes() const override
    {
        return Cut(nullptr).offset + m_codec->GetWorkspaceBytes();
    }

    cudaError_t Compress(const float* gradient,
                         void* state,
                         void* message,
                         uint64_t* bytes,
                         void* workspace,
                         cudaStream_t stream) override
    {
        const Parts owed = Cut(state);
        const Parts received = Cut(workspace);
        return CompressWithFeedback(
            gradient,
            GetElements(),
            owed.array,
            received.array,
            [&](const float* values) {
                return m_codec->Compress(values, owed.rest, message, bytes, received.rest, stream);
            },
            [&](float* to) {
                return m_codec->Decompress(message, bytes, to, received.rest, stream);
            },
            stream);
    }
};

/// State: u.
class Momentum : public CodecDecorator
{
  public:
    Momentum(std::unique_ptr<DeviceCodec> codec, float momentum)
        : CodecDecorator(std::move(codec)),
          m_momentum(momentum)
    {
    }

    cudaError_t Compress(const float* gradient,
                         void* state,
                         void* message,
                         uint64_t* bytes,
                         void* workspace,
                         cudaStream_t stream) override
    {
        const Parts velocity = Cut(state);
        return CompressWithMomentum(
            gradient,
            GetElements(),
            m_momentum,
            velocity.array,
            [&](const float* values) {
                return m_codec->Compress(values, velocity.rest, message, bytes, workspace, stream);
            },
            stream);
    }

  private:
    float m_momentum;
};

/// \throws std::invalid_argument when the kernels do not have such blocks
void
CheckBlocks(const CodecSpec& spec)
{
    const uint32_t block = spec.blockElements;
    const bool isScaled = spec.kind == CodecKind::Int8 || spec.kind == CodecKind::Sq8;
    if (isScaled && (block == 0 || block % 4 != 0 || block > 8192))
    {
        throw std::invalid_argument("int8 on a GPU has blocks of multiples of 4 up to 8192");
    }
    const bool isPower = block == 256 || block == 512 || block == 1024 || block == 2048;
    if (spec.kind == CodecKind::Qsgd && (block == 0 || block % 4 != 0))
    {
        throw std::invalid_argument("qsgd on a GPU has buckets of multiples of 4");
    }
    if (spec.kind == CodecKind::PowerSgd && spec.columns % 4 != 0)
    {
        throw std::invalid_argument("powersgd on a GPU has rows of multiples of 4");
    }
    if (spec.kind == CodecKind::BbTopK && !isPower)
    {
        throw std::invalid_argument("bbtopk on a GPU has blocks of 256, 512, 1024 or 2048");
    }
}

} // namespace

DeviceCodec::DeviceCodec(uint64_t elements)
    : m_elements(elements)
{
}

size_t
DeviceCodec::GetStateBytes() const
{
    return 0;
}

size_t
DeviceCodec::GetWorkspaceBytes() const
{
    return 0;
}

std::unique_ptr<DeviceCodec>
MakeDeviceCodec(const CodecSpec& spec, uint64_t elements)
{
    CodecSpec used = spec;
    used.kind = StaysDense(spec, elements)         ? CodecKind::Fp32
                : spec.kind == CodecKind::BiSparse ? CodecKind::Dgc
                                                   : spec.kind;
    CheckBlocks(used);
    return GetCodecInfo(used.kind).isSparse ? MakeSparseDeviceCodec(used, elements)
                                            : MakeDenseDeviceCodec(used, elements);
}

std::unique_ptr<DeviceCodec>
AddErrorFeedback(std::unique_ptr<DeviceCodec> codec)
{
    return std::make_unique<ErrorFeedback>(std::move(codec));
}

std::unique_ptr<DeviceCodec>
AddMomentum(std::unique_ptr<DeviceCodec> codec, float momentum)
{
    return std::make_unique<Momentum>(std::move(codec), momentum);
}

} // namespace ns3::gradsync::kernels
