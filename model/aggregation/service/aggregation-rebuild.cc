// SPDX-License-Identifier: GPL-2.0-only
// The part of AggregationService that lives with switches and links that fail.
#include "ns3/aggregation-service.h"
#include "ns3/log.h"

#include <fmt/format.h>
#include <stdexcept>
#include <string>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncAggregationService");

void
AggregationService::SetRebuildHandler(RebuildHandler handler)
{
    m_onRebuild = std::move(handler);
}

void
AggregationService::SetAggregatorState(NodeId node, bool adds)
{
    NS_LOG_INFO("node " << node << (adds ? " aggregates" : " does not aggregate any more"));
    if (adds)
    {
        m_network.plain.erase(node);
        return;
    }
    m_network.plain.insert(node);
    const auto found = m_programs.find(node);
    if (found != m_programs.end())
    {
        found->second.LoseJobs();
    }
}

void
AggregationService::AvoidInAggregations(const AggregationOutage& outage)
{
    m_network.outage = outage;
    m_network.outage.switches.insert(m_incapable.begin(), m_incapable.end());
    for (const auto& [group, session] : m_sessions)
    {
        if (session->GetFailure().empty() && session->IsHit(outage))
        {
            Rebuild(*session);
        }
    }
}

void
AggregationService::Rebuild(AggregationSession& session)
{
    bool hasOthers = false;
    std::string refusal;
    session.RemoveRoles();
    session.ReleaseMemory();
    try
    {
        hasOthers = session.Rebuild();
    }
    catch (const std::invalid_argument& error)
    {
        refusal = error.what();
    }
    catch (const AggregationDenied& denied)
    {
        refusal = denied.what();
    }
    if (!refusal.empty())
    {
        session.RemoveRoles();
        session.ReleaseMemory();
        session.GiveUp(fmt::format("no switches aggregate any more: {}", refusal));
        return;
    }
    if (hasOthers)
    {
        ++m_network.statistics.rebuilds;
        NS_LOG_INFO("group " << session.GetId() << " has other switches");
        if (m_onRebuild)
        {
            m_onRebuild(session.GetId());
        }
    }
}

} // namespace ns3::gradsync
