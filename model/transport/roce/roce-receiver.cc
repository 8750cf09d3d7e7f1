// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-receiver.h"

#include "ns3/packet-pool.h"
#include "ns3/roce-sender.h"
#include "ns3/wire-format.h"

namespace ns3::gradsync
{

void
RoceReceiver::Install(const Settings& settings,
                      PacketPool& pool,
                      const RoceNics& nics,
                      RoceSender& sender)
{
    m_settings = settings;
    m_pool = &pool;
    m_nics = &nics;
    m_sender = &sender;
}

void
RoceReceiver::OnData(RoceQueuePair& queuePair, FabricPacket& packet, TimeStepCount now)
{
    if ((packet.flags & PacketFlag::CONGESTION_EXPERIENCED) != 0)
    {
        OnMarked(queuePair, now);
    }
    const bool endOfMessage = (packet.flags & PacketFlag::END_OF_MESSAGE) != 0;
    if (packet.psn != queuePair.expectedPsn || queuePair.hasGaps) [[unlikely]]
    {
        if (m_settings.recovery == RECOVERY_SELECTIVE_REPEAT)
        {
            OnDataWithGaps(queuePair, packet, now);
            return;
        }
    }
    if (packet.psn > queuePair.expectedPsn && queuePair.mayLose) [[unlikely]]
    {
        // The packet says how many of those right before it may be lost. All of them are full.
        m_lostBytes += uint64_t{queuePair.GiveUpBefore(packet.psn)} * m_settings.mtuBytes;
    }
    if (packet.psn > queuePair.expectedPsn)
    {
        if (!queuePair.nakSent)
        {
            queuePair.nakSent = true; // one a gap (IBA 9.7.5.2.8)
            Acknowledge(queuePair, packet, PacketKind::Nak, now);
        }
        return;
    }
    if (packet.psn < queuePair.expectedPsn)
    {
        // The sender went back because acknowledgements were lost: repeat them, as often as the
        // first time. A sender that skips what may be lost may not come to those.
        if (m_settings.ackEvery != 0 &&
            (endOfMessage || queuePair.mayLose || (packet.psn + 1) % m_settings.ackEvery == 0))
        {
            Acknowledge(queuePair, packet, PacketKind::Ack, now);
        }
        return;
    }
    ++queuePair.expectedPsn;
    queuePair.nakSent = false;
    TakePayload(queuePair, packet);
    const bool isDue = queuePair.expectedPsn - queuePair.lastAckedPsn >= m_settings.ackEvery;
    if (m_settings.ackEvery != 0 && (endOfMessage || isDue))
    {
        Acknowledge(queuePair, packet, PacketKind::Ack, now);
    }
    if (endOfMessage)
    {
        const auto* messages = queuePair.receiving;
        const auto index = messages->FindIndex(packet.psn);
        const auto tag = messages->series.GetTag(index);
        auto* handler = messages->series.GetHandler();
        FinishMessage(queuePair, index);
        if (m_settings.ackEvery == 0)
        {
            m_sender->AcknowledgeAtOnce(queuePair, now);
        }
        handler->OnDelivered(tag); // last: it may send, and so change everything
    }
    else if (queuePair.isReady && queuePair.nextPsn == queuePair.expectedPsn)
    {
        m_sender->Rest(queuePair);
    }
}

void
RoceReceiver::TakePayload(const RoceQueuePair& queuePair, const FabricPacket& packet)
{
    m_goodputBytes += packet.payloadBytes;
    if (!m_payloadTrace.IsEmpty()) [[unlikely]]
    {
        const auto* messages = queuePair.receiving;
        while (messages->EndsBefore(packet.psn))
        {
            messages = messages->next;
        }
        const auto message = messages->FindIndex(packet.psn);
        const auto index = packet.psn - messages->GetFirstPsn(message);
        m_payloadTrace(messages->series.GetTag(message),
                       uint64_t{index} * m_settings.mtuBytes,
                       packet.payloadBytes);
    }
}

void
RoceReceiver::OnDataWithGaps(RoceQueuePair& queuePair, FabricPacket& packet, TimeStepCount now)
{
    auto& received = queuePair.ProvideGaps().received;
    received.AdvanceTo(queuePair.expectedPsn);
    if (!received.Insert(packet.psn))
    {
        // Sent twice: an acknowledgement was lost, or it came later than the sender thought.
        Acknowledge(queuePair, packet, PacketKind::Ack, now);
        return;
    }
    TakePayload(queuePair, packet);
    if (packet.psn != queuePair.expectedPsn)
    {
        // One for each packet out of order (IRN, SIGCOMM'18, section 3.1).
        Acknowledge(queuePair, packet, PacketKind::Nak, now);
        return;
    }
    const auto first = queuePair.receiving->FindIndex(queuePair.expectedPsn); // not delivered
    while (received.Contains(queuePair.expectedPsn))
    {
        ++queuePair.expectedPsn;
    }
    const bool closesGap = queuePair.expectedPsn != packet.psn + 1;
    received.AdvanceTo(queuePair.expectedPsn);
    const bool isDue = queuePair.expectedPsn - queuePair.lastAckedPsn >= m_settings.ackEvery;
    const bool endsMessage = queuePair.receiving->GetFirstPsn(first + 1) <= queuePair.expectedPsn;
    if (closesGap || isDue || endsMessage || !received.IsEmpty())
    {
        Acknowledge(queuePair, packet, PacketKind::Ack, now);
    }
    DeliverCompleted(queuePair, first);
}

/// \param index the first of those in hand that is not delivered
void
RoceReceiver::DeliverCompleted(RoceQueuePair& queuePair, uint32_t index)
{
    while (queuePair.receiving &&
           queuePair.receiving->GetFirstPsn(index + 1) <= queuePair.expectedPsn)
    {
        const auto* messages = queuePair.receiving;
        const auto tag = messages->series.GetTag(index);
        auto* handler = messages->series.GetHandler();
        FinishMessage(queuePair, index);
        index = queuePair.receiving == messages ? index + 1 : 0;
        // It may send, on this connection too. The acknowledgement is still under way, so that the
        // connection stays open.
        handler->OnDelivered(tag);
    }
}

/// The receiver goes on to the next message.
void
RoceReceiver::FinishMessage(RoceQueuePair& queuePair, uint32_t index)
{
    if (index + 1 == queuePair.receiving->series.GetCount())
    {
        queuePair.receiving = queuePair.receiving->next;
        if (queuePair.isMirror) [[unlikely]]
        {
            m_sender->Forget(queuePair);
        }
    }
}

void
RoceReceiver::Acknowledge(RoceQueuePair& queuePair,
                          FabricPacket& data,
                          PacketKind kind,
                          TimeStepCount now)
{
    queuePair.lastAckedPsn = queuePair.expectedPsn;
    auto* packet = MakeControlPacket(queuePair, kind, m_settings.ackWireBytes);
    packet->psn = queuePair.expectedPsn;
    if (kind == PacketKind::Nak)
    {
        const auto offset = data.psn - queuePair.expectedPsn;
        packet->sackOffset = static_cast<uint16_t>(offset <= UINT16_MAX ? offset : 0);
    }
    packet->feedback = m_settings.countsMarks ? queuePair.CountMarked() : data.feedback;
    if (m_settings.returnsTelemetry)
    {
        PacketPool::MoveTelemetry(data, *packet);
    }
    (*m_nics)[queuePair.dst][queuePair.acknowledgePort].GetPort().SendControl(packet, now);
}

void
RoceReceiver::OnMarked(RoceQueuePair& queuePair, TimeStepCount now)
{
    auto& incidents = queuePair.ProvideIncidents();
    ++incidents.markedPackets;
    // DCQCN's notification point (SIGCOMM'15, section 3.1): one notification an interval.
    if (m_settings.notificationInterval == 0 || now < incidents.nextNotification)
    {
        return;
    }
    incidents.nextNotification = now + m_settings.notificationInterval;
    auto* packet = MakeControlPacket(queuePair, PacketKind::Cnp, wire::ROCE_CNP_BYTES);
    (*m_nics)[queuePair.dst][queuePair.acknowledgePort].GetPort().SendControl(packet, now);
}

FabricPacket*
RoceReceiver::MakeControlPacket(const RoceQueuePair& queuePair, PacketKind kind, uint32_t wireBytes)
{
    // To the sender of the data.
    auto* packet = m_pool->Take();
    packet->connection = queuePair.index;
    packet->generation = queuePair.generation;
    packet->destination = queuePair.src;
    packet->flowHash = ~queuePair.flowHash;
    packet->payloadBytes = 0;
    packet->wireBytes = static_cast<uint16_t>(wireBytes);
    packet->kind = kind;
    packet->flags = 0;
    return packet;
}

} // namespace ns3::gradsync
