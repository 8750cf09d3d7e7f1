// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_KERNELS_FIXED_SIZE_CODEC_H
#define GRADSYNC_KERNELS_FIXED_SIZE_CODEC_H

#include "compression-kernels.h"
#include "device-codecs.h"
#include "message-kernels.h"

/// What the codecs of device-codecs.h have in common; for their implementation only.
namespace ns3::gradsync::kernels
{

/// Numbers at byte `offset` of a message or a workspace.
template <typename Number>
Number*
At(void* memory, uint64_t offset = 0)
{
    return reinterpret_cast<Number*>(static_cast<char*>(memory) + offset);
}

template <typename Number>
const Number*
At(const void* memory, uint64_t offset = 0)
{
    return reinterpret_cast<const Number*>(static_cast<const char*>(memory) + offset);
}

/// Codecs whose message has a size that depends on the number of elements alone.
class FixedSizeCodec : public DeviceCodec
{
  public:
    FixedSizeCodec(const CodecSpec& spec, uint64_t elements)
        : DeviceCodec(elements),
          m_spec(spec)
    {
    }

    uint64_t GetMaximumBytes() const override
    {
        return GetMessageBytes(m_spec, GetElements());
    }

    bool IsSizeFixed() const override
    {
        return true;
    }

    cudaError_t Compress(const float* gradient,
                         void* state,
                         void* message,
                         uint64_t*,
                         void* workspace,
                         cudaStream_t stream) override
    {
        return Encode(gradient, state, message, workspace, stream);
    }

    cudaError_t Decompress(const void* message,
                           const uint64_t*,
                           float* gradient,
                           void* workspace,
                           cudaStream_t stream) const override
    {
        return Decode(message, gradient, workspace, stream);
    }

  protected:
    virtual cudaError_t Encode(const float* gradient,
                               void* state,
                               void* message,
                               void* workspace,
                               cudaStream_t stream) const = 0;
    virtual cudaError_t Decode(const void* message,
                               float* gradient,
                               void* workspace,
                               cudaStream_t stream) const = 0;

    CodecSpec m_spec;
};

/// The codecs that send every element. \param spec of one of those kinds
std::unique_ptr<DeviceCodec> MakeDenseDeviceCodec(const CodecSpec& spec, uint64_t elements);
std::unique_ptr<DeviceCodec> MakeThcDeviceCodec(const CodecSpec& spec, uint64_t elements);
std::unique_ptr<DeviceCodec> MakeLowRankDeviceCodec(const CodecSpec& spec, uint64_t elements);

/// The codecs that draw random numbers. \param spec of one of those kinds
std::unique_ptr<DeviceCodec> MakeStochasticDeviceCodec(const CodecSpec& spec, uint64_t elements);

/// The codecs that send indices. \param spec of one of those kinds
std::unique_ptr<DeviceCodec> MakeSparseDeviceCodec(const CodecSpec& spec, uint64_t elements);
std::unique_ptr<DeviceCodec> MakeDgcDeviceCodec(const CodecSpec& spec, uint64_t elements);

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_KERNELS_FIXED_SIZE_CODEC_H
