// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_CONNECTION_TABLE_H
#define GRADSYNC_ROCE_CONNECTION_TABLE_H

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
 * reservation, or, if nobody made one, the index of its queue pair. Those with a reservation have a
 * queue pair only while something is under way.
 */
class RoceConnectionTable
{
  public:
    static constexpr uint32_t NONE = UINT32_MAX;

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
        const auto index = IsReservation(number) ? GetReservation(number).queuePair : number;
        return index == NONE ? nullptr : &m_queuePairs.At(index);
    }

    /// The queue pair of a connection that does not wait. \returns it and whether it was opened
    /// just now, ports still unset
    std::pair<RoceQueuePair&, bool> Open(const RoceConnection& connection);

    /// Opens a connection, with a reservation, its messages still unset. \returns its number
    uint32_t Reserve(const RoceConnection& connection);

    /// Gives a connection that waits its queue pair. \returns it, its ports still unset
    RoceQueuePair& Build(uint32_t reservation);

    /// Takes the queue pair from a connection that has a reservation, as Close does. \returns the
    /// reservation, its messages still unset
    RoceReservation& TakeBack(RoceQueuePair& queuePair);

    /**
     * Ends a connection: packets of it that are still under way find another generation. While the
     * queue pair stands in its NIC's ring (isReady) it is not used again; the NIC then calls
     * Recycle.
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

    /// A closed queue pair may serve another connection, and so may its reservation.
    void Recycle(RoceQueuePair& queuePair);

    /// The queue pair that a packet belongs to, or nullptr when that connection is closed.
    RoceQueuePair* Find(uint32_t index, uint32_t generation) const
    {
        auto& queuePair = m_queuePairs.At(index);
        return queuePair.generation == generation ? &queuePair : nullptr;
    }

    /// Fetches what Close looks at, but for the queue pair itself.
    void PrefetchOpen(const RoceQueuePair& queuePair) const
    {
        const RoceConnection connection{queuePair.src, queuePair.dst, queuePair.stream};
        Prefetch(&m_slots[GetHome(connection.GetPlace())]);
        if (IsReservation(queuePair.number))
        {
            Prefetch(&GetReservation(queuePair.number));
        }
    }

    /// The queue pairs of open connections, in the order of their indices.
    std::vector<RoceQueuePair*> ListOpen() const;

    /// True when some connection waits in its reservation.
    bool IsAnyWaiting() const
    {
        return m_waitingCount > 0;
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

    /// Queue pairs that there are, in use or not.
    uint32_t CountQueuePairs() const
    {
        return m_queuePairs.GetCount();
    }

  private:
    static constexpr uint32_t RESERVED = 1U << 31; //!< in the number of a reservation

    /// Of a hash table with linear probing. It tells most connections apart without a look at what
    /// they have, which is not in any cache.
    struct Slot
    {
        uint32_t place;
        uint32_t number{NONE};
    };

    size_t GetNextSlot(size_t slot) const
    {
        return (slot + 1) & (m_slots.size() - 1);
    }

    /// Where the search for a place begins.
    size_t GetHome(uint32_t place) const
    {
        return place & (m_slots.size() - 1);
    }

    size_t FindSlot(const RoceConnection& connection) const;
    size_t FindSlot(const RoceConnection& connection, uint32_t number) const;
    bool IsOf(uint32_t number, const RoceConnection& connection) const;
    void Empty(size_t slot);
    static void Retire(RoceQueuePair& queuePair);
    RoceQueuePair& Begin(const RoceConnection& connection);
    static void Begin(RoceQueuePair& queuePair,
                      uint32_t index,
                      uint32_t generation,
                      const RoceConnection& connection);
    void Grow();

    std::vector<Slot> m_slots; //!< of open ones, at most half of them taken; a power of two
    size_t m_openCount{0};
    size_t m_waitingCount{0};
    RoceQueuePairs m_queuePairs;
    RoceReservations m_reservations;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_CONNECTION_TABLE_H
