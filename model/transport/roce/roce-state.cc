// SPDX-License-Identifier: GPL-2.0-only
// What decides how RoCE goes on: the parts of its classes that write it down.
#include "ns3/roce-transport.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr auto UNDER_WAY = "connections have lost packets, or messages under way";

void
AddConnection(const RoceConnection& connection, StateWords& words)
{
    words.Add(connection.src);
    words.Add(connection.dst);
    words.Add(connection.stream);
}

RoceConnection
GetConnection(const RoceQueuePair& queuePair)
{
    return {queuePair.src, queuePair.dst, queuePair.stream};
}

bool
IsBefore(const RoceConnection& one, const RoceConnection& other)
{
    return std::tie(one.src, one.dst, one.stream) < std::tie(other.src, other.dst, other.stream);
}

void
AddDecisions(const CongestionFlow& flow, StateWords& words)
{
    words.Add(flow.windowPackets);
    words.Add(flow.stepsPerByte);
    words.AddDeadline(flow.due);
}

/// Of messages in a row those that are not acknowledged.
void
AddMessages(const RoceMessages& messages, const RoceQueuePair& queuePair, StateWords& words)
{
    const auto base = queuePair.ackedPsn;
    const bool isOldest = &messages == queuePair.oldest;
    const auto sending =
        &messages == queuePair.sending ? messages.FindIndex(queuePair.nextPsn) : UINT32_MAX;
    for (auto i = isOldest ? messages.FindIndex(base) : 0; i < messages.series.GetCount(); ++i)
    {
        words.Add(messages.series.GetBytes(i));
        words.Add(messages.GetFirstPsn(i) - base);
        words.Add(messages.packetCount);
        words.Add(i == sending);
    }
}

/// Sequence numbers count from the first that is not acknowledged: they begin anew only when a
/// connection closes.
void
AddQueuePair(const RoceQueuePair& queuePair, StateWords& words)
{
    const auto base = queuePair.ackedPsn;
    static const RoceIncidents none{};
    const auto& incidents = queuePair.incidents ? *queuePair.incidents : none;
    if (queuePair.hasGaps || queuePair.nakSent || incidents.retries > 0 || queuePair.receiving ||
        queuePair.isAggregated)
    {
        words.Refuse(UNDER_WAY);
    }
    for (const auto psn : {queuePair.expectedPsn,
                           queuePair.lastAckedPsn,
                           queuePair.nextPsn,
                           queuePair.endPsn,
                           queuePair.repeats ? incidents.highestPsn : queuePair.nextPsn})
    {
        words.Add(psn - base);
    }
    words.Add(incidents.markedPackets - incidents.marksSeen);
    words.AddDeadline(incidents.nextNotification);
    words.Add(queuePair.acknowledgePort);
    words.Add(queuePair.sourcePort);
    words.Add(queuePair.isReady);
    words.Add(queuePair.isTimed);
    words.Add(queuePair.repeats);
    for (const auto* messages = queuePair.oldest; messages; messages = messages->next)
    {
        AddMessages(*messages, queuePair, words);
    }
    words.EndList();
}

} // namespace

void
RoceNic::AddState(StateWords& words) const
{
    if (m_silent)
    {
        words.Refuse("a host does not send");
    }
    for (size_t place = 0; place < m_turns.GetSize(); ++place)
    {
        if (const auto* queuePair = m_sender->FindQueuePair(m_turns.Get(place)))
        {
            AddConnection(GetConnection(*queuePair), words);
            words.Add(queuePair->isClosed);
        }
    }
    words.EndList();
    m_timed.ForEach([this, &words](uint32_t index) {
        const auto& queuePair = *m_sender->FindQueuePair(index);
        AddConnection(GetConnection(queuePair), words);
        words.AddTime(queuePair.timedSince);
    });
    words.EndList();
    auto paced = m_paced;
    std::sort(paced.begin(), paced.end(), [](const auto& a, const auto& b) { return b > a; });
    for (const auto& [due, order, queuePair] : paced)
    {
        AddConnection(GetConnection(*queuePair), words);
        words.Add(queuePair->isClosed);
        words.AddTime(due);
    }
    words.EndList();
    words.Add(m_wakeAt == INT64_MAX ? INT64_MAX : m_wakeAt - words.GetNow());
    // Not when the timer comes: it never comes later than a timeout, and until one is over it only
    // sets itself anew.
}

bool
RoceNic::IsAtRest() const
{
    return m_turns.IsEmpty() && m_timed.IsEmpty() && m_paced.empty() && m_wakeAt == INT64_MAX &&
           !m_silent;
}

void
RoceFlows::AddState(const RoceQueuePair& queuePair, StateWords& words) const
{
    words.Add(queuePair.flow == &m_fresh);
    if (queuePair.flow != &m_fresh)
    {
        AddDecisions(*queuePair.flow, words);
        m_control->AddState(*queuePair.flow, queuePair.ackedPsn, words);
    }
}

void
RoceFlows::AddState(StateWords& words) const
{
    if (m_isFollowed || m_settings.signals.telemetry)
    {
        words.Refuse("flows are followed, or measure links");
    }
    if (m_settings.signals.delay)
    {
        // Time stamps are rounded.
        words.Add(words.GetNow() & ((TimeStepCount{1} << m_stampShift) - 1));
    }
    std::vector<std::pair<RoceConnection, const KeptFlow*>> kept;
    kept.reserve(m_kept.size());
    for (const auto& [connection, flow] : m_kept)
    {
        kept.emplace_back(connection, &flow);
    }
    std::sort(kept.begin(), kept.end(), [](const auto& one, const auto& other) {
        return IsBefore(one.first, other.first);
    });
    for (const auto& [connection, own] : kept)
    {
        AddConnection(connection, words);
        words.Add(own->sourcePort);
        AddDecisions(*own->flow, words);
        m_control->AddState(*own->flow, 0, words);
    }
}

void
RoceFlows::AddState(const FabricPacket& packet,
                    const RoceQueuePair& queuePair,
                    StateWords& words) const
{
    if (packet.kind == PacketKind::Cnp)
    {
        return;
    }
    if (packet.kind != PacketKind::Data && m_settings.signals.ecn)
    {
        words.Add(packet.feedback - queuePair.CountSeenMarks());
    }
    else if (m_settings.signals.delay)
    {
        words.Add(static_cast<uint32_t>(words.GetNow() >> m_stampShift) - packet.feedback);
    }
}

void
RoceTransport::AddState(StateWords& words)
{
    if (m_capture || !m_recoveryTrace.IsEmpty() || !m_payloadTrace.IsEmpty())
    {
        words.Refuse("packets are watched");
    }
    if (m_sender.GetRetransmittedPackets() > 0)
    {
        // How duplicates are answered depends on sequence numbers themselves.
        words.Refuse("packets were sent again");
    }
    if (m_sender.MayLose())
    {
        words.Refuse("packets may be lost");
    }
    m_fabric->AddState(
        [this](const FabricPacket& packet, StateWords& to) { AddPacketState(packet, to); },
        words);
    if (m_connections.IsAnyWaiting())
    {
        words.Refuse(UNDER_WAY);
    }
    auto open = m_connections.ListOpen();
    std::sort(open.begin(), open.end(), [](const auto* one, const auto* other) {
        return IsBefore(GetConnection(*one), GetConnection(*other));
    });
    for (const auto* queuePair : open)
    {
        AddConnection(GetConnection(*queuePair), words);
        AddQueuePair(*queuePair, words);
        m_flows.AddState(*queuePair, words);
        words.AddGrowing(queuePair->endPsn);
    }
    words.EndList();
    for (uint32_t endpoint = 0; endpoint < m_nics.size(); ++endpoint)
    {
        for (size_t port = 0; port < m_fabric->GetEndpoint(endpoint).GetPortCount(); ++port)
        {
            if (const auto& nic = m_nics[endpoint][port]; !nic.IsAtRest())
            {
                words.Add(endpoint);
                words.Add(port);
                nic.AddState(words);
            }
        }
    }
    words.EndList();
    m_flows.AddState(words);
}

/// Of which connection a packet is, and what it says of it; nobody takes one of a closed one.
void
RoceTransport::AddPacketState(const FabricPacket& packet, StateWords& words) const
{
    const auto* queuePair = m_connections.Find(packet.connection, packet.generation);
    words.Add(queuePair != nullptr);
    if (!queuePair)
    {
        return;
    }
    AddConnection(GetConnection(*queuePair), words);
    if (packet.kind != PacketKind::Cnp)
    {
        words.Add(packet.psn - queuePair->ackedPsn);
    }
    m_flows.AddState(packet, *queuePair, words);
}

} // namespace ns3::gradsync
