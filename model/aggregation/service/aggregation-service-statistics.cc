// SPDX-License-Identifier: GPL-2.0-only
// The part of AggregationService that counts.
#include "ns3/aggregation-service.h"

namespace ns3::gradsync
{

/// Keeps the counters of workers that go.
void
AggregationService::Retire(const AggregationSession& session)
{
    for (const auto& worker : session.GetWorkers())
    {
        m_network.statistics.retransmissions += worker->GetRetransmissions();
        m_retransmittedBytes += worker->GetRetransmittedBytes();
        m_resultBytes += worker->GetResultBytes();
    }
}

AggregationStatistics
AggregationService::GetStatistics() const
{
    auto statistics = m_network.statistics;
    for (const auto& [group, session] : m_sessions)
    {
        for (const auto& worker : session->GetWorkers())
        {
            statistics.retransmissions += worker->GetRetransmissions();
        }
    }
    for (const auto& [node, programs] : m_programs)
    {
        programs.AddStatistics(statistics);
    }
    return statistics;
}

void
AggregationService::AddStatistics(TransportStatistics& total) const
{
    total.goodputBytes += m_resultBytes;
    total.retransmittedBytes += m_retransmittedBytes;
    total.retransmittedPackets += GetStatistics().retransmissions;
    for (const auto& [node, programs] : m_programs)
    {
        total.droppedPackets += programs.GetStrays();
    }
    for (const auto& [group, session] : m_sessions)
    {
        for (const auto& worker : session->GetWorkers())
        {
            total.goodputBytes += worker->GetResultBytes();
            total.retransmittedBytes += worker->GetRetransmittedBytes();
        }
    }
}

} // namespace ns3::gradsync
