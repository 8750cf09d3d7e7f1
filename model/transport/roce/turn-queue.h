// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TURN_QUEUE_H
#define GRADSYNC_TURN_QUEUE_H

#include "ns3/prefetch.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * Who waits for a turn, by numbers, first come, first served.
 *
 * The first few stand in the queue itself, which its owner has in the cache; the others in a ring
 * that has left it by their turn where there are many queues. It takes no memory until it is
 * needed.
 */
class TurnQueue
{
  public:
    bool IsEmpty() const
    {
        return m_headSize == 0;
    }

    size_t GetSize() const
    {
        return m_headSize + m_size;
    }

    /// \param place 0: the next one; below GetSize
    uint32_t Get(size_t place) const
    {
        return place < m_headSize ? m_head[m_headFirst + place] : m_ring[Find(place - m_headSize)];
    }

    void Push(uint32_t number)
    {
        if (m_size == 0 && m_headFirst + m_headSize < HEAD)
        {
            m_head[m_headFirst + m_headSize++] = number;
            return;
        }
        if (m_size == m_ring.size())
        {
            Grow();
        }
        m_ring[Find(m_size++)] = number;
    }

    /// The next one, which waits no longer.
    uint32_t Pop()
    {
        const auto number = m_head[m_headFirst++];
        if (--m_headSize < LOW)
        {
            Refill();
        }
        return number;
    }

    /// Fetches what the next Pop reads of the ring.
    void PrefetchPop() const
    {
        if (m_headSize == LOW && m_size > 0)
        {
            Prefetch(&m_ring[m_first]);
        }
    }

    /// One that waits does so no longer. Linear.
    void Remove(uint32_t number)
    {
        size_t place = 0;
        while (Get(place) != number)
        {
            ++place;
        }
        for (const auto last = GetSize() - 1; place < last; ++place)
        {
            At(place) = Get(place + 1);
        }
        if (m_size > 0)
        {
            --m_size;
        }
        else
        {
            --m_headSize;
        }
    }

  private:
    static constexpr uint32_t HEAD = 8; //!< that stand in the queue itself, at most
    static constexpr uint32_t LOW = 2;  //!< likewise at least, if there are so many

    size_t Find(size_t place) const
    {
        return (m_first + place) & (m_ring.size() - 1);
    }

    uint32_t& At(size_t place)
    {
        return place < m_headSize ? m_head[m_headFirst + place] : m_ring[Find(place - m_headSize)];
    }

    void Refill()
    {
        std::copy_n(m_head.begin() + m_headFirst, m_headSize, m_head.begin());
        m_headFirst = 0;
        for (; m_size > 0 && m_headSize < HEAD; --m_size)
        {
            m_head[m_headSize++] = m_ring[m_first];
            m_first = Find(1);
        }
    }

    void Grow()
    {
        std::vector<uint32_t> ring(std::max<size_t>(8, 2 * m_ring.size()));
        for (size_t place = 0; place < m_size; ++place)
        {
            ring[place] = m_ring[Find(place)];
        }
        m_ring = std::move(ring);
        m_first = 0;
    }

    std::array<uint32_t, HEAD> m_head{};
    uint32_t m_headFirst{0};
    uint32_t m_headSize{0};
    std::vector<uint32_t> m_ring; //!< those after it: as many as a power of two, or none
    size_t m_first{0};
    size_t m_size{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TURN_QUEUE_H
