// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_RESERVATION_H
#define GRADSYNC_ROCE_RESERVATION_H

#include "ns3/message-series.h"
#include "ns3/place-table.h"
#include "ns3/prefetch.h"
#include "ns3/roce-handlers.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::gradsync
{

/// What names a connection: see Message.
struct RoceConnection
{
    uint32_t src;
    uint32_t dst;
    uint32_t stream;
    bool operator==(const RoceConnection&) const = default;

    /// Same for the same connection in every run; ECMP uses its low half.
    uint64_t GetHash() const;

    /// Where a PlaceTable keeps it: eight destinations of one source stand in a row, as sources
    /// open connections in that order. Which of them comes first differs from row to row, so that
    /// those whose numbers are all multiples of eight do not meet.
    uint32_t GetPlace() const
    {
        constexpr auto ROW = PlaceTable::ROW;
        constexpr uint64_t MIX = 0x9e3779b97f4a7c15; // 2^64 / golden ratio: Knuth, TAOCP 3, 6.4
        auto mixed = (uint64_t{src} << 32 | stream / ROW) * MIX;
        mixed = ((mixed ^ mixed >> 32) + dst / ROW) * MIX;
        const auto hash = static_cast<uint32_t>(mixed >> 32);
        // A stream may count with its destinations.
        return hash / ROW * ROW + (hash + dst + 2 * stream) % ROW;
    }
};

/**
 * An open connection as it waits for its turn at the NIC, with messages to send and nothing under
 * way. When the turn comes its queue pair is built; the reservation then only says which that is.
 *
 * There may be millions: all is packed into half a line of the cache, and what is too large for
 * that does not wait so.
 */
class alignas(32) RoceReservation
{
  public:
    static constexpr uint32_t MAX_SENT = (1U << 27) - 1;

    /// Whether its numbers have room.
    static bool Fits(const RoceConnection& connection)
    {
        return ((connection.src | connection.dst | connection.stream) >> NAME_BITS) == 0;
    }

    static bool Fits(const MessageSeries& series)
    {
        return series.m_bytes <= UINT32_MAX && series.m_step <= UINT8_MAX;
    }

    /// True when it has no queue pair.
    bool IsWaiting() const
    {
        return (m_state & WAITS) != 0;
    }

    /// The index of its queue pair. Only of one that does not wait.
    uint32_t GetQueuePair() const
    {
        return m_state;
    }

    /// How many packets of the first message have been sent, and have arrived. Only of one that
    /// waits.
    uint32_t GetSent() const
    {
        return m_state & MAX_SENT;
    }

    /// Its messages are still to be set. \param sent at most MAX_SENT
    void Wait(uint32_t sent)
    {
        m_state = WAITS | sent;
    }

    void SetQueuePair(uint32_t index)
    {
        m_state = index;
    }

    RoceConnection GetConnection() const
    {
        return {static_cast<uint32_t>(m_src),
                static_cast<uint32_t>(m_dst),
                static_cast<uint32_t>(m_stream)};
    }

    /// \param connection that Fits
    void SetConnection(const RoceConnection& connection)
    {
        m_src = connection.src;
        m_dst = connection.dst;
        m_stream = connection.stream;
    }

    /// Of the messages, as RoceHandlers numbers it.
    uint32_t GetHandler() const
    {
        return m_handler;
    }

    /// Only of one that waits.
    MessageSeries GetMessages(MessageHandler* handler) const
    {
        MessageSeries series(m_bytes, m_tag, handler);
        series.m_step = m_step;
        series.m_tagStep = m_tagStep;
        series.m_longOnes = m_longOnes;
        series.m_count = static_cast<uint16_t>((m_state >> SENT_BITS & COUNT_MASK) + 1);
        return series;
    }

    /// Only of one that waits. \param series that Fits \param handler as RoceHandlers numbers it
    void SetMessages(const MessageSeries& series, uint32_t handler)
    {
        m_tag = series.m_tag;
        m_bytes = static_cast<uint32_t>(series.m_bytes);
        m_step = static_cast<uint8_t>(series.m_step);
        m_tagStep = series.m_tagStep;
        m_longOnes = series.m_longOnes;
        m_handler = handler & HANDLER_MASK;
        m_state = WAITS | (series.m_count - 1U) << SENT_BITS | GetSent();
    }

    uint8_t firstPsn{0}; //!< of the messages

  private:
    friend class RoceReservations;
    static constexpr uint32_t WAITS = 1U << 31;
    static constexpr uint32_t NAME_BITS = 20;
    static constexpr uint32_t SENT_BITS = 27;
    static constexpr uint32_t COUNT_MASK = MessageSeries::MAX_COUNT - 1;
    static constexpr uint32_t HANDLER_BITS = 3;
    static constexpr uint32_t HANDLER_MASK = (1U << HANDLER_BITS) - 1;
    static_assert(RoceHandlers::MAX_COUNT == HANDLER_MASK + 1);
    static_assert(MAX_SENT >> SENT_BITS == 0 && COUNT_MASK < WAITS >> SENT_BITS);

    uint8_t m_step{0}; //!< this and what follows: see MessageSeries
    uint16_t m_longOnes{0};
    /// A bit that says that it waits, the count of messages less 1, and how many packets are sent;
    /// or the index of its queue pair.
    uint32_t m_state{WAITS};
    uint64_t m_tag{0};
    uint32_t m_bytes{0};
    uint32_t m_tagStep{0};
    uint64_t m_src : NAME_BITS{0};
    uint64_t m_dst : NAME_BITS{0};
    uint64_t m_stream : NAME_BITS{0};
    uint64_t m_handler : HANDLER_BITS{0};
};

/// Reservations by their numbers; those given back serve again.
class RoceReservations
{
  public:
    /// The number of one with whatever its last user left in it.
    uint32_t Take()
    {
        if (m_free == NONE)
        {
            Grow();
        }
        const auto number = m_free;
        m_free = At(number).m_state;
        if (m_free != NONE)
        {
            Prefetch(&At(m_free)); // the next one: it may be long since anybody looked at it
        }
        return number;
    }

    void Give(uint32_t number)
    {
        At(number).m_state = m_free;
        m_free = number;
    }

    RoceReservation& At(uint32_t number) const
    {
        return m_blocks[number / BLOCK_SIZE][number % BLOCK_SIZE];
    }

  private:
    static constexpr uint32_t BLOCK_SIZE = 256;
    static constexpr uint32_t NONE = UINT32_MAX;

    void Grow()
    {
        auto number = static_cast<uint32_t>(m_blocks.size()) * BLOCK_SIZE;
        m_blocks.push_back(std::make_unique<RoceReservation[]>(BLOCK_SIZE));
        for (uint32_t i = 0; i < BLOCK_SIZE; ++i)
        {
            At(number + i).m_state = i + 1 < BLOCK_SIZE ? number + i + 1 : NONE;
        }
        m_free = number;
    }

    std::vector<std::unique_ptr<RoceReservation[]>> m_blocks;
    uint32_t m_free{NONE}; //!< linked by `m_state`
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_RESERVATION_H
