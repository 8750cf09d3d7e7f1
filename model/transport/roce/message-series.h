// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MESSAGE_SERIES_H
#define GRADSYNC_MESSAGE_SERIES_H

#include "ns3/message.h"

#include <cstdint>

namespace ns3::gradsync
{

/**
 * Messages in a row for one handler, in the room of one: their tags have equal steps, and they have
 * one or two sizes, as the chunks of an even cut have.
 */
class MessageSeries
{
  public:
    static constexpr uint32_t MAX_COUNT = 16;

    /// Of no messages.
    MessageSeries()
        : m_bytes(0),
          m_step(0)
    {
    }

    /// Of one. \param bytes below 2^48: 2^32 packets of 16 KiB, the most of a connection, are less
    MessageSeries(uint64_t bytes, uint64_t tag, MessageHandler* handler)
        : m_tag(tag),
          m_handler(handler),
          m_bytes(bytes),
          m_step(0),
          m_count(1)
    {
    }

    uint32_t GetCount() const
    {
        return m_count;
    }

    MessageHandler* GetHandler() const
    {
        return m_handler;
    }

    /// They are for another one.
    void SetHandler(MessageHandler* handler)
    {
        m_handler = handler;
    }

    /// Of the shortest.
    uint64_t GetLeastBytes() const
    {
        return m_bytes;
    }

    /// Of the longest.
    uint64_t GetMostBytes() const
    {
        return m_bytes + (m_longOnes != 0 ? m_step : 0);
    }

    uint64_t GetTag(uint32_t index) const
    {
        return m_tag + uint64_t{index} * m_tagStep;
    }

    uint64_t GetBytes(uint32_t index) const
    {
        return m_bytes + ((m_longOnes >> index & 1U) != 0 ? m_step : 0);
    }

    /// \return false when the message does not go on as those before it do; nothing changes then
    bool Append(uint64_t bytes, uint64_t tag, const MessageHandler* handler)
    {
        const auto tagStep = tag - GetTag(m_count - 1U);
        const bool goesOn = m_count == 1 ? tagStep <= UINT32_MAX : tagStep == m_tagStep;
        if (handler != m_handler || m_count == MAX_COUNT || !goesOn || !TakeSize(bytes))
        {
            return false;
        }
        m_tagStep = static_cast<uint32_t>(tagStep);
        ++m_count;
        return true;
    }

    /// Forgets the first ones.
    void Drop(uint32_t count)
    {
        m_tag = GetTag(count);
        m_longOnes = static_cast<uint16_t>(m_longOnes >> count);
        m_count = static_cast<uint16_t>(m_count - count);
        if (m_longOnes == GetAll())
        {
            m_bytes = m_bytes + m_step;
            m_longOnes = 0;
        }
    }

  private:
    friend class RoceReservation; // which packs it

    /// A bit for each.
    uint16_t GetAll() const
    {
        return static_cast<uint16_t>((1U << m_count) - 1);
    }

    /// Makes it the size of the next one. \return false when that would be a third one
    bool TakeSize(uint64_t bytes)
    {
        if (m_longOnes == 0 && bytes != m_bytes)
        {
            const auto step = bytes > m_bytes ? bytes - m_bytes : m_bytes - bytes;
            if (step > UINT16_MAX)
            {
                return false;
            }
            m_longOnes = bytes > m_bytes ? 0 : GetAll();
            m_bytes = bytes > m_bytes ? m_bytes : bytes;
            m_step = static_cast<uint16_t>(step);
        }
        const bool isLong = bytes != m_bytes;
        if (isLong && bytes != m_bytes + m_step)
        {
            return false;
        }
        m_longOnes = static_cast<uint16_t>(m_longOnes | (isLong ? 1U << m_count : 0U));
        return true;
    }

    uint64_t m_tag{0}; //!< of the first
    MessageHandler* m_handler{nullptr};
    uint64_t m_bytes : 48;  //!< of the short ones
    uint64_t m_step : 16;   //!< that the long ones have more
    uint32_t m_tagStep{0};  //!< from one to the next
    uint16_t m_longOnes{0}; //!< a bit for each
    uint16_t m_count{0};
};

static_assert(sizeof(MessageSeries) == 32, "copied whole");

} // namespace ns3::gradsync

#endif // GRADSYNC_MESSAGE_SERIES_H
