// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/topology.h"

#include "ns3/forwarding-components.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Whether all endpoints are at one component of the nodes that forward: each then reaches each.
bool
HaveOneNetwork(const Topology& topology)
{
    const auto components = FindForwardingComponents(topology);
    std::vector<uint32_t> endpoints(components.count, 0);
    std::vector<NodeId> last(components.count, UINT32_MAX); // endpoint that was counted last
    for (const auto endpoint : topology.GetEndpoints())
    {
        for (const auto& port : topology.GetPorts(endpoint))
        {
            const auto component = components.componentOf[port.peer];
            if (component != ForwardingComponents::None && last[component] != endpoint)
            {
                last[component] = endpoint;
                ++endpoints[component];
            }
        }
    }
    return std::ranges::find(endpoints, topology.GetEndpoints().size()) != endpoints.end();
}

} // namespace

bool
IsEndpoint(NodeKind kind)
{
    return kind == NodeKind::Host || kind == NodeKind::Accelerator;
}

std::string_view
ToString(NodeKind kind)
{
    switch (kind)
    {
    case NodeKind::Host:
        return "host";
    case NodeKind::Accelerator:
        return "accelerator";
    case NodeKind::Nic:
        return "nic";
    case NodeKind::PcieSwitch:
        return "pcie-switch";
    case NodeKind::Cpu:
        return "cpu";
    case NodeKind::NvSwitch:
        return "nvswitch";
    case NodeKind::Switch:
        return "switch";
    }
    return "unknown";
}

std::string_view
ToString(LinkKind kind)
{
    switch (kind)
    {
    case LinkKind::Host:
        return "host";
    case LinkKind::Fabric:
        return "fabric";
    case LinkKind::Pcie:
        return "pcie";
    case LinkKind::Upi:
        return "upi";
    case LinkKind::Nvlink:
        return "nvlink";
    }
    return "unknown";
}

NodeId
Topology::AddNode(std::string name, NodeKind kind, uint32_t tier)
{
    if (name.empty())
    {
        throw std::invalid_argument("a topology node has an empty name");
    }
    const auto id = static_cast<NodeId>(m_nodes.size());
    if (!m_nodeByName.emplace(name, id).second)
    {
        throw std::invalid_argument(fmt::format("two topology nodes are named \"{}\"", name));
    }
    m_nodes.push_back({std::move(name), kind, tier});
    m_ports.emplace_back();
    if (IsEndpoint(kind))
    {
        m_endpoints.push_back(id);
    }
    return id;
}

LinkId
Topology::AddLink(NodeId a, NodeId b, DataRate rate, const Time& delay, LinkKind kind)
{
    if (a >= m_nodes.size() || b >= m_nodes.size())
    {
        throw std::invalid_argument(fmt::format("a link names node {}, but there are {} nodes",
                                                std::max(a, b),
                                                m_nodes.size()));
    }
    const auto between =
        fmt::format("the link between {} and {}", m_nodes[a].name, m_nodes[b].name);
    if (a == b)
    {
        throw std::invalid_argument(between + " connects a node to itself");
    }
    if (rate.GetBitRate() == 0)
    {
        throw std::invalid_argument(between + " has a rate of 0");
    }
    if (delay.IsStrictlyNegative())
    {
        throw std::invalid_argument(between + " has a negative delay");
    }
    for (const auto end : {a, b})
    {
        if (m_ports[end].size() >= std::numeric_limits<uint16_t>::max())
        {
            throw std::invalid_argument(
                fmt::format("{} would get more than 65535 ports", m_nodes[end].name));
        }
    }
    const auto id = static_cast<LinkId>(m_links.size());
    m_links.push_back({a, b, rate, delay, kind});
    m_ports[a].push_back({id, b});
    m_ports[b].push_back({id, a});
    return id;
}

std::span<const TopologyNode>
Topology::GetNodes() const
{
    return m_nodes;
}

std::span<const TopologyLink>
Topology::GetLinks() const
{
    return m_links;
}

std::span<const NodeId>
Topology::GetEndpoints() const
{
    return m_endpoints;
}

std::span<const Adjacency>
Topology::GetPorts(NodeId node) const
{
    return m_ports.at(node);
}

std::optional<NodeId>
Topology::FindNode(std::string_view name) const
{
    const auto found = m_nodeByName.find(name);
    return found == m_nodeByName.end() ? std::nullopt : std::optional{found->second};
}

std::vector<uint32_t>
Topology::GetDistancesTo(NodeId target, const std::vector<bool>& excludedLinks) const
{
    std::vector<uint32_t> distances(m_nodes.size(), Unreachable);
    std::vector<NodeId> queue;
    queue.reserve(m_nodes.size());
    distances.at(target) = 0;
    queue.push_back(target);
    for (size_t head = 0; head < queue.size(); ++head)
    {
        const auto node = queue[head];
        if (node != target && IsEndpoint(m_nodes[node].kind))
        {
            continue; // a path may start or end here, never pass
        }
        for (const auto& port : m_ports[node])
        {
            const bool isExcluded = !excludedLinks.empty() && excludedLinks[port.link];
            if (!isExcluded && distances[port.peer] == Unreachable)
            {
                distances[port.peer] = distances[node] + 1;
                queue.push_back(port.peer);
            }
        }
    }
    return distances;
}

void
Topology::CheckConnected() const
{
    if (m_endpoints.empty())
    {
        throw std::invalid_argument("the topology has no endpoint (host or accelerator)");
    }
    if (HaveOneNetwork(*this))
    {
        return;
    }
    // Reachability among endpoints is no equivalence: a-b-c in a row leaves a and c apart, because
    // b does not forward. So every endpoint is tried.
    for (const auto target : m_endpoints)
    {
        const auto distances = GetDistancesTo(target);
        for (const auto source : m_endpoints)
        {
            if (distances[source] == Unreachable)
            {
                // The one without any link is to blame; else the later one.
                const auto targetIsCutOff = m_ports[target].empty();
                const auto& lost = m_nodes[targetIsCutOff ? target : source].name;
                const auto& other = m_nodes[targetIsCutOff ? source : target].name;
                throw std::invalid_argument(
                    fmt::format("the network is not connected: {} cannot reach {}", lost, other));
            }
        }
    }
}

} // namespace ns3::gradsync
