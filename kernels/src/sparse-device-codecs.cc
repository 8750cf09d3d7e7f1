// SPDX-License-Identifier: GPL-2.0-only
#include "fixed-size-codec.h"
#include "workspace-cutter.h"

#include "ns3/block-top-k.h"
#include "ns3/codec-spec.h"
#include "ns3/quantisers.h"
#include "ns3/sparsifier-arithmetic.h"

#include <stdexcept>

namespace ns3::gradsync::kernels
{

namespace
{

/// Message: the indices, then the values.
class TopKCodec : public FixedSizeCodec
{
  public:
    using FixedSizeCodec::FixedSizeCodec;

    size_t GetWorkspaceBytes() const override
    {
        return GetTopKWorkspaceBytes(GetElements());
    }

    cudaError_t Encode(const float* gradient,
                       void*,
                       void* message,
                       void* workspace,
                       cudaStream_t stream) const override
    {
        const uint64_t count = CountSelected(m_spec, GetElements());
        return SelectTopK(gradient,
                          GetElements(),
                          count,
                          At<uint32_t>(message),
                          At<float>(message, 4 * count),
                          workspace,
                          stream);
    }

    cudaError_t Decode(const void* message,
                       float* gradient,
                       void*,
                       cudaStream_t stream) const override
    {
        const uint64_t count = CountSelected(m_spec, GetElements());
        return ScatterSparse(At<uint32_t>(message),
                             At<float>(message, 4 * count),
                             count,
                             GetElements(),
                             gradient,
                             stream);
    }
};

/// The same with values in binary16, which wait in the workspace for their rounding.
class TopKHalfCodec : public FixedSizeCodec
{
  public:
    using FixedSizeCodec::FixedSizeCodec;

    size_t GetWorkspaceBytes() const override
    {
        WorkspaceCutter cutter(nullptr);
        cutter.Take<float>(CountSelected(m_spec, GetElements()));
        cutter.Take<char>(GetTopKWorkspaceBytes(GetElements()));
        return cutter.GetBytes();
    }

    cudaError_t Encode(const float* gradient,
                       void*,
                       void* message,
                       void* workspace,
                       cudaStream_t stream) const override
    {
        const uint64_t count = CountSelected(m_spec, GetElements());
        WorkspaceCutter cutter(workspace);
        auto* const values = cutter.Take<float>(count);
        auto* const scratch = cutter.Take<char>(GetTopKWorkspaceBytes(GetElements()));
        auto* const indices = At<uint32_t>(message);
        const auto error =
            SelectTopK(gradient, GetElements(), count, indices, values, scratch, stream);
        return error == cudaSuccess && count > 0
                   ? CloseHalfMessage(values, nullptr, count, indices, nullptr, stream)
                   : error;
    }

    cudaError_t Decode(const void* message,
                       float* gradient,
                       void*,
                       cudaStream_t stream) const override
    {
        return ScatterHalfMessage(At<uint32_t>(message),
                                  nullptr,
                                  CountSelected(m_spec, GetElements()),
                                  GetElements(),
                                  gradient,
                                  stream);
    }
};

/// Message: the indices, then the scales, then the codes.
class Sq8Codec : public FixedSizeCodec
{
  public:
    using FixedSizeCodec::FixedSizeCodec;

    size_t GetWorkspaceBytes() const override
    {
        return Cut(nullptr).bytes;
    }

    cudaError_t Encode(const float* gradient,
                       void*,
                       void* message,
                       void* workspace,
                       cudaStream_t stream) const override
    {
        const Parts parts = Cut(workspace);
        if (const auto error = SelectTopK(gradient,
                                          GetElements(),
                                          parts.count,
                                          At<uint32_t>(message),
                                          parts.values,
                                          parts.scratch,
                                          stream);
            error != cudaSuccess)
        {
            return error;
        }
        return EncodeInt8Blocks(parts.values,
                                parts.count,
                                m_spec.blockElements,
                                At<int8_t>(message, parts.codesAt),
                                At<float>(message, 4 * parts.count),
                                stream);
    }

    cudaError_t Decode(const void* message,
                       float* gradient,
                       void* workspace,
                       cudaStream_t stream) const override
    {
        const Parts parts = Cut(workspace);
        if (const auto error = DecodeInt8Blocks(At<int8_t>(message, parts.codesAt),
                                                At<float>(message, 4 * parts.count),
                                                parts.count,
                                                m_spec.blockElements,
                                                parts.values,
                                                stream);
            error != cudaSuccess)
        {
            return error;
        }
        return ScatterSparse(At<uint32_t>(message),
                             parts.values,
                             parts.count,
                             GetElements(),
                             gradient,
                             stream);
    }

  private:
    /// Of the workspace, and where codes are in a message.
    struct Parts
    {
        uint64_t count;
        uint64_t codesAt;
        float* values;
        void* scratch; //!< of the selection
        size_t bytes;
    };

    Parts Cut(void* workspace) const
    {
        Parts parts{};
        parts.count = CountSelected(m_spec, GetElements());
        parts.codesAt = 4 * (parts.count + CountBlocks(parts.count, m_spec.blockElements));
        WorkspaceCutter cutter(workspace);
        parts.values = cutter.Take<float>(parts.count);
        parts.scratch = cutter.Take<char>(GetTopKWorkspaceBytes(GetElements()));
        parts.bytes = cutter.GetBytes();
        return parts;
    }
};

/// Message: the values of all blocks, then the stream of their offsets.
class BbTopKCodec : public FixedSizeCodec
{
  public:
    using FixedSizeCodec::FixedSizeCodec;

    size_t GetWorkspaceBytes() const override
    {
        return sizeof(uint16_t) * GetCount();
    }

    cudaError_t Encode(const float* gradient,
                       void*,
                       void* message,
                       void* workspace,
                       cudaStream_t stream) const override
    {
        const uint64_t count = GetCount();
        auto* const offsets = At<uint16_t>(workspace);
        if (const auto error = SelectBlockTopK(gradient,
                                               GetElements(),
                                               m_spec.blockElements,
                                               GetPerBlock(),
                                               offsets,
                                               At<float>(message),
                                               stream);
            error != cudaSuccess)
        {
            return error;
        }
        return PackOffsetBytes(offsets,
                               count,
                               GetIndexBits(m_spec.blockElements),
                               At<char>(message, 4 * count),
                               stream);
    }

    cudaError_t Decode(const void* message,
                       float* gradient,
                       void*,
                       cudaStream_t stream) const override
    {
        return ScatterBlockTopK(At<uint32_t>(message, 4 * GetCount()),
                                At<float>(message),
                                GetElements(),
                                m_spec.blockElements,
                                GetPerBlock(),
                                gradient,
                                stream);
    }

  private:
    uint32_t GetPerBlock() const
    {
        return static_cast<uint32_t>(CountSelected(m_spec, m_spec.blockElements));
    }

    uint64_t GetCount() const
    {
        return CountBlockTopK(GetElements(), m_spec.blockElements, GetPerBlock());
    }
};

} // namespace

std::unique_ptr<DeviceCodec>
MakeSparseDeviceCodec(const CodecSpec& spec, uint64_t elements)
{
    switch (spec.kind)
    {
    case CodecKind::TopK:
        if (spec.valueBits == 16)
        {
            return std::make_unique<TopKHalfCodec>(spec, elements);
        }
        return std::make_unique<TopKCodec>(spec, elements);
    case CodecKind::Sq8:
        return std::make_unique<Sq8Codec>(spec, elements);
    case CodecKind::BbTopK:
        return std::make_unique<BbTopKCodec>(spec, elements);
    case CodecKind::Dgc:
        return MakeDgcDeviceCodec(spec, elements);
    case CodecKind::Fp32:
    case CodecKind::Int8:
    case CodecKind::Fp16:
    case CodecKind::Bf16:
    case CodecKind::TwoBit:
    case CodecKind::FixedPoint:
    case CodecKind::Qsgd:
    case CodecKind::TernGrad:
    case CodecKind::SignSgd:
    case CodecKind::BiSparse:
    case CodecKind::Thc:
    case CodecKind::PowerSgd:
        break;
    }
    throw std::logic_error(GetCodecInfo(spec.kind).name + " is no sparse codec");
}

} // namespace ns3::gradsync::kernels
