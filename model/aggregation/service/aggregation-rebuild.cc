// SPDX-License-Identifier: GPL-2.0-only
// The part of SlotAggregation that lives with switches and links that fail.
#include "ns3/log.h"
#include "ns3/slot-aggregation.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncAggregationRebuild");

void
SlotAggregation::SetRebuildHandler(RebuildHandler handler)
{
    m_onRebuild = std::move(handler);
}

void
SlotAggregation::SetAggregatorState(NodeId node, bool adds)
{
    NS_LOG_INFO("node " << node << (adds ? " adds up" : " does not add up any more"));
    if (adds)
    {
        m_plain.erase(node);
        return;
    }
    m_plain.insert(node);
    const auto found = m_programs.find(node);
    if (found == m_programs.end())
    {
        return;
    }
    if (found->second.slots)
    {
        found->second.slots->LoseJobs();
    }
    if (found->second.atp)
    {
        found->second.atp->LoseJobs();
    }
    if (found->second.ring)
    {
        found->second.ring->LoseJobs();
    }
}

void
SlotAggregation::AvoidInAggregations(const AggregationOutage& outage)
{
    m_outage = outage;
    for (const auto& [group, session] : m_sessions)
    {
        if (session->failure.empty() && IsHit(*session))
        {
            Rebuild(*session);
        }
    }
}

/// What a session uses is out of order. Its way to a parameter server is that of the routes.
bool
SlotAggregation::IsHit(const Session& session) const
{
    return session.server ||
           std::ranges::any_of(session.adding,
                               [this](NodeId node) { return m_outage.switches.contains(node); }) ||
           std::ranges::any_of(session.tree.links, [this](LinkId link) {
               return !m_outage.links.empty() && m_outage.links[link];
           });
}

void
SlotAggregation::Rebuild(Session& session)
{
    const auto before = session.adding;
    RemoveRoles(session);
    try
    {
        if (session.server)
        {
            RebuildAtp(session);
        }
        else if (session.IsNetReduce())
        {
            RebuildNetReduce(session);
        }
        else
        {
            RebuildSlots(session);
        }
    }
    catch (const std::invalid_argument& error)
    {
        RemoveRoles(session);
        GiveUp(session, fmt::format("no switches add up any more: {}", error.what()));
        return;
    }
    if (!session.server || session.adding != before)
    {
        ++m_statistics.rebuilds;
        NS_LOG_INFO("group " << session.group << " has other switches");
        if (m_onRebuild)
        {
            m_onRebuild(session.group);
        }
    }
}

void
SlotAggregation::GiveUp(Session& session, const std::string& reason)
{
    NS_LOG_WARN("group " << session.group << " gives up: " << reason);
    session.failure = reason;
    for (const auto& worker : session.workers)
    {
        worker->GiveUp(reason);
    }
}

void
SlotAggregation::RebuildSlots(Session& session)
{
    if (!m_userPrograms.empty())
    {
        throw std::invalid_argument("switches run programs that others configure");
    }
    BuildTree(session);
    for (size_t member = 0; member < session.slotWorkers.size(); ++member)
    {
        auto& worker = *session.slotWorkers[member];
        worker.SetPort(
            m_fabric->GetEndpoint(worker.GetEndpoint()).GetPort(session.tree.memberPorts[member]));
    }
    if (m_sharing == SHARING_STATIC)
    {
        TakeSlots(session);
    }
    else
    {
        RequestSlots();
    }
}

/// The server has all that counts: what is lost on the way is sent again in time.
void
SlotAggregation::RebuildAtp(Session& session)
{
    AddAtpRoles(session);
    for (const auto& worker : session.workers)
    {
        worker->SetPort(ChooseAtpPort(session, worker->GetEndpoint()));
    }
}

} // namespace ns3::gradsync
