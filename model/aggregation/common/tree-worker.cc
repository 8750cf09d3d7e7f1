// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/tree-worker.h"

#include "ns3/tree-header.h"

#include <algorithm>

namespace ns3::gradsync
{

TreeWorker::TreeWorker(const AggregationJob& job,
                       const Settings& settings,
                       uint16_t rank,
                       uint32_t endpoint,
                       FabricPort& port)
    : ResendingWorker(job, settings.timeout, rank, endpoint, port),
      m_settings(settings)
{
}

void
TreeWorker::SendFrom(uint64_t /* first */)
{
    while (!IsHalted() && m_next < GetPacketCount())
    {
        const auto oldest = GetUnderWay().empty() ? m_next : *GetUnderWay().begin();
        if (m_next - oldest >= m_settings.credits)
        {
            return;
        }
        Launch(m_next++);
    }
}

/// A packet is as long as what is in it.
void
TreeWorker::Send(uint64_t number)
{
    auto* packet = MakePacket(number);
    auto& content = m_job.contents->Get(*packet);
    if (m_job.isSparse)
    {
        packet->payloadBytes = static_cast<uint16_t>(BYTES_PER_VALUE * content.values.size());
    }
    packet->wireBytes = static_cast<uint16_t>(m_settings.headerBytes + packet->payloadBytes);
    content.As<TreeHeader>() = {.sequence = number, .job = m_job.number, .child = m_rank};
    Transmit(packet);
}

void
TreeWorker::OnResult(const AggregationPacket& packet, AggregationStatistics& statistics)
{
    const auto& header = packet.As<TreeHeader>();
    const auto number = header.sequence;
    if (!TakeAnswer(number))
    {
        return;
    }
    SendFrom(m_next);
    Settle();
    if (m_taken.Take(number)) // else it was sent once more, for the sake of others
    {
        Finish(number,
               {.values = packet.values, .hasOverflowed = header.hasOverflowed},
               statistics);
    }
}

std::string
TreeWorker::DescribeSilence() const
{
    return m_settings.silence;
}

void
TreeWorker::Restart(std::span<TreeWorker* const> workers)
{
    uint64_t first = UINT64_MAX;
    for (const auto* worker : workers)
    {
        first = worker->IsHalted() ? first : std::min(first, worker->m_taken.GetFirstMissing());
    }
    for (auto* worker : workers)
    {
        if (!worker->IsHalted())
        {
            worker->GoBack(first);
        }
    }
}

void
TreeWorker::GoBack(uint64_t first)
{
    ForgetUnderWay();
    m_next = first;
    SendFrom(first);
}

/// Others may lack what it has, as many as it may have under way.
uint64_t
TreeWorker::GetFirstNeeded() const
{
    const auto missing = m_taken.GetFirstMissing();
    return missing - std::min<uint64_t>(missing, m_settings.credits);
}

} // namespace ns3::gradsync
