// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_RESERVATION_H
#define GRADSYNC_ROCE_RESERVATION_H

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
 * There may be millions: all is packed into 24 bytes, and what has no room there does not wait so.
 */
class RoceReservation
{
  public:
    static constexpr uint32_t MAX_SENT = (1U << 31) - 1;

    /// Whether its numbers have room.
    static bool Fits(const RoceConnection& connection)
    {
        return ((connection.src | connection.dst | connection.stream) >> NAME_BITS) == 0;
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

    /// As MessageShapes numbers it. Only of one that waits.
    uint16_t GetShape() const
    {
        return m_shape;
    }

    /// Of the first message. Only of one that waits.
    uint64_t GetTag() const
    {
        return m_tag;
    }

    /// \param shape as MessageShapes numbers it \param handler as RoceHandlers numbers it
    void SetMessages(uint16_t shape, uint64_t tag, uint32_t handler)
    {
        m_tag = tag;
        m_shape = shape;
        m_handler = handler & HANDLER_MASK;
    }

    uint8_t firstPsn{0}; //!< of the messages

  private:
    friend class RoceReservations;
    static constexpr uint32_t WAITS = 1U << 31;
    static constexpr uint32_t NAME_BITS = 20;
    static constexpr uint32_t HANDLER_BITS = 3;
    static constexpr uint32_t HANDLER_MASK = (1U << HANDLER_BITS) - 1;
    static_assert(RoceHandlers::MAX_COUNT == HANDLER_MASK + 1);

    uint16_t m_shape{0};
    /// A bit that says that it waits, and how many packets are sent; or the index of its queue
    /// pair.
    uint32_t m_state{WAITS};
    uint64_t m_tag{0};
    uint64_t m_src : NAME_BITS{0};
    uint64_t m_dst : NAME_BITS{0};
    uint64_t m_stream : NAME_BITS{0};
    uint64_t m_handler : HANDLER_BITS{0};
};

static_assert(sizeof(RoceReservation) == 24, "there may be millions");

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
