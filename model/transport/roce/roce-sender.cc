// SPDX-License-Identifier: GPL-2.0-only
// The sending half of RoceTransport: packets, acknowledgements, recovery.
#include "ns3/roce-transport.h"
#include "ns3/time-range.h"
#include "ns3/wire-format.h"

#include <algorithm>

namespace ns3::gradsync
{

FabricPacket*
RoceTransport::MakeDataPacket(RoceQueuePair& queuePair, TimeStepCount start)
{
    const bool isRepair = queuePair.HasRepair();
    const auto psn = isRepair ? queuePair.TakeRepair() : queuePair.nextPsn;
    const bool wentBefore = isRepair || queuePair.TakeNext();
    const auto* message = isRepair ? &queuePair.FindMessage(psn) : queuePair.sending;
    const auto index = psn - message->firstPsn;
    const bool isLast = index + 1 == message->packetCount;
    const auto payload = isLast ? message->bytes - uint64_t{index} * m_mtuBytes : m_mtuBytes;
    if (isLast && !isRepair)
    {
        queuePair.sending = message->next;
    }
    if (wentBefore)
    {
        ++m_retransmittedPackets;
        m_retransmittedBytes += payload;
    }
    auto* packet = m_fabric->GetPool().Take();
    packet->connection = queuePair.index;
    packet->generation = queuePair.generation;
    packet->psn = psn;
    packet->destination = queuePair.dst;
    packet->flowHash = queuePair.flowHash;
    packet->payloadBytes = static_cast<uint16_t>(payload);
    packet->wireBytes = static_cast<uint16_t>(GetDataBytes(static_cast<uint32_t>(payload)));
    packet->kind = PacketKind::Data;
    packet->flags = isLast ? m_dataFlags | PacketFlag::END_OF_MESSAGE : m_dataFlags;
    if (m_control)
    {
        Equip(queuePair, *packet, start);
    }
    if (queuePair.isAggregated) [[unlikely]]
    {
        m_aggregation->Equip(*packet,
                             queuePair.src,
                             queuePair.stream,
                             {message->tag, message->bytes, index});
    }
    return packet;
}

void
RoceTransport::Equip(const RoceQueuePair& queuePair, FabricPacket& packet, TimeStepCount start)
{
    auto& flow = *queuePair.flow;
    packet.feedback = static_cast<uint32_t>(start >> m_stampShift);
    if (m_signals.telemetry)
    {
        m_fabric->GetPool().AttachTelemetry(packet);
    }
    if (flow.stepsPerByte > 0.0)
    {
        Decide(queuePair, start, [&](auto& own) {
            m_control->OnSent(own, packet.wireBytes, start); // may change the pace
        });
        flow.due = AddTimeSteps(start, ToTimeSteps(packet.wireBytes * flow.stepsPerByte));
    }
}

void
RoceTransport::OnAcknowledgement(RoceQueuePair& queuePair,
                                 const FabricPacket& packet,
                                 TimeStepCount now)
{
    auto& nic = GetNic(queuePair);
    nic.GetPort().Sync(now);
    if (m_control)
    {
        OnFeedback(queuePair, packet, now);
    }
    if (packet.psn > queuePair.ackedPsn)
    {
        Advance(queuePair, packet.psn, now);
        if (queuePair.IsDone())
        {
            return; // closed
        }
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
RoceTransport::OnFeedback(RoceQueuePair& queuePair, const FabricPacket& packet, TimeStepCount now)
{
    CongestionFeedback feedback{};
    feedback.ackedPsn = std::max(packet.psn, queuePair.ackedPsn);
    feedback.nextPsn = queuePair.nextPsn;
    feedback.newPackets = feedback.ackedPsn - queuePair.ackedPsn;
    if (m_signals.ecn)
    {
        // Acknowledgements may overtake each other when routes change.
        const auto marks = std::max(packet.feedback, queuePair.marksSeen);
        feedback.markedPackets = marks - queuePair.marksSeen;
        queuePair.marksSeen = marks;
    }
    if (m_signals.delay)
    {
        // Differences of 32-bit stamps are right up to 4 s.
        const auto stamp = static_cast<uint32_t>(now >> m_stampShift);
        feedback.roundTrip = static_cast<TimeStepCount>(stamp - packet.feedback) << m_stampShift;
    }
    if ((packet.flags & PacketFlag::TELEMETRY) != 0)
    {
        feedback.telemetry = &m_fabric->GetPool().GetTelemetry(packet);
    }
    if (queuePair.flow != &m_freshFlow)
    {
        Decide(queuePair, now, [&](auto& own) {
            m_control->OnAcknowledgement(own, feedback, now);
        });
    }
}

void
RoceTransport::OnNotification(RoceQueuePair& queuePair, TimeStepCount now)
{
    if (m_control)
    {
        GetNic(queuePair).GetPort().Sync(now);
        OwnFlow(queuePair);
        Decide(queuePair, now, [&](auto& own) { m_control->OnNotification(own, now); });
    }
}

void
RoceTransport::Advance(RoceQueuePair& queuePair, uint32_t ackedPsn, TimeStepCount now)
{
    queuePair.Acknowledge(ackedPsn, m_messages);
    if (queuePair.IsDone())
    {
        Close(queuePair);
    }
    else if (queuePair.GetInFlight() > 0)
    {
        GetNic(queuePair).Touch(queuePair, now);
    }
    else
    {
        GetNic(queuePair).Forget(queuePair);
    }
}

void
RoceTransport::OnGap(RoceQueuePair& queuePair, const FabricPacket& packet, TimeStepCount now)
{
    const bool isOldest = packet.psn == queuePair.ackedPsn;
    if (m_recovery == RECOVERY_GO_BACK_N)
    {
        if (isOldest && queuePair.nextPsn > packet.psn)
        {
            TellLoss(queuePair, false, now);
            queuePair.GoBack();
        }
        return;
    }
    const auto arrived = packet.psn + packet.sackOffset;
    if (arrived > queuePair.ackedPsn && queuePair.RepairBefore(arrived, m_reorderTolerance))
    {
        TellLoss(queuePair, false, now);
    }
}

void
RoceTransport::OnTimeout(RoceQueuePair& queuePair, TimeStepCount now)
{
    if (++queuePair.retries > m_retryLimit)
    {
        Fail(queuePair);
        return;
    }
    auto& nic = GetNic(queuePair);
    nic.Touch(queuePair, now);
    TellLoss(queuePair, true, now);
    if (m_recovery == RECOVERY_GO_BACK_N)
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
