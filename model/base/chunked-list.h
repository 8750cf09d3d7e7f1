// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CHUNKED_LIST_H
#define GRADSYNC_CHUNKED_LIST_H

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// Plain values in the order in which they came. None is ever moved as the list grows, and what it
/// has no values for is not touched: it may be long once and short ever after.
template <typename T>
class ChunkedList
{
  public:
    size_t GetSize() const
    {
        return m_size;
    }

    bool IsEmpty() const
    {
        return m_size == 0;
    }

    T& operator[](size_t index)
    {
        return m_chunks[index / CHUNK][index % CHUNK];
    }

    void Append(const T& value)
    {
        AppendUnset() = value;
    }

    /// \returns the new one, to be set
    T& AppendUnset()
    {
        if (m_size == m_chunks.size() * CHUNK)
        {
            m_chunks.push_back(std::unique_ptr<T[]>(new T[CHUNK]));
        }
        return (*this)[m_size++];
    }

    /// Calls visit(values) for all, a span of some after the other.
    template <typename Visit>
    void ForEachChunk(const Visit& visit) const
    {
        for (size_t first = 0; first < m_size; first += CHUNK)
        {
            visit(
                std::span<const T>(m_chunks[first / CHUNK].get(), std::min(CHUNK, m_size - first)));
        }
    }

    /// Keeps its memory.
    void Clear()
    {
        m_size = 0;
    }

    void Swap(ChunkedList& other)
    {
        m_chunks.swap(other.m_chunks);
        std::swap(m_size, other.m_size);
    }

  private:
    static_assert(std::is_trivially_copyable_v<T>);

    static constexpr size_t CHUNK = 1024;

    std::vector<std::unique_ptr<T[]>> m_chunks;
    size_t m_size{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_CHUNKED_LIST_H
