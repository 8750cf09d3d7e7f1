// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TURN_QUEUE_H
#define GRADSYNC_TURN_QUEUE_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// Who waits for a turn, by numbers, first come, first served. Takes no memory until somebody does.
class TurnQueue
{
  public:
    bool IsEmpty() const
    {
        return m_size == 0;
    }

    size_t GetSize() const
    {
        return m_size;
    }

    /// \param place 0: the next one; below GetSize
    uint32_t Get(size_t place) const
    {
        return m_ring[Find(place)];
    }

    void Push(uint32_t number)
    {
        if (m_size == m_ring.size())
        {
            Grow();
        }
        m_ring[Find(m_size++)] = number;
    }

    /// The next one, which waits no longer.
    uint32_t Pop()
    {
        const auto number = m_ring[m_first];
        m_first = Find(1);
        --m_size;
        return number;
    }

    /// One that waits does so no longer. Linear.
    void Remove(uint32_t number)
    {
        size_t place = 0;
        while (Get(place) != number)
        {
            ++place;
        }
        for (--m_size; place < m_size; ++place)
        {
            m_ring[Find(place)] = Get(place + 1);
        }
    }

  private:
    size_t Find(size_t place) const
    {
        return (m_first + place) & (m_ring.size() - 1);
    }

    void Grow()
    {
        std::vector<uint32_t> ring(std::max<size_t>(8, 2 * m_ring.size()));
        for (size_t place = 0; place < m_size; ++place)
        {
            ring[place] = Get(place);
        }
        m_ring = std::move(ring);
        m_first = 0;
    }

    std::vector<uint32_t> m_ring; //!< as many as a power of two, or none
    size_t m_first{0};
    size_t m_size{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TURN_QUEUE_H
