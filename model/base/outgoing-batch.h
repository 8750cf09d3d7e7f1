// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_OUTGOING_BATCH_H
#define GRADSYNC_OUTGOING_BATCH_H

#include "ns3/byte-batch.h"
#include "ns3/chunked-list.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// A batch before it leaves: bytes of its own and, among them, long lists that stay where they were
/// collected, so that they are copied once, to where the other process reads them.
class OutgoingBatch
{
  public:
    OutgoingBatch() = default;

    explicit OutgoingBatch(ByteBatch own)
        : m_own(std::move(own))
    {
    }

    /// To append to.
    ByteBatch& GetOwn()
    {
        return m_own;
    }

    /// Appends a list as AppendList does. \param values must stay as they are while the batch is
    /// not cleared
    template <typename T>
    void ReferTo(const ChunkedList<T>& values)
    {
        AppendPlain(m_own, uint64_t{values.GetSize()});
        values.ForEachChunk([this](std::span<const T> chunk) {
            m_lists.push_back({m_own.size(), std::as_bytes(chunk)});
            m_listBytes += chunk.size_bytes();
        });
    }

    size_t GetSize() const
    {
        return m_own.size() + m_listBytes;
    }

    /// \param place where there is room for GetSize() bytes
    void CopyTo(std::byte* place) const
    {
        size_t taken = 0; // of its own
        for (const auto& [end, bytes] : m_lists)
        {
            place = std::copy(m_own.data() + taken, m_own.data() + end, place);
            place = std::copy(bytes.begin(), bytes.end(), place);
            taken = end;
        }
        std::copy(m_own.data() + taken, m_own.data() + m_own.size(), place);
    }

    /// Keeps its memory.
    void Clear()
    {
        m_own.clear();
        m_lists.clear();
        m_listBytes = 0;
    }

  private:
    struct List
    {
        size_t place; //!< bytes of its own before it
        std::span<const std::byte> bytes;
    };

    ByteBatch m_own;
    std::vector<List> m_lists;
    size_t m_listBytes{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_OUTGOING_BATCH_H
