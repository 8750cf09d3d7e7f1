// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-connection-table.h"

#include "ns3/hash.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

uint64_t
RoceConnection::GetHash() const
{
    const uint32_t key[] = {src, dst, stream};
    return Hash64(reinterpret_cast<const char*>(key), sizeof(key));
}

void
RoceConnectionTable::Grow()
{
    const auto old =
        std::exchange(m_slots, std::vector<Slot>(std::max<size_t>(64, 2 * m_slots.size())));
    for (const auto& slot : old)
    {
        if (slot.number == NONE)
        {
            continue;
        }
        auto to = GetHome(slot.place);
        while (m_slots[to].number != NONE)
        {
            to = GetNextSlot(to);
        }
        m_slots[to] = slot;
    }
}

bool
RoceConnectionTable::IsOf(uint32_t number, const RoceConnection& connection) const
{
    if (IsReservation(number))
    {
        return GetReservation(number).connection == connection;
    }
    const auto& queuePair = m_queuePairs.At(number);
    return queuePair.dst == connection.dst && queuePair.src == connection.src &&
           queuePair.stream == connection.stream;
}

/// That of a connection, or the free one that it would take.
size_t
RoceConnectionTable::FindSlot(const RoceConnection& connection) const
{
    const auto place = connection.GetPlace();
    auto slot = GetHome(place);
    while (m_slots[slot].number != NONE &&
           (m_slots[slot].place != place || !IsOf(m_slots[slot].number, connection)))
    {
        slot = GetNextSlot(slot);
    }
    return slot;
}

/// That of an open connection.
size_t
RoceConnectionTable::FindSlot(const RoceConnection& connection, uint32_t number) const
{
    auto slot = GetHome(connection.GetPlace());
    while (m_slots[slot].number != number)
    {
        slot = GetNextSlot(slot);
    }
    return slot;
}

uint32_t
RoceConnectionTable::FindNumber(const RoceConnection& connection) const
{
    return m_slots.empty() ? NONE : m_slots[FindSlot(connection)].number;
}

std::pair<RoceQueuePair&, bool>
RoceConnectionTable::Open(const RoceConnection& connection)
{
    if (2 * (m_openCount + 1) > m_slots.size())
    {
        Grow();
    }
    const auto slot = FindSlot(connection);
    if (m_slots[slot].number != NONE)
    {
        return {*FindQueuePair(m_slots[slot].number), false};
    }
    auto& queuePair = Begin(connection);
    m_slots[slot] = {connection.GetPlace(), queuePair.index};
    ++m_openCount;
    return {queuePair, true};
}

uint32_t
RoceConnectionTable::Reserve(const RoceConnection& connection)
{
    if (2 * (m_openCount + 1) > m_slots.size())
    {
        Grow();
    }
    const auto number = m_reservations.Take() | RESERVED;
    auto& reservation = GetReservation(number);
    reservation.connection = connection;
    reservation.queuePair = NONE;
    m_slots[FindSlot(connection)] = {connection.GetPlace(), number};
    ++m_openCount;
    ++m_waitingCount;
    return number;
}

RoceQueuePair&
RoceConnectionTable::Build(uint32_t number)
{
    auto& reservation = GetReservation(number);
    auto& queuePair = Begin(reservation.connection);
    queuePair.number = number;
    reservation.queuePair = queuePair.index;
    --m_waitingCount;
    return queuePair;
}

RoceReservation&
RoceConnectionTable::TakeBack(RoceQueuePair& queuePair)
{
    auto& reservation = GetReservation(queuePair.number);
    reservation.queuePair = NONE;
    ++m_waitingCount;
    Retire(queuePair);
    m_queuePairs.Give(queuePair);
    return reservation;
}

void
RoceConnectionTable::Recycle(RoceQueuePair& queuePair)
{
    if (IsReservation(queuePair.number))
    {
        m_reservations.Give(queuePair.number & ~RESERVED);
    }
    m_queuePairs.Give(queuePair);
}

RoceQueuePair&
RoceConnectionTable::Begin(const RoceConnection& connection)
{
    auto& queuePair = m_queuePairs.Take();
    Begin(queuePair, queuePair.index, queuePair.generation + 1, connection);
    return queuePair;
}

void
RoceConnectionTable::Begin(RoceQueuePair& queuePair,
                           uint32_t index,
                           uint32_t generation,
                           const RoceConnection& connection)
{
    queuePair = RoceQueuePair{};
    queuePair.index = index;
    queuePair.number = index;
    queuePair.generation = generation;
    queuePair.src = connection.src;
    queuePair.dst = connection.dst;
    queuePair.stream = connection.stream;
    queuePair.flowHash = static_cast<uint32_t>(connection.GetHash());
}

std::pair<RoceQueuePair&, bool>
RoceConnectionTable::Mirror(uint32_t index, uint32_t generation, const RoceConnection& connection)
{
    auto& queuePair = m_queuePairs.Provide(index);
    const bool isNew = queuePair.generation != generation;
    if (isNew)
    {
        Begin(queuePair, index, generation, connection);
        queuePair.isMirror = true;
    }
    return {queuePair, isNew};
}

std::vector<RoceQueuePair*>
RoceConnectionTable::ListOpen() const
{
    std::vector<RoceQueuePair*> open;
    open.reserve(m_openCount - m_waitingCount);
    for (const auto& slot : m_slots)
    {
        if (auto* queuePair = slot.number == NONE ? nullptr : FindQueuePair(slot.number))
        {
            open.push_back(queuePair);
        }
    }
    std::sort(open.begin(), open.end(), [](const auto* first, const auto* second) {
        return first->index < second->index;
    });
    return open;
}

/// The search for others goes over this slot no more.
void
RoceConnectionTable::Empty(size_t slot)
{
    // Those after it move up, each no farther than its home, so that searches need no gaps.
    auto free = slot;
    for (auto i = GetNextSlot(free); m_slots[i].number != NONE; i = GetNextSlot(i))
    {
        const auto mask = m_slots.size() - 1;
        if (((i - GetHome(m_slots[i].place)) & mask) >= ((i - free) & mask))
        {
            m_slots[free] = m_slots[i];
            free = i;
        }
    }
    m_slots[free].number = NONE;
}

void
RoceConnectionTable::Close(RoceQueuePair& queuePair)
{
    Empty(FindSlot({queuePair.src, queuePair.dst, queuePair.stream}, queuePair.number));
    --m_openCount;
    Retire(queuePair);
    if (!queuePair.isReady)
    {
        Recycle(queuePair);
    }
}

/// It serves its connection no longer.
void
RoceConnectionTable::Retire(RoceQueuePair& queuePair)
{
    ++queuePair.generation;
    queuePair.isClosed = true;
}

} // namespace ns3::gradsync
