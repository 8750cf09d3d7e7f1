// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/network-condition.h"

#include "ns3/routing-tables.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

NetworkCondition::NetworkCondition(std::shared_ptr<const Topology> topology,
                                   const Ptr<Transport>& transport)
    : m_topology(std::move(topology)),
      m_transport(transport),
      m_excluded(m_topology->GetLinks().size(), false)
{
}

void
NetworkCondition::Begin(const FaultSpec& fault, uint32_t target)
{
    Change(fault, target, true);
}

void
NetworkCondition::End(const FaultSpec& fault, uint32_t target)
{
    Change(fault, target, false);
}

void
NetworkCondition::Change(const FaultSpec& fault, uint32_t target, bool begins)
{
    const uint32_t step = begins ? 1 : UINT32_MAX; // one up or, modulo 2^32, one down
    if (GetTarget(fault.kind) == FaultTarget::Endpoint)
    {
        auto& endpoint = m_endpoints[target];
        endpoint.silences += fault.kind == FaultKind::Straggler ? 0 : step;
        const bool isDeaf =
            fault.kind == FaultKind::HostPause || fault.kind == FaultKind::HostCrash;
        endpoint.deafnesses += isDeaf ? step : 0;
        m_changedEndpoints.insert(target);
        return;
    }
    if (fault.kind == FaultKind::AggregatorDown)
    {
        m_aggregators[target].downs += step;
        m_changedAggregators.insert(target);
        return;
    }
    for (const auto id : GetLinks(fault, target))
    {
        auto& link = m_links[id];
        m_changedLinks.insert(id);
        if (fault.kind == FaultKind::LinkDown || fault.kind == FaultKind::SwitchDown)
        {
            link.downs += step;
        }
        else if (begins)
        {
            link.degradations.push_back(fault.degraded);
        }
        else
        {
            const auto found =
                std::find(link.degradations.begin(), link.degradations.end(), fault.degraded);
            link.degradations.erase(found);
        }
    }
}

void
NetworkCondition::Exclude(const FaultSpec& fault, uint32_t target)
{
    ChangeExclusion(fault, target, true);
}

void
NetworkCondition::Include(const FaultSpec& fault, uint32_t target)
{
    ChangeExclusion(fault, target, false);
}

void
NetworkCondition::ChangeExclusion(const FaultSpec& fault, uint32_t target, bool excludes)
{
    m_aggregationsChanged = true;
    if (fault.kind == FaultKind::AggregatorDown)
    {
        m_aggregators[target].exclusions += excludes ? 1 : UINT32_MAX;
        return;
    }
    for (const auto id : GetLinks(fault, target))
    {
        m_links[id].exclusions += excludes ? 1 : UINT32_MAX;
    }
    m_routesChanged = true;
}

std::vector<LinkId>
NetworkCondition::GetLinks(const FaultSpec& fault, uint32_t target) const
{
    if (fault.kind != FaultKind::SwitchDown)
    {
        return {target};
    }
    std::vector<LinkId> links;
    for (const auto& port : m_topology->GetPorts(target))
    {
        links.push_back(port.link);
    }
    return links;
}

LinkState
NetworkCondition::Combine(const Link& link)
{
    LinkState state;
    state.up = link.downs == 0;
    for (const auto& part : link.degradations)
    {
        state.rateShare *= part.rateShare;
        state.extraDelay =
            std::min(state.extraDelay + part.extraDelay, Time(TimeStep(MAX_LINK_DELAY)));
        state.loss = part.loss.IsLossy() ? part.loss : state.loss;
        state.floodBitRate += part.floodBitRate;
    }
    return state;
}

void
NetworkCondition::Apply()
{
    for (const auto id : m_changedEndpoints)
    {
        auto& endpoint = m_endpoints[id];
        const EndpointState state{endpoint.silences == 0, endpoint.deafnesses == 0};
        if (state != endpoint.applied)
        {
            endpoint.applied = state;
            m_transport->RequireFaults().SetEndpointState(id, state);
        }
    }
    for (const auto id : m_changedLinks)
    {
        auto& link = m_links[id];
        const auto state = Combine(link);
        if (state != link.applied)
        {
            link.applied = state;
            m_transport->RequireFaults().SetLinkState(id, state);
        }
    }
    m_changedEndpoints.clear();
    m_changedLinks.clear();
    ApplyAggregators();
    ApplyRoutes();
    auto* aggregation = m_transport->GetAggregation();
    if (std::exchange(m_aggregationsChanged, false) && aggregation != nullptr)
    {
        AggregationOutage outage{m_excluded, {}};
        for (const auto& [node, aggregator] : m_aggregators)
        {
            if (aggregator.exclusions > 0)
            {
                outage.switches.insert(node);
            }
        }
        aggregation->AvoidInAggregations(outage);
    }
}

void
NetworkCondition::ApplyAggregators()
{
    for (const auto node : m_changedAggregators)
    {
        auto& aggregator = m_aggregators[node];
        const bool adds = aggregator.downs == 0;
        if (adds != aggregator.applied)
        {
            aggregator.applied = adds;
            if (auto* aggregation = m_transport->GetAggregation())
            {
                aggregation->SetAggregatorState(node, adds);
            }
        }
    }
    m_changedAggregators.clear();
}

void
NetworkCondition::ApplyRoutes()
{
    if (!std::exchange(m_routesChanged, false))
    {
        return;
    }
    std::vector<bool> excluded(m_excluded.size(), false);
    for (const auto& [id, link] : m_links)
    {
        excluded[id] = link.exclusions > 0;
    }
    if (excluded != m_excluded)
    {
        m_excluded = std::move(excluded);
        m_transport->RequireFaults().SetRoutes(
            std::make_shared<const RoutingTables>(*m_topology, m_excluded));
    }
}

} // namespace ns3::gradsync
