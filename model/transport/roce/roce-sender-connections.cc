// SPDX-License-Identifier: GPL-2.0-only
// The part of RoceSender about how connections open, move and close.
#include "ns3/roce-mirrors.h"
#include "ns3/roce-sender.h"

#include <algorithm>
#include <memory>

namespace ns3::gradsync
{

uint64_t
RoceSender::CountPackets(uint64_t bytes) const
{
    const uint64_t mtu = m_settings.mtuBytes;
    return std::max<uint64_t>((bytes + mtu - 1) / mtu, 1);
}

void
RoceSender::Post(RoceQueuePair& queuePair, const MessageSeries& series)
{
    queuePair.Post(m_messages.Take(),
                   series,
                   static_cast<uint32_t>(CountPackets(series.GetBytes(0))));
}

void
RoceSender::AddMessage(RoceQueuePair& queuePair, const Message& message)
{
    if (!queuePair.Append(message, static_cast<uint32_t>(CountPackets(message.bytes))))
    {
        Post(queuePair, {message.bytes, message.tag, message.handler});
    }
}

void
RoceSender::AddMessages(RoceQueuePair& queuePair, const MessageSeries& series)
{
    if (series.GetCount() > 1 &&
        CountPackets(series.GetLeastBytes()) == CountPackets(series.GetMostBytes()))
    {
        Post(queuePair, series);
        return;
    }
    for (uint32_t i = 0; i < series.GetCount(); ++i) // one may go on as those before
    {
        AddMessage(queuePair,
                   {queuePair.src,
                    queuePair.dst,
                    queuePair.stream,
                    series.GetBytes(i),
                    series.GetTag(i),
                    series.GetHandler(),
                    {}});
    }
}

void
RoceSender::Forget(RoceQueuePair& queuePair)
{
    auto* messages = queuePair.oldest;
    queuePair.oldest = messages->next;
    queuePair.newest = queuePair.oldest ? queuePair.newest : nullptr;
    m_messages.Give(messages);
}

bool
RoceSender::Send(const Message& message, TimeStepCount now)
{
    const RoceConnection connection{message.src, message.dst, message.stream};
    if (MayReserve(message, connection) && Reserve(connection, message, now))
    {
        return true;
    }
    auto& queuePair = Open(connection);
    if (CountPackets(message.bytes) > UINT32_MAX - queuePair.endPsn) [[unlikely]]
    {
        if (queuePair.IsDone())
        {
            Close(queuePair, true); // opened for this one only
        }
        return false;
    }
    auto& nic = GetNic(queuePair);
    nic.GetPort().Sync(now);
    const auto firstPsn = queuePair.endPsn;
    AddMessage(queuePair, message);
    if (m_mirrors) [[unlikely]]
    {
        m_mirrors->OnPost(queuePair, message, firstPsn, now);
    }
    // With selective repeat all that is lost is repeated.
    if (!message.droppable.IsEmpty() && m_settings.recovery == RECOVERY_GO_BACK_N) [[unlikely]]
    {
        MarkDroppable(queuePair, firstPsn, message.droppable);
    }
    nic.Add(queuePair);
    nic.GetPort().SourceReady(now);
    return true;
}

/// The packets that hold nothing else.
void
RoceSender::MarkDroppable(RoceQueuePair& queuePair, uint32_t firstPsn, const ByteRange& bytes)
{
    const uint64_t mtu = m_settings.mtuBytes;
    const auto first = static_cast<uint32_t>((bytes.begin + mtu - 1) / mtu);
    const auto end = static_cast<uint32_t>(bytes.end / mtu);
    if (first >= end)
    {
        return;
    }
    auto& droppable = queuePair.ProvideIncidents().droppable;
    if (!droppable)
    {
        queuePair.mayLose = true;
        droppable = std::make_unique<DroppablePackets>();
    }
    droppable->Add(firstPsn + first, firstPsn + end);
    m_mayLose = true;
}

RoceQueuePair&
RoceSender::Open(const RoceConnection& connection)
{
    const auto number = m_connections.FindNumber(connection);
    if (number != RoceConnectionTable::NONE)
    {
        return TakeTurn(number); // or before its turn, which it keeps
    }
    auto& queuePair = m_connections.Open(connection).first;
    queuePair.isAggregated = connection.stream >= NetworkAggregation::FIRST_STREAM;
    ChooseFirstPorts(queuePair);
    m_flows.Open(queuePair);
    return queuePair;
}

void
RoceSender::ChooseFirstPorts(RoceQueuePair& queuePair)
{
    queuePair.sourcePort = ChooseSourcePort(queuePair);
    queuePair.acknowledgePort = ChoosePort(queuePair.dst, ~queuePair.flowHash, queuePair.src);
}

void
RoceSender::Close(RoceQueuePair& queuePair, bool isIdle)
{
    m_flows.Close(queuePair, isIdle);
    GetNic(queuePair).StopTimeout(queuePair);
    if (queuePair.receiving)
    {
        queuePair.hasRepeated = false; // given up: nobody answers what is still under way
    }
    m_connections.Close(queuePair);
}

uint16_t
RoceSender::ChoosePort(uint32_t endpoint, uint32_t flowHash, uint32_t peer) const
{
    return m_hasChoice ? m_fabric->ChooseEndpointPort(endpoint, flowHash, peer) : 0;
}

uint16_t
RoceSender::ChooseSourcePort(const RoceQueuePair& queuePair) const
{
    return queuePair.isAggregated ? m_aggregation->GetSendingPort(queuePair.src, queuePair.stream)
                                  : ChoosePort(queuePair.src, queuePair.flowHash, queuePair.dst);
}

void
RoceSender::FollowRoutes(TimeStepCount now)
{
    for (auto* queuePair : m_connections.ListOpen())
    {
        ChoosePorts(*queuePair, now);
    }
}

void
RoceSender::ChoosePorts(RoceQueuePair& queuePair, TimeStepCount now)
{
    const auto hash = queuePair.flowHash;
    queuePair.acknowledgePort = ChoosePort(queuePair.dst, ~hash, queuePair.src);
    const auto port = ChooseSourcePort(queuePair);
    if (port == queuePair.sourcePort)
    {
        return;
    }
    GetNic(queuePair).GetPort().Sync(now);
    GetNic(queuePair).Remove(queuePair);
    queuePair.sourcePort = port;
    auto& nic = GetNic(queuePair);
    nic.GetPort().Sync(now);
    if (queuePair.IsAnswerDue(m_settings.ackEvery))
    {
        nic.StartTimeout(queuePair, now);
    }
    nic.Add(queuePair);
    nic.GetPort().SourceReady(now);
}

} // namespace ns3::gradsync
