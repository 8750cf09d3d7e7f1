// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TIMEOUT_QUEUE_H
#define GRADSYNC_TIMEOUT_QUEUE_H

#include "ns3/prefetch.h"
#include "ns3/roce-queue-pair.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * Queue pairs with an answer due, in the order in which they began to wait.
 *
 * Their indices stand in a ring, each knows its place, and whoever leaves leaves it empty: nobody
 * else is touched. In a list each would have two neighbours, which are in no cache where there are
 * many. The first place is always taken.
 */
class TimeoutQueue
{
  public:
    static constexpr uint32_t NONE = UINT32_MAX;

    bool IsEmpty() const
    {
        return m_begin == m_end;
    }

    /// Its index; NONE: there is none.
    uint32_t GetOldest() const
    {
        return IsEmpty() ? NONE : m_ring[m_begin & m_mask];
    }

    /// True when nobody has come after it, be it one that has left again.
    bool IsNewest(const RoceQueuePair& queuePair) const
    {
        return queuePair.isTimed && queuePair.timedPlace == m_end - 1;
    }

    /// One that is not in it. \param at gives the queue pair of an index
    template <typename AT>
    void Push(RoceQueuePair& queuePair, const AT& at)
    {
        if (m_end - m_begin == m_ring.size()) [[unlikely]]
        {
            MakeRoom(at);
        }
        queuePair.timedPlace = m_end;
        queuePair.isTimed = true;
        m_ring[m_end++ & m_mask] = queuePair.index;
    }

    /// One that is in it.
    void Remove(RoceQueuePair& queuePair)
    {
        queuePair.isTimed = false;
        m_ring[queuePair.timedPlace & m_mask] = NONE;
        if (queuePair.timedPlace == m_begin)
        {
            while (!IsEmpty() && m_ring[m_begin & m_mask] == NONE)
            {
                ++m_begin;
            }
        }
    }

    /// Fetches what Remove writes beside the queue pair.
    void PrefetchRemoval(const RoceQueuePair& queuePair) const
    {
        if (queuePair.isTimed)
        {
            Prefetch(&m_ring[queuePair.timedPlace & m_mask]);
        }
    }

    /// Calls with the index of each, the oldest first.
    template <typename VISIT>
    void ForEach(const VISIT& visit) const
    {
        for (auto place = m_begin; place != m_end; ++place)
        {
            if (const auto index = m_ring[place & m_mask]; index != NONE)
            {
                visit(index);
            }
        }
    }

  private:
    /// For one more: in a larger ring unless half of this one is empty.
    template <typename AT>
    void MakeRoom(const AT& at)
    {
        const auto left = static_cast<size_t>(std::ranges::count(m_ring, NONE));
        const auto size = std::max<size_t>(8, (left < m_ring.size() / 2 ? 2 : 1) * m_ring.size());
        std::vector<uint32_t> ring(size);
        uint32_t end = 0;
        ForEach([&](uint32_t index) {
            at(index).timedPlace = end;
            ring[end++] = index;
        });
        m_ring = std::move(ring);
        m_mask = static_cast<uint32_t>(size) - 1;
        m_begin = 0;
        m_end = end;
    }

    std::vector<uint32_t> m_ring; //!< as many as a power of two, or none
    uint32_t m_mask{0};
    uint32_t m_begin{0}; //!< places count on, and wrap
    uint32_t m_end{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TIMEOUT_QUEUE_H
