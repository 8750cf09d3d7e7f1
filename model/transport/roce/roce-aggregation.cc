// SPDX-License-Identifier: GPL-2.0-only
// The part of RoceTransport that hands aggregations on.
#include "ns3/roce-transport.h"

#include <utility>

namespace ns3::gradsync
{

void
RoceTransport::SetAggregation(const Ptr<NetworkAggregation>& aggregation)
{
    m_aggregation = aggregation;
}

Ptr<NetworkAggregation>
RoceTransport::GetAggregation() const
{
    return m_aggregation;
}

uint32_t
RoceTransport::OpenAggregation(const AggregationGroup& group)
{
    return m_aggregation ? m_aggregation->OpenAggregation(group)
                         : Transport::OpenAggregation(group);
}

void
RoceTransport::CloseAggregation(uint32_t group)
{
    m_aggregation->CloseAggregation(group);
}

void
RoceTransport::Aggregate(const AggregationMessage& message)
{
    m_aggregation->Aggregate(message);
}

void
RoceTransport::SetRebuildHandler(RebuildHandler handler)
{
    if (m_aggregation)
    {
        m_aggregation->SetRebuildHandler(std::move(handler));
    }
}

void
RoceTransport::SetAggregatorState(NodeId node, bool adds)
{
    if (m_aggregation)
    {
        m_aggregation->SetAggregatorState(node, adds);
    }
}

void
RoceTransport::AvoidInAggregations(const AggregationOutage& outage)
{
    if (m_aggregation)
    {
        m_aggregation->AvoidInAggregations(outage);
    }
}

AggregationStatistics
RoceTransport::GetAggregationStatistics() const
{
    return m_aggregation ? m_aggregation->GetStatistics() : AggregationStatistics();
}

} // namespace ns3::gradsync
