// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_CONNECTION_TABLE_H
#define GRADSYNC_ROCE_CONNECTION_TABLE_H

#include "ns3/place-table.h"
#include "ns3/prefetch.h"
#include "ns3/roce-queue-pair.h"
#include "ns3/roce-queue-pairs.h"
#include "ns3/roce-reservation.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * The open connections. Each has a number, by which it waits in its NIC's ring: that of its
 * reservation, or, if it has none, the index of its queue pair. Those with a reservation have a
 * queue pair only while something is under way.
 */
class RoceConnectionTable
{
  public:
    static constexpr auto NONE = PlaceTable::NONE;

    static bool IsReservation(uint32_t number)
    {
        return (number & RESERVED) != 0;
    }

    /// Of a connection; NONE when it is not open.
    uint32_t FindNumber(const RoceConnection& connection) const;

    RoceReservation& GetReservation(uint32_t number) const
    {
        return m_reservations.At(number & ~RESERVED);
    }

    /// nullptr: the connection waits in its reservation.
    RoceQueuePair* FindQueuePair(uint32_t number) const
    {
        if (!IsReservation(number))
        {
            return &m_queuePairs.At(number);
        }
        const auto& reservation = GetReservation(number);
        return reservation.IsWaiting() ? nullptr : &m_queuePairs.At(reservation.GetQueuePair());
    }

    /// The queue pair of a connection that does not wait. \returns it and whether it was opened
    /// just now, ports still unset
    std::pair<RoceQueuePair&, bool> Open(const RoceConnection& connection);

    /// Opens a connection that is not open, with a reservation, its messages still unset. \returns
    /// its number and whether it was opened just now
    std::pair<uint32_t, bool> Reserve(const RoceConnection& connection);

    /// Gives a connection that waits its queue pair. \returns it, its ports still unset
    RoceQueuePair& Build(uint32_t reservation);

    /// Gives a connection a reservation beside its queue pair, which stands in no ring.
    void AddReservation(RoceQueuePair& queuePair);

    /// Takes the queue pair from a connection that has a reservation, as Close does. \param sent
    /// packets of its first message \returns the reservation, its messages still unset
    RoceReservation& TakeBack(RoceQueuePair& queuePair, uint32_t sent);

    /**
     * Ends a connection: packets of it that are still under way find another generation. While the
     * queue pair stands in its NIC's ring (isReady) it is not used again; the NIC then calls
     * Recycle. One that has sent packets twice is never used again: it still receives, as the
     * receiver does not know that the sender has heard of all that arrived.
     */
    void Close(RoceQueuePair& queuePair);

    /// See RoceQueuePairs.
    void Divide(uint32_t own, uint32_t processes)
    {
        m_queuePairs.Divide(own, processes);
    }

    /**
     * The receiving half of a connection that another process has opened. \param index,generation
     * of its queue pair there \returns it and whether the connection is new, its port still unset
     */
    std::pair<RoceQueuePair&, bool> Mirror(uint32_t index,
                                           uint32_t generation,
                                           const RoceConnection& connection);

    /// Fetches what Mirror writes.
    void PrefetchMirror(uint32_t index) const
    {
        if (Has(index))
        {
            Prefetch(&m_queuePairs.At(index), sizeof(RoceQueuePair));
        }
    }

    /// A closed queue pair may serve another connection, and so may its reservation.
    void Recycle(RoceQueuePair& queuePair);

    /// The queue pair that a packet belongs to, or nullptr when that connection is closed.
    RoceQueuePair* Find(uint32_t index, uint32_t generation) const
    {
        auto& queuePair = m_queuePairs.At(index);
        return queuePair.generation == generation ? &queuePair : nullptr;
    }

    /// Fetches where a connection is looked for, or entered.
    void PrefetchNumber(const RoceConnection& connection) const
    {
        m_numbers.PrefetchPlace(connection.GetPlace());
    }

    /// Fetches what Close looks at, but for the queue pair itself.
    void PrefetchOpen(const RoceQueuePair& queuePair) const
    {
        const RoceConnection connection{queuePair.src, queuePair.dst, queuePair.stream};
        m_numbers.PrefetchRemoval(connection.GetPlace());
        PrefetchReservation(queuePair);
    }

    /// Fetches the reservation of a queue pair that has one.
    void PrefetchReservation(const RoceQueuePair& queuePair) const
    {
        if (IsReservation(queuePair.number))
        {
            Prefetch(&GetReservation(queuePair.number));
        }
    }

    /// The queue pairs of open connections, in the order of their indices.
    std::vector<RoceQueuePair*> ListOpen() const;

    /// Those that are open.
    size_t CountOpen() const
    {
        return m_numbers.GetSize();
    }

    /// True when some connection waits in its reservation.
    bool IsAnyWaiting() const
    {
        return m_waitingCount > 0;
    }

    /// True when more connections wait in their reservations than there are queue pairs.
    bool AreMostWaiting() const
    {
        return m_waitingCount > m_queuePairs.GetUsedCount();
    }

    /// True when Peek knows this index.
    bool Has(uint32_t index) const
    {
        return m_queuePairs.Has(index);
    }

    /// The queue pair of an index, whatever connection it serves or served last.
    const RoceQueuePair& Peek(uint32_t index) const
    {
        return m_queuePairs.At(index);
    }

    /// Queue pairs that serve a connection, or stand in a ring.
    uint32_t CountUsedQueuePairs() const
    {
        return m_queuePairs.GetUsedCount();
    }

    /// Queue pairs that there are, in use or not.
    uint32_t CountQueuePairs() const
    {
        return m_queuePairs.GetCount();
    }

  private:
    static constexpr uint32_t RESERVED = 1U << 31; //!< in the number of a reservation

    bool IsOf(uint32_t number, const RoceConnection& connection) const;
    static void Retire(RoceQueuePair& queuePair);
    RoceQueuePair& Begin(const RoceConnection& connection);
    static void Begin(RoceQueuePair& queuePair,
                      uint32_t index,
                      uint32_t generation,
                      const RoceConnection& connection);

    PlaceTable m_numbers; //!< of open ones
    size_t m_waitingCount{0};
    RoceQueuePairs m_queuePairs;
    RoceReservations m_reservations;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_CONNECTION_TABLE_H
