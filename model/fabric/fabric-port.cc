// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fabric-port.h"

#include "ns3/ecn-marker.h"
#include "ns3/event-order.h"
#include "ns3/fabric-node.h"
#include "ns3/packet-loss.h"
#include "ns3/packet-pool.h"
#include "ns3/port-observer.h"
#include "ns3/switch-buffer.h"
#include "ns3/switch-program.h"
#include "ns3/switch-rounds.h"

#include <algorithm>

namespace ns3::gradsync
{

void
FabricPort::Install(SimulatorImpl* simulator,
                    const DataRate& rate,
                    const Time& delay,
                    FabricNode* peer,
                    uint16_t peerPort)
{
    m_simulator = simulator;
    m_serialisation = SerialisationTime(rate);
    m_delay = delay.GetTimeStep();
    m_hasDelay = m_delay > 0;
    m_peer = peer;
    m_peerPort = peerPort;
}

void
FabricPort::Disconnect()
{
    Cancel();
    if (m_departure)
    {
        m_departure->Cancel();
    }
    m_simulator = nullptr;
    m_firstFlying = nullptr;
    m_peer = nullptr;
    m_source = nullptr;
    m_sourceEmpty = true;
    m_dataWaits = false;
}

inline void
FabricPort::ScheduleArrival(TimeStepCount delay)
{
    Ref(); // the simulator drops one reference after the event
    m_simulator->ScheduleWithContext(EventOrder::OfArrival(m_index), TimeStep(delay), this);
}

/// Puts it behind those on the wire.
inline void
FabricPort::Fly(FabricPacket* packet, TimeStepCount now)
{
    packet->next = nullptr;
    if (m_firstFlying)
    {
        m_lastFlying->next = packet;
        m_lastFlying->nextArrival = packet->arrival;
    }
    else
    {
        m_firstFlying = packet;
        if (m_isGathered)
        {
            m_peer->Expect(m_peerPort, packet->arrival);
        }
        else
        {
            ScheduleArrival(packet->arrival - (m_isAhead ? m_simulator->Now().GetTimeStep() : now));
        }
    }
    m_lastFlying = packet;
}

inline void
FabricPort::Start(FabricPacket* packet, TimeStepCount start, TimeStepCount now)
{
    m_busyUntil = start + m_serialisation.Get(packet->wireBytes);
    packet->arrival = m_busyUntil + m_delay;
    m_traffic.Add(*packet);
    if ((packet->flags & PacketFlag::TELEMETRY) != 0) [[unlikely]]
    {
        WriteTelemetry(*packet, start);
    }
    if (m_isTapped) [[unlikely]]
    {
        if (m_taps.IsTaken(packet, m_index, start))
        {
            return;
        }
    }
    Fly(packet, now);
}

inline void
FabricPort::TellQueue(TimeStepCount at) const
{
    if (m_isWatched) [[unlikely]]
    {
        m_observer->OnQueue(m_index, m_data.GetBytes(), at);
    }
}

void
FabricPort::StartNow(FabricPacket* packet, TimeStepCount now)
{
    Start(packet, now, now);
}

void
FabricPort::PutOnWire(FabricPacket* packet, TimeStepCount now)
{
    Fly(packet, now);
}

void
FabricPort::Arrive()
{
    auto* packet = m_firstFlying;
    const auto now = packet->arrival;
    m_firstFlying = packet->next;
    if (packet->next)
    {
        // In a network of thousands of links it left the cache while it was on the wire.
        Prefetch(packet->next);
        ScheduleArrival(packet->nextArrival - now);
    }
    SyncBefore(m_hasDelay ? now : now + 1, now); // without a delay the next one may arrive now
    if (m_isLossy && m_loss->IsLost(*packet)) [[unlikely]]
    {
        CountDrop(*packet);
        m_loss->Discard(packet);
        return;
    }
    m_peer->Receive(packet, m_peerPort, now);
}

bool
FabricPort::StartNext(TimeStepCount start, TimeStepCount now)
{
    if (m_controlWaits)
    {
        return StartControl(start, now);
    }
    return m_stops == 0 && StartData(start, now);
}

bool
FabricPort::StartControl(TimeStepCount start, TimeStepCount now)
{
    auto* packet = m_control.Pop();
    m_controlWaits = !m_control.IsEmpty();
    Prefetch(packet->next); // as of data
    Start(packet, start, now);
    return true;
}

bool
FabricPort::StartData(TimeStepCount start, TimeStepCount now)
{
    if (m_dataWaits)
    {
        auto* packet = m_data.Pop();
        m_dataWaits = !m_data.IsEmpty();
        Prefetch(packet->next); // the next one: long queues leave the cache
        TellQueue(start);
        if ((packet->flags & PacketFlag::DEPARTURE) != 0) [[unlikely]]
        {
            StartWatched(packet, start, now);
            return true;
        }
        Start(packet, start, now);
        if (m_buffer) // after Start: a resume that follows may come back to this port
        {
            m_buffer->Release(packet->ingressPort, packet->wireBytes, start);
        }
        return true;
    }
    if (m_sourceEmpty)
    {
        return false;
    }
    auto* packet = m_source->Pull(start, now);
    if (!packet)
    {
        m_sourceEmpty = true;
        return false;
    }
    Start(packet, start, now);
    return true;
}

/// The program may change the packet's length, or drop it: the buffer held what waited.
void
FabricPort::StartWatched(FabricPacket* packet, TimeStepCount start, TimeStepCount now)
{
    const auto ingress = packet->ingressPort;
    const auto bytes = packet->wireBytes;
    packet->flags &= static_cast<uint8_t>(~PacketFlag::DEPARTURE);
    if (!m_program || m_program->Depart(packet, start))
    {
        Start(packet, start, now);
    }
    else
    {
        m_busyUntil = start; // the next one may start now
    }
    if (m_buffer)
    {
        m_buffer->Release(ingress, bytes, start);
    }
}

uint32_t
FabricPort::CountWaiting() const
{
    uint32_t count = 0;
    if (m_dataWaits)
    {
        for (const auto* packet = m_data.Front(); packet; packet = packet->next)
        {
            ++count;
        }
    }
    return count;
}

void
FabricPort::Restart(TimeStepCount now)
{
    if (m_busyUntil <= now)
    {
        StartNext(now, now);
    }
    ScheduleDeparture(now);
}

void
FabricPort::QueueData(FabricPacket* packet, TimeStepCount now)
{
    m_data.Push(packet);
    m_dataWaits = true;
    TellQueue(now);
    if (m_data.MayMark(*packet))
    {
        Mark(packet);
    }
    ScheduleDeparture(now);
}

void
FabricPort::SetProgram(SwitchProgram* program)
{
    m_program = program;
    SetEager(false, m_simulator->Now().GetTimeStep());
}

void
FabricPort::SetEcnMarker(EcnMarker* marker)
{
    m_marker = marker;
    m_data.SetMarking(marker ? marker->GetMinBytes() : UINT64_MAX);
}

void
FabricPort::SetTelemetry(PacketPool* pool, const DataRate& rate)
{
    m_telemetry.Install(pool);
    m_telemetry.SetRate(rate);
}

void
FabricPort::WriteTelemetry(const FabricPacket& packet, TimeStepCount start) const
{
    m_telemetry.Write(packet,
                      m_index,
                      {.bitRate = 0.0,
                       .sentWireBytes = m_traffic.wireBytes,
                       .queueBytes = m_data.GetBytes(),
                       .at = start});
}

void
FabricPort::Mark(FabricPacket* packet)
{
    if (m_marker->IsMarked(m_data.GetBytes(), m_index))
    {
        packet->flags |= PacketFlag::CONGESTION_EXPERIENCED;
        ++m_incidents.ecnMarkedPackets;
        if (m_observer)
        {
            m_observer->OnMark(m_index, m_data.GetBytes());
        }
    }
}

void
FabricPort::SendData(FabricPacket* packet, TimeStepCount now)
{
    Sync(now);
    if (IsFree(now))
    {
        StartNow(packet, now);
    }
    else
    {
        QueueData(packet, now);
    }
}

void
FabricPort::SendControl(FabricPacket* packet, TimeStepCount now)
{
    Sync(now);
    if (m_busyUntil <= now)
    {
        Start(packet, now, now);
        return;
    }
    m_control.Push(packet);
    m_controlWaits = true;
}

void
FabricPort::SetPaused(bool paused, TimeStepCount now)
{
    if (paused == ((m_stops & STOP_PFC) != 0))
    {
        return;
    }
    Sync(now);
    if (m_observer)
    {
        m_observer->OnPause(m_index, paused);
    }
    if (paused)
    {
        m_pauses.Begin(now);
    }
    else
    {
        m_pauses.End(now);
    }
    SetStop(STOP_PFC, paused, now);
}

void
FabricPort::SetStop(uint8_t reason, bool stopped, TimeStepCount now)
{
    m_stops = static_cast<uint8_t>(stopped ? m_stops | reason : m_stops & ~reason);
    if (m_stops == 0)
    {
        Restart(now);
    }
}

void
FabricPort::SetHeld(bool held, TimeStepCount now)
{
    Sync(now);
    SetStop(STOP_FAULT, held, now);
}

void
FabricPort::SetWire(const DataRate& rate, const Time& delay, TimeStepCount now)
{
    Sync(now);
    m_serialisation = SerialisationTime(rate);
    m_telemetry.SetRate(rate);
    m_delay = delay.GetTimeStep();
    m_hasDelay = m_delay > 0;
    const auto last = m_firstFlying ? m_lastFlying->arrival : m_taps.GetLastArrival();
    if (last > now)
    {
        // A shorter delay must not let a packet overtake those that are on the wire.
        m_busyUntil = std::max(m_busyUntil, last - m_delay);
    }
}

void
FabricPort::Flush(PacketPool& pool, TimeStepCount now)
{
    Sync(now);
    while (!m_control.IsEmpty())
    {
        auto* packet = m_control.Pop();
        CountDrop(*packet);
        pool.Give(packet);
    }
    m_controlWaits = false;
    m_dataWaits = false; // of what is being dropped nothing starts
    while (!m_data.IsEmpty())
    {
        CountDrop(*m_data.Front());
        auto* packet = m_data.Pop();
        TellQueue(now);
        if (m_buffer)
        {
            m_buffer->Release(packet->ingressPort, packet->wireBytes, now);
        }
        pool.Give(packet);
    }
    SetPaused(false, now);
}

TimeStepCount
FabricPort::GetLastArrival(TimeStepCount now)
{
    Sync(now);
    return m_firstFlying ? m_lastFlying->arrival : -1;
}

void
FabricPort::CountDrop(const FabricPacket& packet)
{
    if (packet.kind == PacketKind::Flood)
    {
        return; // nobody misses it
    }
    ++m_incidents.droppedPackets;
    if (m_observer)
    {
        m_observer->OnDrop(m_index, packet);
    }
}

TimeStepCount
FabricPort::GetWait(TimeStepCount now) const
{
    if (m_stops != 0)
    {
        return INT64_MAX;
    }
    const auto pages = static_cast<TimeStepCount>(m_data.GetBytes() / 4096);
    const auto rest = static_cast<uint32_t>(m_data.GetBytes() % 4096);
    return std::max<TimeStepCount>(m_busyUntil - now, 0) + pages * m_serialisation.Get(4096) +
           m_serialisation.Get(rest);
}

/// Of a port that is ahead of the simulator: what has started later than now is still on the wire.
PortTraffic
FabricPort::CountStartsAfter(TimeStepCount now) const
{
    PortTraffic later;
    for (const auto* packet = m_isAhead ? m_firstFlying : nullptr; packet; packet = packet->next)
    {
        if (packet->arrival - m_delay - m_serialisation.Get(packet->wireBytes) > now)
        {
            later.Add(*packet);
        }
    }
    return later;
}

PortCounters
FabricPort::GetCounters(TimeStepCount now) const
{
    const auto later = CountStartsAfter(now);
    return {.packets = m_traffic.packets - later.packets,
            .dataPackets = m_traffic.dataPackets - later.dataPackets,
            .payloadBytes = m_traffic.payloadBytes - later.payloadBytes,
            .wireBytes = m_traffic.wireBytes - later.wireBytes,
            .droppedPackets = m_incidents.droppedPackets,
            .maxQueueBytes = std::max(m_data.GetLongest(), m_longestBefore),
            .pausedFor = m_pauses.GetTotal((m_stops & STOP_PFC) != 0, now),
            .pauses = m_pauses.GetCount(),
            .blockedBytes = m_incidents.blockedBytes,
            .ecnMarkedPackets = m_incidents.ecnMarkedPackets};
}

void
FabricPort::SetGathered(bool isGathered, TimeStepCount now)
{
    if (m_isGathered && !isGathered && m_firstFlying)
    {
        ScheduleArrival(m_firstFlying->arrival - now);
    }
    m_isGathered = isGathered;
}

void
FabricPort::SetRounds(SwitchRounds* rounds, uint32_t number)
{
    m_rounds = rounds;
    m_number = number;
    m_isAhead = rounds != nullptr;
}

void
FabricPort::SetEager(bool eager, TimeStepCount now)
{
    m_eager = eager || m_program;
    ScheduleDeparture(now);
}

void
FabricPort::ScheduleDeparture(TimeStepCount now)
{
    if (!m_eager || m_departurePending || m_stops != 0 || !m_dataWaits)
    {
        return;
    }
    m_departurePending = true;
    if (m_rounds)
    {
        m_rounds->AddDeparture(m_number, *this, m_busyUntil);
        return;
    }
    if (!m_departure)
    {
        m_departure = Ptr<EventImpl>(new Departure(this), false);
    }
    m_departure->Ref(); // the simulator drops one reference after the event
    m_simulator->ScheduleWithContext(EventOrder::OfDeparture(m_index),
                                     TimeStep(m_busyUntil - now),
                                     PeekPointer(m_departure));
}

void
FabricPort::Depart(TimeStepCount now)
{
    m_departurePending = false;
    Sync(now);
    ScheduleDeparture(now);
}

void
FabricPort::Reschedule(TimeStepCount now)
{
    m_departurePending = false;
    SetEager(m_eager, now);
}

} // namespace ns3::gradsync
