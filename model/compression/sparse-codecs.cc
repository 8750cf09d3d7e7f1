// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/block-top-k.h"
#include "ns3/dgc-selector.h"
#include "ns3/quantisers.h"
#include "ns3/sized-codec.h"
#include "ns3/sparse-selection.h"
#include "ns3/sparsifier-arithmetic.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ns3::gradsync
{

namespace
{

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

/// Not std::memcpy, which must not be given the null pointers of empty spans.
void
CopyBytes(ConstBytes from, Bytes to)
{
    std::copy(from.begin(), from.end(), to.begin());
}

/// \throws std::invalid_argument when the index is out of range
void
SetElement(uint64_t index, float value, std::span<float> gradient)
{
    if (index >= gradient.size())
    {
        throw std::invalid_argument("an index of the message is beyond the tensor");
    }
    gradient[index] = value;
}

/// As SetElement.
void
Scatter(std::span<const uint32_t> indices, std::span<const float> values, std::span<float> gradient)
{
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    for (size_t i = 0; i < indices.size(); ++i)
    {
        SetElement(indices[i], values[i], gradient);
    }
}

/// Values at the end of a message: as they are, or as binary16.
class SparseValues
{
  public:
    explicit SparseValues(const CodecSpec& spec)
        : m_isHalf(spec.valueBits == 16)
    {
    }

    /// Of an entry, which is an index and a value.
    uint64_t GetEntryBytes() const
    {
        return m_isHalf ? 6 : 8;
    }

    /// Workspace for so many values, where messages have others.
    uint64_t GetWorkspaceBytes(uint64_t count) const
    {
        return m_isHalf ? CountBlocks(4 * count, 16) * 16 : 0;
    }

    /// Where the values of so many entries are to be selected to: the message, if it has them.
    std::span<float> GetRoom(uint64_t count, Bytes message, Bytes workspace) const
    {
        return m_isHalf ? ViewNumbers<float>(workspace, 0, count)
                        : ViewNumbers<float>(message, 4 * count, count);
    }

    /// Behind the indices. \param values as many as the message has entries
    void Write(std::span<const float> values, Bytes message) const
    {
        const uint64_t count = values.size();
        if (m_isHalf)
        {
            EncodeHalf(values, ViewNumbers<uint16_t>(message, 4 * count, count));
        }
        else if (std::as_bytes(values).data() != message.data() + 4 * count)
        {
            CopyBytes(std::as_bytes(values), message.subspan(4 * count));
        }
    }

    /// What the whole message says. \param workspace room for its values
    void Scatter(ConstBytes message, std::span<float> gradient, Bytes workspace) const
    {
        const uint64_t count = message.size() / GetEntryBytes();
        const auto indices = ViewNumbers<uint32_t>(message, 0, count);
        if (m_isHalf)
        {
            const auto values = ViewNumbers<float>(workspace, 0, count);
            DecodeHalf(ViewNumbers<uint16_t>(message, 4 * count, count), values);
            gradsync::Scatter(indices, values, gradient);
            return;
        }
        gradsync::Scatter(indices, ViewNumbers<float>(message, 4 * count, count), gradient);
    }

  private:
    bool m_isHalf;
};

/// Message: the indices, then the values.
class TopKCodec : public SizedCodec
{
  public:
    TopKCodec(const CodecSpec& spec, uint64_t elements)
        : SizedCodec(spec, elements),
          m_values(spec)
    {
    }

    uint64_t GetWorkspaceBytes() const override
    {
        return m_values.GetWorkspaceBytes(CountSelected(m_spec, GetElements()));
    }

    uint64_t Compress(std::span<const float> gradient, Bytes message, Bytes workspace) override
    {
        const uint64_t count = CountSelected(m_spec, GetElements());
        const auto values = m_values.GetRoom(count, message, workspace);
        SelectTopK(gradient, count, ViewNumbers<uint32_t>(message, 0, count), values);
        m_values.Write(values, message);
        return GetMaximumBytes();
    }

    void Decompress(ConstBytes message, std::span<float> gradient, Bytes workspace) const override
    {
        CheckMessageBytes(message, GetMaximumBytes());
        m_values.Scatter(message, gradient, workspace);
    }

  private:
    SparseValues m_values;
};

/// Message: the indices, then the scales, then the codes.
class Sq8Codec : public SizedCodec
{
  public:
    using SizedCodec::SizedCodec;

    uint64_t GetWorkspaceBytes() const override
    {
        return CountBlocks(4 * CountSelected(m_spec, GetElements()), 16) * 16;
    }

    uint64_t Compress(std::span<const float> gradient, Bytes message, Bytes workspace) override
    {
        const uint64_t count = CountSelected(m_spec, GetElements());
        const uint64_t blocks = CountBlocks(count, m_spec.blockElements);
        const auto values = ViewNumbers<float>(workspace, 0, count);
        SelectTopK(gradient, count, ViewNumbers<uint32_t>(message, 0, count), values);
        EncodeInt8Blocks(values,
                         m_spec.blockElements,
                         ViewNumbers<int8_t>(message, 4 * (count + blocks), count),
                         ViewNumbers<float>(message, 4 * count, blocks));
        return GetMaximumBytes();
    }

    void Decompress(ConstBytes message, std::span<float> gradient, Bytes workspace) const override
    {
        CheckMessageBytes(message, GetMaximumBytes());
        const uint64_t count = CountSelected(m_spec, GetElements());
        const uint64_t blocks = CountBlocks(count, m_spec.blockElements);
        const auto values = ViewNumbers<float>(workspace, 0, count);
        DecodeInt8Blocks(ViewNumbers<int8_t>(message, 4 * (count + blocks), count),
                         ViewNumbers<float>(message, 4 * count, blocks),
                         m_spec.blockElements,
                         values);
        Scatter(ViewNumbers<uint32_t>(message, 0, count), values, gradient);
    }
};

/// Message: the indices, then the values, as many as there are.
class DgcCodec : public GradientCodec
{
  public:
    DgcCodec(const CodecSpec& spec, uint64_t elements)
        : GradientCodec(elements),
          m_values(spec),
          m_selector(spec, elements)
    {
    }

    uint64_t GetMaximumBytes() const override
    {
        return m_values.GetEntryBytes() * m_selector.GetCapacity();
    }

    uint64_t GetWorkspaceBytes() const override
    {
        return CountBlocks(4 * m_selector.GetCapacity(), 16) * 16;
    }

    uint64_t Compress(std::span<const float> gradient, Bytes message, Bytes workspace) override
    {
        const uint64_t capacity = m_selector.GetCapacity();
        const auto values = ViewNumbers<float>(workspace, 0, capacity);
        const uint64_t count =
            m_selector.Select(gradient, ViewNumbers<uint32_t>(message, 0, capacity), values);
        m_values.Write(values.first(count), message);
        return m_values.GetEntryBytes() * count;
    }

    void Decompress(ConstBytes message, std::span<float> gradient, Bytes workspace) const override
    {
        const uint64_t entry = m_values.GetEntryBytes();
        const uint64_t whole = message.size() / entry * entry;
        CheckMessageBytes(message, std::min<uint64_t>(whole, GetMaximumBytes()));
        m_values.Scatter(message, gradient, workspace);
    }

  private:
    SparseValues m_values;
    DgcSelector m_selector;
};

/// Message: the values of all blocks, then the stream of their offsets.
class BbTopKCodec : public SizedCodec
{
  public:
    using SizedCodec::SizedCodec;

    /// Offsets, and their stream in whole words.
    uint64_t GetWorkspaceBytes() const override
    {
        return GetOffsetBytes() + 4 * GetWordCount();
    }

    uint64_t Compress(std::span<const float> gradient, Bytes message, Bytes workspace) override
    {
        const uint64_t count = GetCount();
        const auto offsets = ViewNumbers<uint16_t>(workspace, 0, count);
        const auto words = ViewNumbers<uint32_t>(workspace, GetOffsetBytes(), GetWordCount());
        SelectBlockTopK(gradient,
                        m_spec.blockElements,
                        GetPerBlock(),
                        offsets,
                        ViewNumbers<float>(message, 0, count));
        PackOffsets(offsets, GetIndexBits(m_spec.blockElements), words);
        CopyBytes(std::as_bytes(words).first(GetMaximumBytes() - 4 * count),
                  message.subspan(4 * count));
        return GetMaximumBytes();
    }

    void Decompress(ConstBytes message, std::span<float> gradient, Bytes workspace) const override
    {
        CheckMessageBytes(message, GetMaximumBytes());
        const uint64_t count = GetCount();
        const auto offsets = ViewNumbers<uint16_t>(workspace, 0, count);
        const auto words = ViewNumbers<uint32_t>(workspace, GetOffsetBytes(), GetWordCount());
        std::fill(words.begin(), words.end(), 0U);
        CopyBytes(message.subspan(4 * count), std::as_writable_bytes(words));
        UnpackOffsets(words, GetIndexBits(m_spec.blockElements), offsets);
        const auto values = ViewNumbers<float>(message, 0, count);
        std::fill(gradient.begin(), gradient.end(), 0.0F);
        for (uint64_t i = 0; i < count; ++i)
        {
            SetElement(i / GetPerBlock() * m_spec.blockElements + offsets[i], values[i], gradient);
        }
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

    uint64_t GetWordCount() const
    {
        return CountBlocks(GetCount() * GetIndexBits(m_spec.blockElements), 32);
    }

    uint64_t GetOffsetBytes() const
    {
        return CountBlocks(2 * GetCount(), 16) * 16;
    }
};

} // namespace

std::unique_ptr<GradientCodec>
MakeSparseCodec(const CodecSpec& spec, uint64_t elements)
{
    switch (spec.kind)
    {
    case CodecKind::TopK:
        return std::make_unique<TopKCodec>(spec, elements);
    case CodecKind::Sq8:
        return std::make_unique<Sq8Codec>(spec, elements);
    case CodecKind::BbTopK:
        return std::make_unique<BbTopKCodec>(spec, elements);
    case CodecKind::Dgc:
        return std::make_unique<DgcCodec>(spec, elements);
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

} // namespace ns3::gradsync
