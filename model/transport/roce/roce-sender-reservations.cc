// SPDX-License-Identifier: GPL-2.0-only
// The part of RoceSender about connections that wait for a turn with nothing on the wire: they have
// a reservation in place of a queue pair.
#include "ns3/roce-mirrors.h"
#include "ns3/roce-sender.h"

#include <algorithm>

namespace ns3::gradsync
{

/// Whether a message may wait so: one that nothing is special about, where that saves memory worth
/// the time. One of several packets that is the next to have a turn comes back at once.
bool
RoceSender::MayReserve(const Message& message, const RoceConnection& connection) const
{
    // There are sequence numbers for any series of such messages.
    const uint64_t most = UINT32_MAX / (2 * MessageSeries::MAX_COUNT);
    const uint64_t leastWaiting = message.bytes <= m_settings.mtuBytes ? 0 : 1;
    return m_mayReserve &&
           FindNic(connection).GetTurns().GetSize() >= std::max(leastWaiting, m_keptAtNic) &&
           message.droppable.IsEmpty() && RoceReservation::Fits(connection) &&
           m_flows.MayWait(connection) && message.bytes <= most * m_settings.mtuBytes;
}

/// Those that wait.
MessageSeries
RoceSender::GetMessages(const RoceReservation& reservation) const
{
    const auto dst = reservation.GetConnection().dst;
    return m_shapes.Get(reservation.GetShape(),
                        reservation.GetTag(),
                        m_handlers.Get(dst, reservation.GetHandler()));
}

/// Adds a message to those that wait. \return false when it does not go on as they do, with as
/// many packets
bool
RoceSender::Append(RoceReservation& reservation, const Message& message)
{
    auto series = GetMessages(reservation);
    const auto bytes = series.GetBytes(0);
    const bool isAsLong =
        bytes == message.bytes || CountPackets(bytes) == CountPackets(message.bytes);
    if (!isAsLong || !series.Append(message.bytes, message.tag, message.handler))
    {
        return false;
    }
    reservation.SetMessages(m_shapes.Provide(series), series.GetTag(0), reservation.GetHandler());
    return true;
}

/// Has a message wait in a reservation. \return false when it must go to a queue pair: the
/// connection has one, or the message does not go on as those before it
bool
RoceSender::Reserve(const RoceConnection& connection, const Message& message, TimeStepCount now)
{
    if (!m_connections.IsAnyWaiting())
    {
        m_shapes.Clear();
    }
    const auto handler = m_handlers.Provide(message.dst, message.handler);
    if (handler == RoceHandlers::NONE || !m_shapes.HasRoom())
    {
        return false;
    }
    const auto [number, isNew] = m_connections.Reserve(connection);
    if (!isNew && FindQueuePair(number))
    {
        return false;
    }
    auto& nic = FindNic(connection);
    nic.GetPort().Sync(now);
    auto& reservation = m_connections.GetReservation(number);
    if (isNew)
    {
        const auto shape = m_shapes.Provide({message.bytes, message.tag, message.handler});
        reservation.SetMessages(shape, message.tag, handler);
        reservation.firstPsn = 0;
        nic.AddTurn(number);
    }
    else if (!reservation.IsWaiting() || !Append(reservation, message))
    {
        return false; // its turn has come now, or it is no series
    }
    nic.GetPort().SourceReady(now);
    return true;
}

/// Gives a connection that waits its queue pair; it keeps its place in the ring.
RoceQueuePair&
RoceSender::Build(uint32_t number)
{
    const auto& reservation = m_connections.GetReservation(number);
    const auto sent = reservation.GetSent();
    const auto series = GetMessages(reservation);
    auto& queuePair = m_connections.Build(number);
    ChooseFirstPorts(queuePair);
    m_flows.Open(queuePair);
    queuePair.BeginAt(reservation.firstPsn);
    Post(queuePair, series);
    if (m_mirrors) [[unlikely]]
    {
        m_mirrors->OnBuilt(queuePair);
    }
    queuePair.GoOnAt(sent, m_settings.ackEvery);
    queuePair.isReady = true;
    return queuePair;
}

void
RoceSender::BuildReserved()
{
    const auto endpoints = m_topology->GetEndpoints();
    for (uint32_t endpoint = 0; endpoint < endpoints.size(); ++endpoint)
    {
        for (size_t port = 0; port < m_topology->GetPorts(endpoints[endpoint]).size(); ++port)
        {
            const auto& turns = m_nics[endpoint][port].GetTurns();
            for (size_t place = 0; place < turns.GetSize(); ++place)
            {
                TakeTurn(turns.Get(place));
            }
        }
    }
}

/// One that another process receives keeps its queue pair until all is sent: it was told of the
/// messages as of those of one that has none else.
void
RoceSender::AddReservation(RoceQueuePair& queuePair)
{
    const RoceConnection connection{queuePair.src, queuePair.dst, queuePair.stream};
    if (m_mayReserve && queuePair.receiving && RoceReservation::Fits(connection) &&
        m_flows.MayWait(connection))
    {
        m_connections.AddReservation(queuePair);
    }
}

/// One that sends a message in several turns comes back soon: not unless there are many.
bool
RoceSender::IsWorthTakingBack(const RoceQueuePair& queuePair) const
{
    return queuePair.sending->packetCount == 1 || AreMany();
}

/// Whether all that is left of it are messages that wait for a turn: a queue pair that is built
/// again sends the same.
bool
RoceSender::MayTakeBack(const RoceQueuePair& queuePair) const
{
    const auto every = m_settings.ackEvery;
    const bool isReserved = RoceConnectionTable::IsReservation(queuePair.number) && m_mayReserve;
    return isReserved && queuePair.isReady && queuePair.sending && IsWorthTakingBack(queuePair) &&
           every <= UINT8_MAX && queuePair.MayBeginAnew(every) && m_flows.IsFresh(queuePair) &&
           !queuePair.IsAnswerDue(every) && queuePair.CountSent() <= RoceReservation::MAX_SENT &&
           m_shapes.HasRoom() &&
           m_handlers.Find(queuePair.dst, queuePair.sending->series.GetHandler()) !=
               RoceHandlers::NONE;
}

/// Its messages wait in a reservation again.
void
RoceSender::TakeBack(RoceQueuePair& queuePair)
{
    GetNic(queuePair).StopTimeout(queuePair);
    auto* messages = queuePair.sending;
    auto series = messages->series;
    series.Drop(messages->FindIndex(queuePair.nextPsn));
    const auto sent = queuePair.CountSent();
    m_messages.Give(messages);
    auto& reservation = m_connections.TakeBack(queuePair, sent);
    reservation.SetMessages(m_shapes.Provide(series),
                            series.GetTag(0),
                            m_handlers.Find(queuePair.dst, series.GetHandler()));
    // Receivers answer what they get twice by sequence numbers, modulo AckEvery.
    const auto every = m_settings.ackEvery;
    reservation.firstPsn =
        static_cast<uint8_t>(every == 0 ? 0 : (queuePair.nextPsn - sent) % every);
}

/// The NIC where it waits.
RoceNic&
RoceSender::FindNic(const RoceConnection& connection) const
{
    const auto hash = m_hasChoice ? static_cast<uint32_t>(connection.GetHash()) : 0;
    return m_nics[connection.src][ChoosePort(connection.src, hash, connection.dst)];
}

void
RoceSender::PrefetchTurn(uint32_t number, uint32_t round) const
{
    const bool isReservation = RoceConnectionTable::IsReservation(number);
    if (isReservation && (round == 0 || m_connections.AreMostWaiting()))
    {
        // Most likely it has no queue pair: to look for one would be to wait. What builds one is
        // fetched when the reservation has come.
        const auto& reservation = m_connections.GetReservation(number);
        if (round < 2)
        {
            Prefetch(&reservation);
        }
        else
        {
            m_handlers.Prefetch(reservation.GetConnection().dst);
        }
        return;
    }
    const auto* queuePair = FindQueuePair(number);
    if (queuePair && round < 2)
    {
        Prefetch(queuePair);
    }
    else if (queuePair)
    {
        Prefetch(queuePair->sending);
    }
}

} // namespace ns3::gradsync
