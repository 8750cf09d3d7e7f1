// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/lazy-sender.h"

#include "ns3/switch-buffer.h"
#include "ns3/switch-program.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

void
LazySender::Install(SimulatorImpl* simulator,
                    const DataRate& rate,
                    const Time& delay,
                    FabricNode* peer,
                    uint16_t peerPort)
{
    Connect(simulator, peer, peerPort);
    m_serialisation = SerialisationTime(rate);
    m_delay = delay.GetTimeStep();
    m_hasDelay = m_delay > 0;
}

void
LazySender::Disconnect()
{
    FabricWire::Disconnect();
    m_departure.Cancel();
    m_source = nullptr;
    m_sourceEmpty = true;
    m_dataWaits = false;
}

inline void
LazySender::Start(FabricPacket* packet, TimeStepCount start, TimeStepCount now)
{
    m_busyUntil = start + m_serialisation.Get(packet->wireBytes);
    packet->arrival = m_busyUntil + m_delay;
    m_traffic.Add(*packet);
    if ((packet->flags & PacketFlag::TELEMETRY) != 0) [[unlikely]]
    {
        m_telemetry.Write(*packet, GetIndex(), m_traffic.wireBytes, m_data.GetBytes(), start);
    }
    if (m_isTapped) [[unlikely]]
    {
        if (m_taps.IsTaken(packet, GetIndex(), start))
        {
            return;
        }
    }
    PutOnWire(packet, now);
}

void
LazySender::StartNow(FabricPacket* packet, TimeStepCount now)
{
    Start(packet, now, now);
}

bool
LazySender::StartNext(TimeStepCount start, TimeStepCount now)
{
    if (m_controlWaits)
    {
        return StartControl(start, now);
    }
    return m_stops == 0 && StartData(start, now);
}

bool
LazySender::StartControl(TimeStepCount start, TimeStepCount now)
{
    auto* packet = m_control.Pop();
    m_controlWaits = !m_control.IsEmpty();
    Prefetch(packet->next); // as of data
    Start(packet, start, now);
    return true;
}

bool
LazySender::StartData(TimeStepCount start, TimeStepCount now)
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
        const auto ingress = packet->ingressPort;
        const auto bytes = packet->wireBytes;
        Start(packet, start, now); // which may give it away
        if (m_buffer)              // after Start: a resume that follows may come back to this port
        {
            m_buffer->Release(ingress, bytes, start);
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
LazySender::StartWatched(FabricPacket* packet, TimeStepCount start, TimeStepCount now)
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

void
LazySender::Restart(TimeStepCount now)
{
    if (m_busyUntil <= now)
    {
        StartNext(now, now);
    }
    ScheduleDeparture(now);
}

void
LazySender::SetProgram(SwitchProgram* program)
{
    m_program = program;
    SetEager(false, GetSimulator()->Now().GetTimeStep());
}

void
LazySender::SetEager(bool eager, TimeStepCount now)
{
    m_eager = eager || m_program;
    ScheduleDeparture(now);
}

void
LazySender::Depart(TimeStepCount now)
{
    m_departurePending = false;
    Sync(now);
    ScheduleDeparture(now);
}

void
LazySender::Reschedule(TimeStepCount now)
{
    m_departurePending = false;
    SetEager(m_eager, now);
}

void
LazySender::SendControl(FabricPacket* packet, TimeStepCount now)
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
LazySender::SetStop(uint8_t reason, bool stopped, TimeStepCount now)
{
    m_stops = static_cast<uint8_t>(stopped ? m_stops | reason : m_stops & ~reason);
    if (m_stops == 0)
    {
        Restart(now);
    }
}

void
LazySender::SetWire(const DataRate& rate, const Time& delay, TimeStepCount now)
{
    Sync(now);
    m_serialisation = SerialisationTime(rate);
    m_telemetry.SetRate(rate);
    m_delay = delay.GetTimeStep();
    m_hasDelay = m_delay > 0;
    const auto last = GetWire() ? GetLast().arrival : m_taps.GetLastArrival();
    if (last > now)
    {
        // A shorter delay must not let a packet overtake those that are on the wire.
        m_busyUntil = std::max(m_busyUntil, last - m_delay);
    }
}

ControlQueue
LazySender::GiveUpWaiting()
{
    m_controlWaits = false;
    m_dataWaits = false;
    return std::exchange(m_control, {});
}

FabricPacket*
LazySender::TakeFirstData(TimeStepCount now)
{
    auto* packet = m_data.Pop();
    TellQueue(now);
    if (m_buffer)
    {
        m_buffer->Release(packet->ingressPort, packet->wireBytes, now);
    }
    return packet;
}

TimeStepCount
LazySender::GetLastArrival(TimeStepCount now)
{
    Sync(now);
    return GetWire() ? GetLast().arrival : -1;
}

TimeStepCount
LazySender::GetWait(TimeStepCount now) const
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

/// What has started later than now is still on the wire.
PortTraffic
LazySender::GetTraffic(TimeStepCount now) const
{
    auto traffic = m_traffic;
    for (const auto* packet = IsAhead() ? GetWire() : nullptr; packet; packet = packet->next)
    {
        if (packet->arrival - m_delay - m_serialisation.Get(packet->wireBytes) > now)
        {
            traffic.Remove(*packet);
        }
    }
    return traffic;
}

bool
LazySender::IsAtRest(TimeStepCount now) const
{
    return m_busyUntil <= now && !GetWire() && !m_dataWaits && !m_controlWaits && m_stops == 0 &&
           m_sourceEmpty;
}

void
LazySender::AddState(const PacketStateWriter& addConnection, StateWords& words) const
{
    if (m_eager || m_isTapped || IsLossy())
    {
        words.Refuse("ports are watched, or lose packets");
    }
    words.Add(m_stops);
    words.Add(m_sourceEmpty);
    words.AddDeadline(m_busyUntil);
    AddFlyingPackets(GetWire(), addConnection, words);
    words.Add(m_data.GetBytes());
    AddWaitingPackets(m_control.GetFirstPfc(), addConnection, words);
    AddWaitingPackets(m_control.GetFirstOther(), addConnection, words);
    AddWaitingPackets(m_data.Front(), addConnection, words);
}

} // namespace ns3::gradsync
