// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/node-components.h"

#include <algorithm>

namespace ns3::gradsync
{

NodeComponents::NodeComponents(const Topology& topology)
    : m_topology(&topology),
      m_sets(topology.GetNodes().size())
{
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
            m_sets.union_set(link.a, link.b);
        }
    }
}

NodeId
NodeComponents::Find(NodeId node)
{
    return static_cast<NodeId>(m_sets.find_set(node));
}

} // namespace ns3::gradsync
