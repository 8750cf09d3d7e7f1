// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_KERNELS_DEVICE_CODECS_H
#define GRADSYNC_KERNELS_DEVICE_CODECS_H

#include "ns3/codec-spec.h"

#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <memory>

namespace ns3::gradsync::kernels
{

/**
 * GradientCodec on a GPU: the codec of one tensor at one worker, whose messages are those of the
 * CPU byte for byte. An object allocates nothing on the device and knows no device: it says how
 * much memory it wants, and puts the kernels of compression-kernels.h on a stream, straight into
 * the message.
 *
 * All pointers are to device memory, aligned to 16 bytes, and what they point to does not overlap.
 * Nothing waits for the stream. Compressing counts iterations, so that an object belongs to one
 * stream of messages; its other functions change nothing.
 */
class DeviceCodec
{
  public:
    virtual ~DeviceCodec() = default;

    uint64_t GetElements() const
    {
        return m_elements;
    }

    /// Most bytes of a message.
    virtual uint64_t GetMaximumBytes() const = 0;

    /// Whether every message has so many, and `bytes` below are neither written nor read. If not,
    /// they must not be null.
    virtual bool IsSizeFixed() const = 0;

    /// Bytes that it keeps between iterations (residuals, momentum); they must be 0 before the
    /// first.
    virtual size_t GetStateBytes() const;

    /// Bytes of scratch memory that Compress and Decompress need; free for others in between.
    virtual size_t GetWorkspaceBytes() const;

    /**
     * \param gradient GetElements() long
     * \param message at least GetMaximumBytes() long; no byte beyond the message is written
     * \param bytes how many the message has, where that depends on the data
     */
    virtual cudaError_t Compress(const float* gradient,
                                 void* state,
                                 void* message,
                                 uint64_t* bytes,
                                 void* workspace,
                                 cudaStream_t stream) = 0;

    /**
     * Overwrites `gradient` with what a message says; elements that it does not name are 0, and
     * indices beyond the tensor are left out.
     * \param bytes how many the message has; not looked at where the size is fixed
     */
    virtual cudaError_t Decompress(const void* message,
                                   const uint64_t* bytes,
                                   float* gradient,
                                   void* workspace,
                                   cudaStream_t stream) const = 0;

  protected:
    explicit DeviceCodec(uint64_t elements);

  private:
    uint64_t m_elements;
};

/**
 * The codec of a tensor of that many elements (fewer than 2^32 - 4096).
 * \throws std::invalid_argument when the kernels do not have blocks of that size: of int8 and sq8
 * multiples of 4 up to 8192, of qsgd multiples of 4, of bbtopk 256, 512, 1024 and 2048
 */
std::unique_ptr<DeviceCodec> MakeDeviceCodec(const CodecSpec& spec, uint64_t elements);

/// As on the CPU: what a message lost is added to the next gradient.
std::unique_ptr<DeviceCodec> AddErrorFeedback(std::unique_ptr<DeviceCodec> codec);

/// As on the CPU: u = m u + g, and u is what is compressed. \param momentum m, in [0, 1)
std::unique_ptr<DeviceCodec> AddMomentum(std::unique_ptr<DeviceCodec> codec, float momentum);

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_KERNELS_DEVICE_CODECS_H
