// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_RESERVATION_H
#define GRADSYNC_ROCE_RESERVATION_H

#include "ns3/message-series.h"
#include "ns3/place-table.h"

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
    /// open connections in that order.
    uint32_t GetPlace() const
    {
        constexpr auto ROW = PlaceTable::ROW;
        constexpr uint64_t MIX = 0x9e3779b97f4a7c15; // 2^64 / golden ratio: Knuth, TAOCP 3, 6.4
        auto mixed = (uint64_t{src} << 32 | stream / ROW) * MIX;
        mixed = ((mixed ^ mixed >> 32) + dst / ROW) * MIX;
        const auto row = static_cast<uint32_t>(mixed >> 32) / ROW * ROW;
        return row + (dst + 2 * stream) % ROW; // a stream may count with its destinations
    }
};

/**
 * An open connection as it waits for its turn at the NIC, with messages to send and nothing under
 * way. When the turn comes its queue pair is built; the reservation then only says which that is.
 *
 * Derived from its messages, so that the byte that these leave is used.
 */
class RoceReservation : public MessageSeries
{
  public:
    static constexpr uint32_t MAX_SENT = (1U << 31) - 1;

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
        return m_state & ~WAITS;
    }

    /// \param sent at most MAX_SENT
    void Wait(uint32_t sent)
    {
        m_state = WAITS | sent;
    }

    void SetQueuePair(uint32_t index)
    {
        m_state = index;
    }

    void SetMessages(const MessageSeries& series)
    {
        static_cast<MessageSeries&>(*this) = series;
    }

    uint8_t firstPsn{0}; //!< of the messages
    RoceConnection connection{};

  private:
    friend class RoceReservations;
    static constexpr uint32_t WAITS = 1U << 31;

    uint32_t m_state{WAITS};
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
