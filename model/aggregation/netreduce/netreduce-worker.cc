// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/netreduce-worker.h"

#include "ns3/netreduce-header.h"

#include <algorithm>

namespace ns3::gradsync
{

NetReduceWorker::NetReduceWorker(const AggregationJob& job,
                                 const Settings& settings,
                                 uint16_t rank,
                                 uint32_t endpoint,
                                 FabricPort& port)
    : AggregationWorker(job, rank, endpoint, port),
      m_settings(settings)
{
}

void
NetReduceWorker::SendFrom(uint64_t /* first */)
{
    while (!m_halted && m_sent < GetPacketCount() && m_underWay.size() < m_settings.window)
    {
        const auto first = m_sent;
        m_sent = std::min(first + m_settings.messagePackets, GetAggregationEnd(first));
        m_underWay.push_back(m_sent);
        m_settings.transport->Send({.src = GetEndpoint(),
                                    .dst = m_next,
                                    .stream = m_settings.stream,
                                    .bytes = NetReduceHeader::BYTES + GetBytes(first, m_sent),
                                    .tag = first,
                                    .handler = this});
    }
}

void
NetReduceWorker::OnResult(const AggregationPacket& packet, AggregationStatistics& statistics)
{
    // The queue pair takes packets in order only, which is this one's order.
    const auto& header = packet.As<NetReduceHeader>();
    const auto number = header.sequence;
    if (m_halted || number != m_expected)
    {
        return;
    }
    ++m_expected;
    if (!m_underWay.empty() && m_expected == m_underWay.front())
    {
        m_underWay.pop_front();
        SendFrom(m_sent);
    }
    if (number == m_done)
    {
        ++m_done;
        Finish(number,
               {.values = packet.values, .hasOverflowed = header.hasOverflowed},
               statistics);
    }
}

uint64_t
NetReduceWorker::GetMessageStart(uint64_t packet)
{
    return packet < GetPacketCount() ? packet - GetPlace(packet) % m_settings.messagePackets
                                     : packet;
}

void
NetReduceWorker::Restart(uint64_t first)
{
    Abandon();
    m_sent = first;
    m_expected = first;
    m_underWay.clear();
    SendFrom(first);
}

void
NetReduceWorker::Equip(AggregationPacket& content,
                       FabricPacket& packet,
                       const MessagePlace& place) const
{
    const auto number = place.tag + place.index;
    content.driver = m_job.driver;
    auto& header = content.As<NetReduceHeader>();
    header = {.sequence = number, .job = m_job.number, .child = m_rank};
    if (place.index == 0)
    {
        header.messageBytes = static_cast<uint32_t>(place.bytes);
        packet.payloadBytes -= NetReduceHeader::BYTES;
    }
    content.values.clear();
    if (Knows(number)) // else it is sent again for the acknowledgement only
    {
        FillValues(number, content.values);
    }
}

/// Two windows of messages, as boxes keep.
uint64_t
NetReduceWorker::GetFirstNeeded() const
{
    const auto kept = uint64_t{2} * m_settings.window * m_settings.messagePackets;
    return m_done - std::min(m_done, kept);
}

/// Its packets said what there is to say.
void
NetReduceWorker::OnDelivered(uint64_t /* tag */)
{
}

void
NetReduceWorker::OnFailed(uint64_t tag, const std::string& reason)
{
    if (!m_halted)
    {
        Fail(tag, reason);
    }
}

void
NetReduceWorker::Halt()
{
    m_halted = true;
    Abandon();
}

/// Its connection forgets all.
void
NetReduceWorker::Abandon()
{
    m_settings.transport->Abandon(
        [this](uint32_t, uint32_t, const MessageHandler* handler) { return handler == this; });
}

} // namespace ns3::gradsync
