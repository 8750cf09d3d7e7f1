// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BYTE_BATCH_H
#define GRADSYNC_BYTE_BATCH_H

#include "ns3/prefetch.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace ns3::gradsync
{

/// What one process hands to another one of the same program, in the layout of its memory.
using ByteBatch = std::vector<std::byte>;

/// Appends a plain value to a batch.
template <typename T>
void
AppendPlain(ByteBatch& batch, const T& value)
{
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    batch.insert(batch.end(), bytes, bytes + sizeof(T));
}

/// Appends the number of plain values, and the values.
template <typename T>
void
AppendList(ByteBatch& batch, std::span<const T> values)
{
    static_assert(std::is_trivially_copyable_v<T>);
    AppendPlain(batch, uint64_t{values.size()});
    const auto bytes = std::as_bytes(values);
    batch.insert(batch.end(), bytes.begin(), bytes.end());
}

/// Plain values in a batch, which need not be aligned there.
template <typename T>
class PlainView
{
  public:
    /// \param bytes of as many values as fit; they must outlive the view
    explicit PlainView(std::span<const std::byte> bytes)
        : m_bytes(bytes)
    {
    }

    size_t GetSize() const
    {
        return m_bytes.size() / sizeof(T);
    }

    /// For who looks at one after the other: fetches what comes a while after `index`, as what
    /// another process has written is far away.
    void PrefetchAfter(size_t index) const
    {
        constexpr size_t AHEAD = 40;
        if (index + AHEAD < GetSize())
        {
            Prefetch(m_bytes.data() + (index + AHEAD) * sizeof(T), sizeof(T));
        }
    }

    T operator[](size_t index) const
    {
        T value;
        std::memcpy(&value, m_bytes.data() + index * sizeof(T), sizeof(T));
        return value;
    }

  private:
    std::span<const std::byte> m_bytes;
};

/// Takes out of a batch what was appended to it, in the same order.
class BatchReader
{
  public:
    /// \param batch must outlive the reader
    explicit BatchReader(std::span<const std::byte> batch)
        : m_rest(batch)
    {
    }

    bool IsAtEnd() const
    {
        return m_rest.empty();
    }

    /// \throws std::runtime_error when the batch ends before
    template <typename T>
    T Take()
    {
        static_assert(std::is_trivially_copyable_v<T>);
        T value;
        std::memcpy(&value, TakeBytes(sizeof(T)), sizeof(T));
        return value;
    }

    /// As AppendList wrote it. \throws std::runtime_error when the batch ends before
    template <typename T>
    std::vector<T> TakeList()
    {
        const auto view = TakeView<T>();
        std::vector<T> values(view.GetSize());
        for (size_t i = 0; i < values.size(); ++i)
        {
            values[i] = view[i];
        }
        return values;
    }

    /// Likewise, where it lies. \throws std::runtime_error when the batch ends before
    template <typename T>
    PlainView<T> TakeView()
    {
        static_assert(std::is_trivially_copyable_v<T>);
        const auto count = Take<uint64_t>();
        if (count > m_rest.size() / sizeof(T))
        {
            ThrowShort();
        }
        const auto bytes = m_rest.first(count * sizeof(T));
        m_rest = m_rest.subspan(bytes.size());
        return PlainView<T>(bytes);
    }

  private:
    [[noreturn]] static void ThrowShort()
    {
        throw std::runtime_error("what another process sent is cut short");
    }

    const std::byte* TakeBytes(size_t count)
    {
        if (count > m_rest.size())
        {
            ThrowShort();
        }
        const auto* bytes = m_rest.data();
        m_rest = m_rest.subspan(count);
        return bytes;
    }

    std::span<const std::byte> m_rest;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_BYTE_BATCH_H
