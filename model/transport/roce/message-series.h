// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MESSAGE_SERIES_H
#define GRADSYNC_MESSAGE_SERIES_H

#include "ns3/message.h"

#include <cstdint>

namespace ns3::gradsync
{

/// What series of messages have in common that differ in their first tag and their handler: the
/// same values for all that are alike.
struct MessageShape
{
    uint64_t bytes : 48;  //!< of the short ones
    uint64_t step : 16;   //!< that the long ones have more; 0: there are none
    uint32_t tagStep{0};  //!< from one to the next; 0: there is one
    uint16_t longOnes{0}; //!< a bit for each
    uint16_t count{0};
};

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
        : m_shape{.bytes = 0, .step = 0}
    {
    }

    /// Of one. \param bytes below 2^48: 2^32 packets of 16 KiB, the most of a connection, are less
    MessageSeries(uint64_t bytes, uint64_t tag, MessageHandler* handler)
        : m_tag(tag),
          m_handler(handler),
          m_shape{.bytes = bytes, .step = 0, .count = 1}
    {
    }

    MessageSeries(const MessageShape& shape, uint64_t tag, MessageHandler* handler)
        : m_tag(tag),
          m_handler(handler),
          m_shape(shape)
    {
    }

    const MessageShape& GetShape() const
    {
        return m_shape;
    }

    uint32_t GetCount() const
    {
        return m_shape.count;
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
        return m_shape.bytes;
    }

    /// Of the longest.
    uint64_t GetMostBytes() const
    {
        return m_shape.bytes + m_shape.step;
    }

    uint64_t GetTag(uint32_t index) const
    {
        return m_tag + uint64_t{index} * m_shape.tagStep;
    }

    uint64_t GetBytes(uint32_t index) const
    {
        return m_shape.bytes + ((m_shape.longOnes >> index & 1U) != 0 ? m_shape.step : 0);
    }

    /// \return false when the message does not go on as those before it do; nothing changes then
    bool Append(uint64_t bytes, uint64_t tag, const MessageHandler* handler)
    {
        auto& shape = m_shape;
        const auto tagStep = tag - GetTag(shape.count - 1U);
        const bool goesOn = shape.count == 1 ? tagStep <= UINT32_MAX : tagStep == shape.tagStep;
        if (handler != m_handler || shape.count == MAX_COUNT || !goesOn || !TakeSize(bytes))
        {
            return false;
        }
        shape.tagStep = static_cast<uint32_t>(tagStep);
        ++shape.count;
        return true;
    }

    /// Forgets the first ones.
    void Drop(uint32_t count)
    {
        auto& shape = m_shape;
        m_tag = GetTag(count);
        shape.longOnes = static_cast<uint16_t>(shape.longOnes >> count);
        shape.count = static_cast<uint16_t>(shape.count - count);
        if (shape.longOnes == GetAll())
        {
            shape.bytes = shape.bytes + shape.step;
            shape.longOnes = 0;
        }
        shape.step = shape.longOnes != 0 ? shape.step : 0;
        shape.tagStep = shape.count > 1 ? shape.tagStep : 0;
    }

  private:
    /// A bit for each.
    uint16_t GetAll() const
    {
        return static_cast<uint16_t>((1U << m_shape.count) - 1);
    }

    /// Makes it the size of the next one. \return false when that would be a third one
    bool TakeSize(uint64_t bytes)
    {
        auto& shape = m_shape;
        if (shape.longOnes == 0 && bytes != shape.bytes)
        {
            const auto step = bytes > shape.bytes ? bytes - shape.bytes : shape.bytes - bytes;
            if (step > UINT16_MAX)
            {
                return false;
            }
            shape.longOnes = bytes > shape.bytes ? 0 : GetAll();
            shape.bytes = bytes > shape.bytes ? shape.bytes : bytes;
            shape.step = static_cast<uint16_t>(step);
        }
        const bool isLong = bytes != shape.bytes;
        if (isLong && bytes != shape.bytes + shape.step)
        {
            return false;
        }
        shape.longOnes = static_cast<uint16_t>(shape.longOnes | (isLong ? 1U << shape.count : 0U));
        return true;
    }

    uint64_t m_tag{0}; //!< of the first
    MessageHandler* m_handler{nullptr};
    MessageShape m_shape;
};

static_assert(sizeof(MessageSeries) == 32, "copied whole");

} // namespace ns3::gradsync

#endif // GRADSYNC_MESSAGE_SERIES_H
