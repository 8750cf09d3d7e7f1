// SPDX-License-Identifier: GPL-2.0-only
// The part of RoceSender that packets go through.
#include "ns3/roce-sender.h"

#include "ns3/packet-pool.h"
#include "ns3/roce-mirrors.h"
#include "ns3/wire-format.h"

#include <algorithm>

namespace ns3::gradsync
{

void
RoceSender::Install(const Settings& settings,
                    FabricNetwork& fabric,
                    const Topology& topology,
                    NetworkAggregation* aggregation)
{
    m_settings = settings;
    m_fabric = &fabric;
    m_topology = &topology;
    m_aggregation = aggregation;
    size_t nics = 0;
    for (const auto node : topology.GetEndpoints())
    {
        const auto ports = topology.GetPorts(node).size();
        m_hasChoice = m_hasChoice || ports > 1;
        nics += ports;
    }
    // Where there are very many, each has few connections: those need not wait for memory's sake.
    constexpr uint64_t LEAST = 16;
    m_keptAtNic =
        settings.keptQueuePairs == 0
            ? 0
            : std::max<uint64_t>(settings.keptQueuePairs / std::max<size_t>(nics, 1), LEAST);
}

FabricPacket*
RoceSender::MakeDataPacket(RoceQueuePair& queuePair, TimeStepCount start)
{
    const bool isRepair = queuePair.HasRepair();
    const auto psn = isRepair ? queuePair.TakeRepair() : queuePair.nextPsn;
    const bool wentBefore = isRepair || queuePair.TakeNext();
    const auto* messages = isRepair ? &queuePair.FindMessages(psn) : queuePair.sending;
    const auto& series = messages->series;
    const auto message = messages->FindIndex(psn);
    const auto index = psn - messages->GetFirstPsn(message);
    const bool isLast = index + 1 == messages->packetCount;
    const auto mtu = m_settings.mtuBytes;
    const auto payload =
        static_cast<uint32_t>(isLast ? series.GetBytes(message) - uint64_t{index} * mtu : mtu);
    if (isLast && !isRepair && message + 1 == series.GetCount())
    {
        queuePair.sending = messages->next;
    }
    if (wentBefore)
    {
        queuePair.hasRepeated = true;
        ++m_retransmittedPackets;
        m_retransmittedBytes += payload;
    }
    else if (index == 0 && m_mirrors && RoceConnectionTable::IsReservation(queuePair.number))
    {
        m_mirrors->OnFirst(queuePair, *messages, message);
    }
    auto* packet = m_fabric->GetPool().Take();
    packet->connection = queuePair.index;
    packet->generation = queuePair.generation;
    packet->psn = psn;
    packet->destination = queuePair.dst;
    packet->flowHash = queuePair.flowHash;
    packet->payloadBytes = static_cast<uint16_t>(payload);
    packet->wireBytes =
        static_cast<uint16_t>(wire::RoceDataBytes(payload + m_settings.telemetryBytes));
    packet->kind = PacketKind::Data;
    packet->flags =
        isLast ? m_settings.dataFlags | PacketFlag::END_OF_MESSAGE : m_settings.dataFlags;
    if (queuePair.mayLose) [[unlikely]]
    {
        packet->flags |= queuePair.incidents->droppable->Contains(psn) ? PacketFlag::DROPPABLE : 0;
        queuePair.SkipDroppable();
    }
    m_flows.OnSend(queuePair, *packet, start);
    if (queuePair.isAggregated) [[unlikely]]
    {
        m_aggregation->Equip(*packet,
                             queuePair.src,
                             queuePair.stream,
                             {series.GetTag(message), series.GetBytes(message), index});
    }
    return packet;
}

void
RoceSender::OnAcknowledgement(RoceQueuePair& queuePair,
                              const FabricPacket& packet,
                              TimeStepCount now)
{
    auto& nic = GetNic(queuePair);
    nic.GetPort().Sync(now);
    m_flows.OnAcknowledgement(queuePair, packet, now);
    if (packet.psn > queuePair.ackedPsn && !Advance(queuePair, packet.psn, now))
    {
        return;
    }
    if (packet.kind == PacketKind::Nak)
    {
        OnGap(queuePair, packet, now);
    }
    if (queuePair.MaySend() && !queuePair.isReady)
    {
        nic.Add(queuePair);
        nic.GetPort().SourceReady(now);
    }
}

void
RoceSender::OnNotification(RoceQueuePair& queuePair, TimeStepCount now)
{
    GetNic(queuePair).GetPort().Sync(now);
    m_flows.OnNotification(queuePair, now);
}

/// \return false when the connection has no queue pair any more
bool
RoceSender::Advance(RoceQueuePair& queuePair, uint32_t ackedPsn, TimeStepCount now)
{
    queuePair.Acknowledge(ackedPsn, m_messages);
    if (queuePair.IsDone())
    {
        Close(queuePair, true);
        return false;
    }
    if (MayTakeBack(queuePair))
    {
        TakeBack(queuePair);
        return false;
    }
    if (queuePair.IsAnswerDue(m_settings.ackEvery))
    {
        GetNic(queuePair).StartTimeout(queuePair, now);
    }
    else
    {
        GetNic(queuePair).StopTimeout(queuePair);
    }
    return true;
}

void
RoceSender::OnGap(RoceQueuePair& queuePair, const FabricPacket& packet, TimeStepCount now)
{
    const bool isOldest = packet.psn == queuePair.ackedPsn;
    if (m_settings.recovery == RECOVERY_GO_BACK_N)
    {
        if (isOldest && queuePair.nextPsn > packet.psn)
        {
            TellLoss(queuePair, false, now);
            queuePair.GoBack();
            GetNic(queuePair).StopTimeout(queuePair);
        }
        return;
    }
    const auto arrived = packet.psn + packet.sackOffset;
    if (arrived > queuePair.ackedPsn &&
        queuePair.RepairBefore(arrived, m_settings.reorderTolerance))
    {
        TellLoss(queuePair, false, now);
    }
}

void
RoceSender::OnTimeout(RoceQueuePair& queuePair, TimeStepCount now)
{
    if (++queuePair.ProvideIncidents().retries > m_settings.retryLimit)
    {
        Fail(queuePair);
        return;
    }
    auto& nic = GetNic(queuePair);
    // It begins anew when a packet that is answered has left again, which PFC may put off.
    nic.StopTimeout(queuePair);
    TellLoss(queuePair, true, now);
    if (queuePair.mayLose)
    {
        queuePair.GiveUpSent(m_messages); // else a window full of them would never open again
    }
    if (m_settings.recovery == RECOVERY_GO_BACK_N)
    {
        queuePair.GoBack();
    }
    else
    {
        queuePair.RepairAll();
    }
    nic.Add(queuePair);
    nic.GetPort().SourceReady(now);
}

} // namespace ns3::gradsync
