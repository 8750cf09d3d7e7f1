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
    const auto& queuePair = GetQueuePair(number);
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

/// That of an open connection, by what it has.
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
        return {GetQueuePair(m_slots[slot].number), false};
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
    const auto slot = FindSlot(connection);
    const auto number = TakeReservation(connection);
    m_slots[slot] = {connection.GetPlace(), number};
    ++m_openCount;
    return number;
}

uint32_t
RoceConnectionTable::TakeReservation(const RoceConnection& connection)
{
    const auto number = m_reservations.Take() | RESERVED;
    GetReservation(number).connection = connection;
    ++m_reservationCount;
    return number;
}

RoceQueuePair&
RoceConnectionTable::Build(uint32_t reservation)
{
    const auto connection = GetReservation(reservation).connection;
    auto& queuePair = Begin(connection);
    m_slots[FindSlot(connection, reservation)].number = queuePair.index;
    m_reservations.Give(reservation & ~RESERVED);
    --m_reservationCount;
    return queuePair;
}

uint32_t
RoceConnectionTable::TakeBack(RoceQueuePair& queuePair)
{
    const RoceConnection connection{queuePair.src, queuePair.dst, queuePair.stream};
    const auto slot = FindSlot(connection, queuePair.index);
    const auto number = TakeReservation(connection);
    m_slots[slot].number = number;
    queuePair.isReady = false;
    Retire(queuePair);
    return number;
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
    open.reserve(m_openCount - m_reservationCount);
    for (const auto& slot : m_slots)
    {
        if (slot.number != NONE && !IsReservation(slot.number))
        {
            open.push_back(&GetQueuePair(slot.number));
        }
    }
    std::sort(open.begin(), open.end(), [](const auto* first, const auto* second) {
        return first->index < second->index;
    });
    return open;
}

std::vector<uint32_t>
RoceConnectionTable::ListReservations() const
{
    std::vector<uint32_t> reservations;
    for (const auto& slot : m_slots)
    {
        if (slot.number != NONE && IsReservation(slot.number))
        {
            reservations.push_back(slot.number);
        }
    }
    std::sort(reservations.begin(), reservations.end(), [this](auto one, auto other) {
        const auto& first = GetReservation(one);
        const auto& second = GetReservation(other);
        return first.connection.src != second.connection.src
                   ? first.connection.src < second.connection.src
                   : static_cast<int32_t>(first.turn - second.turn) < 0; // modulo 2^32
    });
    return reservations;
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
    Empty(FindSlot({queuePair.src, queuePair.dst, queuePair.stream}, queuePair.index));
    --m_openCount;
    Retire(queuePair);
}

/// It serves its connection no longer.
void
RoceConnectionTable::Retire(RoceQueuePair& queuePair)
{
    ++queuePair.generation;
    queuePair.isClosed = true;
    if (!queuePair.isReady)
    {
        Recycle(queuePair);
    }
}

} // namespace ns3::gradsync
