// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fabric-port.h"

#include "ns3/ecn-marker.h"
#include "ns3/packet-loss.h"
#include "ns3/packet-pool.h"

namespace ns3::gradsync
{

void
FabricPort::SetEcnMarker(EcnMarker* marker)
{
    m_marker = marker;
    UseData().SetMarking(marker ? marker->GetMinBytes() : UINT64_MAX);
}

void
FabricPort::Notify()
{
    auto* packet = TakeFirst();
    const auto now = packet->arrival;
    SyncAtArrival(now);
    if (IsLossy() && m_loss->IsLost(*packet)) [[unlikely]]
    {
        CountDrop(*packet);
        m_loss->Discard(packet);
        return;
    }
    Deliver(packet, now);
}

void
FabricPort::QueueData(FabricPacket* packet, TimeStepCount now)
{
    Enqueue(packet, now);
    if (GetData().MayMark(*packet))
    {
        Mark(packet);
    }
    ScheduleDeparture(now);
}

void
FabricPort::Mark(FabricPacket* packet)
{
    const auto queueBytes = GetQueueBytes();
    if (m_marker->IsMarked(queueBytes, GetIndex()))
    {
        packet->flags |= PacketFlag::CONGESTION_EXPERIENCED;
        ++m_incidents.ecnMarkedPackets;
        if (auto* observer = GetObserver())
        {
            observer->OnMark(GetIndex(), queueBytes);
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
FabricPort::SetPaused(bool paused, TimeStepCount now)
{
    if (paused == IsStopped(STOP_PFC))
    {
        return;
    }
    Sync(now);
    if (auto* observer = GetObserver())
    {
        observer->OnPause(GetIndex(), paused);
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
FabricPort::SetHeld(bool held, TimeStepCount now)
{
    Sync(now);
    SetStop(STOP_FAULT, held, now);
}

void
FabricPort::Flush(PacketPool& pool, TimeStepCount now)
{
    Sync(now);
    auto control = GiveUpWaiting();
    while (!control.IsEmpty())
    {
        auto* packet = control.Pop();
        CountDrop(*packet);
        pool.Give(packet);
    }
    while (const auto* packet = GetData().Front())
    {
        CountDrop(*packet);
        pool.Give(TakeFirstData(now));
    }
    SetPaused(false, now);
}

void
FabricPort::CountDrop(const FabricPacket& packet)
{
    if (packet.kind == PacketKind::Flood)
    {
        return; // nobody misses it
    }
    ++m_incidents.droppedPackets;
    if (auto* observer = GetObserver())
    {
        observer->OnDrop(GetIndex(), packet);
    }
}

bool
FabricPort::IsUndisturbed(bool isMarked) const
{
    return IsUnseen() && m_pauses.GetCount() == 0 && IsCertain(isMarked);
}

bool
FabricPort::IsCertain(bool isMarked) const
{
    return !IsLossy() && m_incidents.droppedPackets == 0 && m_incidents.ecnMarkedPackets == 0 &&
           !(isMarked && GetData().MayHaveMarked());
}

uint64_t
FabricPort::CountArrived() const
{
    auto arrived = GetAllTraffic().packets;
    for (const auto* packet = GetWire(); packet; packet = packet->next)
    {
        --arrived;
    }
    return arrived;
}

PortCounters
FabricPort::GetCounters(TimeStepCount now) const
{
    const auto traffic = GetTraffic(now);
    return {.packets = traffic.packets,
            .dataPackets = traffic.dataPackets,
            .payloadBytes = traffic.payloadBytes,
            .wireBytes = traffic.wireBytes,
            .droppedPackets = m_incidents.droppedPackets,
            .maxQueueBytes = std::max(GetData().GetLongest(), m_longestBefore),
            .pausedFor = m_pauses.GetTotal(IsStopped(STOP_PFC), now),
            .pauses = m_pauses.GetCount(),
            .blockedBytes = m_incidents.blockedBytes,
            .ecnMarkedPackets = m_incidents.ecnMarkedPackets};
}

void
FabricPort::AddCounters(const PortCounters& counters)
{
    AddTraffic(counters);
    m_incidents.droppedPackets += counters.droppedPackets;
    UseData().CountLength(counters.maxQueueBytes);
    m_pauses.Add(counters.pauses, counters.pausedFor);
    m_incidents.blockedBytes += counters.blockedBytes;
    m_incidents.ecnMarkedPackets += counters.ecnMarkedPackets;
}

} // namespace ns3::gradsync
