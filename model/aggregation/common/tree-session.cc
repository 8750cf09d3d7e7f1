// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/tree-session.h"

#include "ns3/aggregation-load.h"
#include "ns3/tree-load.h"

#include <algorithm>
#include <stdexcept>

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
    auto root = GetGroup().rootSwitch;
    if (m_isBuilt && root && IsLost(*root))
    {
        root.reset(); // any other is better than none
    }
    m_tree = BuildSwitchTree(*network.topology, *GetEndpoints(), m_turn, network.outage, root);
    m_isBuilt = true;
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

/// Whether a switch that could be the root cannot any more.
bool
TreeSession::IsLost(NodeId root) const
{
    try
    {
        const auto& network = GetNetwork();
        BuildSwitchTree(*network.topology, *GetEndpoints(), m_turn, network.outage, root);
        return false;
    }
    catch (const std::invalid_argument&)
    {
        return true;
    }
}

double
TreeSession::GetRoom() const
{
    return 0.0;
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

/// What goes up a link comes down it.
AggregationLoad
TreeSession::MakeLoad(const PacketShape& packet) const
{
    const auto& endpoints = *GetEndpoints();
    TreeLoad tree(*GetNetwork().topology, m_tree);
    AggregationLoad load;
    load.payloadBytes = packet.payloadBytes;
    for (const auto& hop : m_tree.hops)
    {
        if (hop.aggregates)
        {
            const auto memory = GetNetwork().memory.GetShare(GetMemory(hop).bytes);
            load.adders.push_back({.node = hop.node,
                                   .inputs = static_cast<uint32_t>(hop.children.size()),
                                   .room = std::max(GetRoom(), memory)});
        }
    }
    for (const auto& [link, uses] : tree.CountUses(endpoints))
    {
        const double count = uses.first + uses.second;
        for (const uint32_t direction : {2 * link, 2 * link + 1})
        {
            load.uses.push_back(
                {direction, count * packet.packetBytes, count * packet.contentFactor});
        }
    }
    const auto links = GetNetwork().topology->GetLinks();
    for (size_t member = 0; member < endpoints.size(); ++member)
    {
        const auto node = GetNetwork().topology->GetEndpoints()[endpoints[member]];
        const auto link = GetNetwork().topology->GetPorts(node)[m_tree.memberPorts[member]].link;
        load.firstLinks.push_back(2 * link + (links[link].a == node ? 0 : 1));
    }
    const auto full = packet.packetBytes + packet.contentFactor * packet.payloadBytes;
    const auto way = tree.FindLongest(endpoints, full);
    const auto makeLag = [&packet](double delay, double perByte) {
        return AggregationLoad::Lag{delay + perByte * packet.packetBytes,
                                    perByte * packet.contentFactor};
    };
    load.roundTrip = makeLag(2.0 * way.delay, 2.0 * way.perByte);
    load.tail = makeLag(2.0 * way.delay, 2.0 * way.perByte - way.slowest);
    return load;
}

} // namespace ns3::gradsync
