// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/tree-load.h"

#include <algorithm>

namespace ns3::gradsync
{

void
WayTimes::Add(const TopologyLink& link)
{
    const auto seconds = 8.0 / static_cast<double>(link.rate.GetBitRate());
    delay += link.delay.GetSeconds();
    perByte += seconds;
    slowest = std::max(slowest, seconds);
}

TreeLoad::TreeLoad(const Topology& topology, const SwitchTree& tree)
    : m_topology(topology),
      m_tree(tree)
{
    for (uint32_t hop = 0; hop < tree.hops.size(); ++hop)
    {
        m_hopOf[tree.hops[hop].node] = hop;
    }
}

std::map<LinkId, std::pair<uint32_t, uint32_t>>
TreeLoad::CountUses(std::span<const uint32_t> endpoints)
{
    for (size_t member = 0; member < endpoints.size(); ++member)
    {
        Walk(m_topology.GetEndpoints()[endpoints[member]], m_tree.memberPorts[member], false);
    }
    for (const auto& hop : m_tree.hops)
    {
        if (hop.aggregates && hop.up)
        {
            Walk(hop.node, *hop.up, false);
        }
    }
    return std::move(m_uses);
}

WayTimes
TreeLoad::FindLongest(std::span<const uint32_t> endpoints, double packetBytes)
{
    WayTimes longest;
    for (size_t member = 0; member < endpoints.size(); ++member)
    {
        const auto node = m_topology.GetEndpoints()[endpoints[member]];
        const auto way = Walk(node, m_tree.memberPorts[member], true);
        longest = way.Get(packetBytes) > longest.Get(packetBytes) ? way : longest;
    }
    return longest;
}

/// \param toRoot or to the next switch that adds, counting uses
WayTimes
TreeLoad::Walk(NodeId node, uint16_t port, bool toRoot)
{
    WayTimes times;
    for (;;)
    {
        const auto& adjacency = m_topology.GetPorts(node)[port];
        const auto& link = m_topology.GetLinks()[adjacency.link];
        times.Add(link);
        if (!toRoot)
        {
            auto& [forth, back] = m_uses[adjacency.link];
            ++(link.a == node ? forth : back);
        }
        node = adjacency.peer;
        const auto& hop = m_tree.hops[m_hopOf.at(node)];
        if (!hop.up || (hop.aggregates && !toRoot))
        {
            return times;
        }
        port = *hop.up;
    }
}

} // namespace ns3::gradsync
