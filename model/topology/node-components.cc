// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/node-components.h"

#include <algorithm>
#include <numeric>

namespace ns3::gradsync
{

NodeComponents::NodeComponents(const Topology& topology)
    : m_topology(&topology),
      m_parent(topology.GetNodes().size())
{
    std::iota(m_parent.begin(), m_parent.end(), NodeId{0});
}

uint32_t
NodeComponents::GetTierCount() const
{
    uint32_t count = 0;
    for (const auto& node : m_topology->GetNodes())
    {
        count = std::max(count, node.tier + 1);
    }
    return count;
}

void
NodeComponents::JoinUpTo(uint32_t tier)
{
    const auto nodes = m_topology->GetNodes();
    for (const auto& link : m_topology->GetLinks())
    {
        if (std::max(nodes[link.a].tier, nodes[link.b].tier) <= tier)
        {
            m_parent[Find(link.a)] = Find(link.b);
        }
    }
}

NodeId
NodeComponents::Find(NodeId node)
{
    while (m_parent[node] != node)
    {
        m_parent[node] = m_parent[m_parent[node]]; // halves the path for the next search
        node = m_parent[node];
    }
    return node;
}

} // namespace ns3::gradsync
