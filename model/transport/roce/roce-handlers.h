// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_HANDLERS_H
#define GRADSYNC_ROCE_HANDLERS_H

#include "ns3/message.h"
#include "ns3/prefetch.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * Numbers who is told of the messages to a destination, so that what waits names one in three bits.
 * These are few, the ranks of jobs at a host, and stay.
 */
class RoceHandlers
{
  public:
    static constexpr uint32_t MAX_COUNT = 8;    //!< of one destination: a line of the cache
    static constexpr uint32_t NONE = MAX_COUNT; //!< the number of what has none

    /// NONE when nobody has asked Provide for it. \param handler not null
    uint32_t Find(uint32_t dst, const MessageHandler* handler) const
    {
        return dst < m_rows.size() ? FindIn(m_rows[dst], handler) : NONE;
    }

    /// NONE when the destination has too many. \param handler not null
    uint32_t Provide(uint32_t dst, MessageHandler* handler)
    {
        const auto number = Find(dst, handler);
        return number == NONE ? Add(dst, handler) : number;
    }

    MessageHandler* Get(uint32_t dst, uint32_t number) const
    {
        return m_rows[dst].handlers[number];
    }

    /// Fetches what Get reads.
    void Prefetch(uint32_t dst) const
    {
        gradsync::Prefetch(&m_rows[dst]);
    }

  private:
    struct alignas(MAX_COUNT * sizeof(MessageHandler*)) Row
    {
        std::array<MessageHandler*, MAX_COUNT> handlers{}; //!< null behind the last one
    };

    static uint32_t FindIn(const Row& row, const MessageHandler* handler)
    {
        const auto found = std::ranges::find(row.handlers, handler);
        return static_cast<uint32_t>(found - row.handlers.begin());
    }

    uint32_t Add(uint32_t dst, MessageHandler* handler)
    {
        m_rows.resize(std::max<size_t>(m_rows.size(), size_t{dst} + 1));
        auto& row = m_rows[dst];
        const auto free = FindIn(row, nullptr);
        if (free != NONE)
        {
            row.handlers[free] = handler;
        }
        return free;
    }

    std::vector<Row> m_rows; //!< [destination]
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_HANDLERS_H
