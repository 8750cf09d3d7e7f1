// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/switch-tree.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t FAR = Topology::Unreachable;

/// Builds one tree.
class TreeBuilder
{
  public:
    TreeBuilder(const Topology& topology,
                std::span<const uint32_t> endpoints,
                uint32_t turn,
                const AggregationOutage& outage)
        : m_topology(topology),
          m_turn(turn),
          m_outage(outage)
    {
        for (const auto endpoint : endpoints)
        {
            m_members.push_back(topology.GetEndpoints()[endpoint]);
        }
    }

    SwitchTree Build(std::optional<NodeId> asked)
    {
        const auto root = asked ? *asked : FindRoot();
        MeasureFrom(root);
        if (asked)
        {
            CheckRoot(root);
        }
        m_tree.hops.push_back({root, true, {}, {}, {}});
        m_hopOf[root] = 0;
        for (const auto member : m_members)
        {
            m_tree.memberPorts.push_back(AddPath(member));
        }
        for (auto& hop : m_tree.hops)
        {
            hop.aggregates = !hop.up || (MayAggregate(hop.node) && m_below[hop.node].size() > 1);
        }
        for (uint32_t member = 0; member < m_members.size(); ++member)
        {
            AddChild(m_members[member], {true, member, 0});
        }
        for (uint32_t hop = 1; hop < m_tree.hops.size(); ++hop)
        {
            if (m_tree.hops[hop].aggregates)
            {
                AddChild(m_tree.hops[hop].node, {false, hop, 0});
            }
        }
        return std::move(m_tree);
    }

  private:
    bool MayAggregate(NodeId node) const
    {
        return m_topology.GetNodes()[node].kind == NodeKind::Switch &&
               !m_outage.switches.contains(node);
    }

    bool IsUp(LinkId link) const
    {
        return m_outage.links.empty() || !m_outage.links[link];
    }

    NodeId FindRoot() const
    {
        using Score = std::pair<uint64_t, uint64_t>; // farthest, sum
        const auto count = m_topology.GetNodes().size();
        std::vector<Score> scores(count);
        for (const auto member : m_members)
        {
            const auto distances = m_topology.GetDistancesTo(member, m_outage.links);
            for (NodeId node = 0; node < count; ++node)
            {
                scores[node].first = std::max<uint64_t>(scores[node].first, distances[node]);
                scores[node].second += distances[node];
            }
        }
        Score least{FAR, 0};
        std::vector<NodeId> best;
        for (NodeId node = 0; node < count; ++node)
        {
            if (!MayAggregate(node) || scores[node].first == FAR || scores[node] > least)
            {
                continue;
            }
            if (scores[node] < least)
            {
                best.clear();
            }
            least = scores[node];
            best.push_back(node);
        }
        if (best.empty())
        {
            throw std::invalid_argument("no switch of the network reaches all workers of the "
                                        "aggregation");
        }
        return best[m_turn % best.size()];
    }

    void CheckRoot(NodeId root) const
    {
        const auto& name = m_topology.GetNodes()[root].name;
        if (!MayAggregate(root))
        {
            throw std::invalid_argument(
                fmt::format("{} is to be the root of an aggregation, but does not aggregate",
                            name));
        }
        for (const auto member : m_members)
        {
            if (m_distance[member] == FAR)
            {
                throw std::invalid_argument(
                    fmt::format("{} is to be the root of an aggregation, but does not reach {}",
                                name,
                                m_topology.GetNodes()[member].name));
            }
        }
    }

    /// Fewest links from the root to each node over nodes that forward.
    void MeasureFrom(NodeId root)
    {
        m_distance.assign(m_topology.GetNodes().size(), FAR);
        m_distance[root] = 0;
        std::vector<NodeId> open{root};
        for (size_t next = 0; next < open.size(); ++next)
        {
            const auto node = open[next];
            for (const auto& port : m_topology.GetPorts(node))
            {
                if (m_distance[port.peer] != FAR || !IsUp(port.link))
                {
                    continue;
                }
                m_distance[port.peer] = m_distance[node] + 1;
                if (!IsEndpoint(m_topology.GetNodes()[port.peer].kind))
                {
                    open.push_back(port.peer);
                }
            }
        }
    }

    /// The port of a node towards the root: of equal ones the first.
    uint16_t FindUp(NodeId node) const
    {
        const auto ports = m_topology.GetPorts(node);
        const auto nearer = std::find_if(ports.begin(), ports.end(), [&](const auto& port) {
            return IsUp(port.link) && m_distance[port.peer] + 1 == m_distance[node] &&
                   !IsEndpoint(m_topology.GetNodes()[port.peer].kind);
        });
        return static_cast<uint16_t>(nearer - ports.begin());
    }

    /// The port at the far end of a port's link.
    uint16_t FindFarPort(NodeId node, uint16_t port) const
    {
        const auto& adjacency = m_topology.GetPorts(node)[port];
        const auto ports = m_topology.GetPorts(adjacency.peer);
        const auto found = std::find_if(ports.begin(), ports.end(), [&](const auto& far) {
            return far.link == adjacency.link;
        });
        return static_cast<uint16_t>(found - ports.begin());
    }

    /// Makes hops of all nodes from a member to the root. \returns the member's port
    uint16_t AddPath(NodeId member)
    {
        const auto first = FindUp(member);
        auto node = member;
        auto up = first;
        for (;;)
        {
            const auto parent = m_topology.GetPorts(node)[up].peer;
            m_tree.links.insert(m_topology.GetPorts(node)[up].link);
            m_below[parent].insert(node);
            const auto [entry, isNewHop] =
                m_hopOf.try_emplace(parent, static_cast<uint32_t>(m_tree.hops.size()));
            if (isNewHop)
            {
                m_tree.hops.push_back({parent, false, FindUp(parent), {}, {}});
            }
            if (!isNewHop)
            {
                return first; // from here on the path is known
            }
            node = parent;
            up = *m_tree.hops[entry->second].up;
        }
    }

    /// Tells the aggregating switch above a node of this child.
    void AddChild(NodeId node, SwitchTree::Child child)
    {
        auto up = FindUp(node);
        for (;;)
        {
            child.port = FindFarPort(node, up);
            node = m_topology.GetPorts(node)[up].peer;
            auto& hop = m_tree.hops[m_hopOf.at(node)];
            if (hop.aggregates)
            {
                hop.children.push_back(child);
                return;
            }
            if (!child.isMember)
            {
                hop.down.emplace(child.index, child.port);
            }
            up = *hop.up;
        }
    }

    const Topology& m_topology;
    uint32_t m_turn;
    const AggregationOutage& m_outage;
    std::vector<NodeId> m_members;
    std::vector<uint32_t> m_distance;
    std::map<NodeId, uint32_t> m_hopOf;
    std::map<NodeId, std::set<NodeId>> m_below;
    SwitchTree m_tree;
};

} // namespace

SwitchTree
BuildSwitchTree(const Topology& topology,
                std::span<const uint32_t> endpoints,
                uint32_t turn,
                const AggregationOutage& outage,
                std::optional<NodeId> root)
{
    return TreeBuilder(topology, endpoints, turn, outage).Build(root);
}

} // namespace ns3::gradsync
