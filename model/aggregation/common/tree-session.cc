// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/tree-session.h"

#include <algorithm>

namespace ns3::gradsync
{

TreeSession::TreeSession(AggregationDriver& driver, const AggregationGroup& group, uint32_t id)
    : AggregationSession(driver, group, id),
      m_turn(GetHost().TakeTurn())
{
}

bool
TreeSession::IsHit(const AggregationOutage& outage) const
{
    return std::ranges::any_of(m_adding,
                               [&outage](NodeId node) { return outage.switches.contains(node); }) ||
           std::ranges::any_of(m_tree.links, [&outage](LinkId link) {
               return !outage.links.empty() && outage.links[link];
           });
}

void
TreeSession::BuildTree()
{
    const auto& network = GetNetwork();
    m_tree = BuildSwitchTree(*network.topology, *GetEndpoints(), m_turn, network.outage);
    m_adding.clear();
    for (const auto& hop : m_tree.hops)
    {
        // The programs of others and their configuration do it all.
        if (hop.aggregates && !network.foreign.contains(hop.node))
        {
            CheckHop(hop);
            const auto memory = GetMemory(hop);
            TakeMemory(hop.node, memory.bytes, memory.isShared);
            m_adding.insert(hop.node);
        }
    }
}

void
TreeSession::CheckHop(const SwitchTree::Hop& /* hop */) const
{
}

FabricPort&
TreeSession::GetMemberPort(uint32_t member) const
{
    const auto endpoint = GetEndpoints()->at(member);
    return GetNetwork().fabric->GetEndpoint(endpoint).GetPort(m_tree.memberPorts[member]);
}

AggregationRole
TreeSession::MakeRole(uint32_t index, uint32_t slots) const
{
    const auto& hop = m_tree.hops[index];
    const auto& endpoints = *GetEndpoints();
    // Numbers of switches follow those of the workers.
    const auto numberOf = [&endpoints](uint32_t other) {
        return static_cast<uint16_t>(endpoints.size() + other);
    };
    AggregationRole role{.aggregates = hop.aggregates,
                         .worker = numberOf(index),
                         .up = hop.up,
                         .down = {},
                         .children = {},
                         .slots = slots};
    for (const auto& [below, port] : hop.down)
    {
        role.down.emplace(numberOf(below), port);
    }
    for (const auto& child : hop.children)
    {
        role.children.push_back(child.isMember
                                    ? AggregationRole::Child{static_cast<uint16_t>(child.index),
                                                             child.port,
                                                             endpoints[child.index]}
                                    : AggregationRole::Child{numberOf(child.index),
                                                             child.port,
                                                             AggregationRole::NO_ENDPOINT});
    }
    return role;
}

void
TreeSession::AddRoles(uint32_t slots)
{
    for (uint32_t i = 0; i < m_tree.hops.size(); ++i)
    {
        const auto& hop = m_tree.hops[i];
        if (GetNetwork().foreign.contains(hop.node))
        {
            continue; // its program and configuration do it all
        }
        auto& node = AddNode(hop.node);
        if (!hop.aggregates || HasProgram(hop.node))
        {
            AddRole(node, MakeRole(i, slots));
        }
    }
}

} // namespace ns3::gradsync
