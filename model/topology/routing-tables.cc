// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/routing-tables.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Set 0: no next hop.
constexpr uint32_t EmptySet = 0;

/// Traffic that stands at a node, as a share of what the source sends.
using NodeShare = std::pair<NodeId, double>;

/// Adds up the entries of equal nodes; the result is sorted by node.
void
MergeByNode(std::vector<NodeShare>& shares)
{
    std::sort(shares.begin(), shares.end());
    size_t last = 0;
    for (size_t i = 1; i < shares.size(); ++i)
    {
        if (shares[i].first == shares[last].first)
        {
            shares[last].second += shares[i].second;
        }
        else
        {
            shares[++last] = shares[i];
        }
    }
    shares.resize(std::min(shares.size(), last + 1));
}

/// Leaves only the next hops over NVLink, if there are any.
void
PreferNvlink(const Topology& topology, NodeId node, std::vector<uint16_t>& hops)
{
    const auto ports = topology.GetPorts(node);
    const auto isNvlink = [&](uint16_t port) {
        return topology.GetLinks()[ports[port].link].kind == LinkKind::Nvlink;
    };
    if (std::ranges::any_of(hops, isNvlink))
    {
        std::erase_if(hops, [&](uint16_t port) { return !isNvlink(port); });
    }
}

} // namespace

RoutingTables::RoutingTables(const Topology& topology, const std::vector<bool>& excludedLinks)
    : m_topology(&topology),
      m_endpointCount(topology.GetEndpoints().size()),
      m_setOf(topology.GetNodes().size() * m_endpointCount, EmptySet),
      m_setOffsets{0, 0}
{
    std::map<std::vector<uint16_t>, uint32_t> known{{{}, EmptySet}};
    for (uint32_t endpoint = 0; endpoint < m_endpointCount; ++endpoint)
    {
        AddRoutesTo(endpoint, excludedLinks, known);
    }
    m_ports.shrink_to_fit();
    m_setOffsets.shrink_to_fit();
}

void
RoutingTables::AddRoutesTo(uint32_t endpoint,
                           const std::vector<bool>& excludedLinks,
                           std::map<std::vector<uint16_t>, uint32_t>& known)
{
    const auto nodes = m_topology->GetNodes();
    const auto target = m_topology->GetEndpoints()[endpoint];
    const auto distances = m_topology->GetDistancesTo(target, excludedLinks);
    std::vector<uint16_t> hops;
    for (NodeId node = 0; node < nodes.size(); ++node)
    {
        if (node == target || distances[node] == Topology::Unreachable)
        {
            continue;
        }
        hops.clear();
        const auto ports = m_topology->GetPorts(node);
        for (size_t port = 0; port < ports.size(); ++port)
        {
            const auto [link, peer] = ports[port];
            if (!excludedLinks.empty() && excludedLinks[link])
            {
                continue;
            }
            const auto forwards = peer == target || !IsEndpoint(nodes[peer].kind);
            if (forwards && distances[peer] == distances[node] - 1)
            {
                hops.push_back(static_cast<uint16_t>(port));
            }
        }
        PreferNvlink(*m_topology, node, hops);
        const auto index = static_cast<size_t>(node) * m_endpointCount + endpoint;
        // Neighbouring endpoints mostly share their next hops: looking there first saves the map.
        if (endpoint > 0 && std::ranges::equal(hops, GetNextHops(node, endpoint - 1)))
        {
            m_setOf[index] = m_setOf[index - 1];
            continue;
        }
        const auto next = static_cast<uint32_t>(m_setOffsets.size() - 1);
        const auto [entry, isNew] = known.try_emplace(hops, next);
        if (isNew)
        {
            m_ports.insert(m_ports.end(), hops.begin(), hops.end());
            m_setOffsets.push_back(static_cast<uint32_t>(m_ports.size()));
        }
        m_setOf[index] = entry->second;
    }
}

void
RoutingTables::ThrowNoPath(uint32_t source, uint32_t destination) const
{
    const auto nodes = m_topology->GetNodes();
    const auto endpoints = m_topology->GetEndpoints();
    throw std::invalid_argument(fmt::format("there is no path from {} to {}",
                                            nodes[endpoints[source]].name,
                                            nodes[endpoints[destination]].name));
}

uint32_t
RoutingTables::GetDistance(uint32_t source, uint32_t destination) const
{
    const auto endpoints = m_topology->GetEndpoints();
    auto node = endpoints[source];
    uint32_t distance = 0;
    while (node != endpoints[destination])
    {
        const auto hops = GetNextHops(node, destination);
        if (hops.empty())
        {
            ThrowNoPath(source, destination);
        }
        node = m_topology->GetPorts(node)[hops.front()].peer;
        ++distance;
    }
    return distance;
}

std::vector<RoutingTables::LinkShare>
RoutingTables::GetEvenSplit(uint32_t source, uint32_t destination) const
{
    const auto endpoints = m_topology->GetEndpoints();
    const auto target = endpoints[destination];
    std::vector<LinkShare> shares;
    // All of a front is equally far from the target, so a front is complete before it moves on.
    std::vector<NodeShare> front{{endpoints[source], 1.0}};
    std::vector<NodeShare> next;
    while (front.front().first != target)
    {
        next.clear();
        for (const auto& [node, share] : front)
        {
            const auto hops = GetNextHops(node, destination);
            if (hops.empty())
            {
                ThrowNoPath(source, destination);
            }
            const auto part = share / static_cast<double>(hops.size());
            for (const auto port : hops)
            {
                const auto [link, peer] = m_topology->GetPorts(node)[port];
                // Distances fall with every hop, so no link is used in both directions or twice.
                shares.push_back({link, m_topology->GetLinks()[link].a == node, part});
                next.emplace_back(peer, part);
            }
        }
        MergeByNode(next);
        front.swap(next);
    }
    std::sort(shares.begin(), shares.end(), [](const LinkShare& left, const LinkShare& right) {
        return std::tie(left.link, left.forward) < std::tie(right.link, right.forward);
    });
    return shares;
}

uint64_t
RoutingTables::GetMemoryBytes() const
{
    return (m_setOf.capacity() + m_setOffsets.capacity()) * sizeof(uint32_t) +
           m_ports.capacity() * sizeof(uint16_t);
}

} // namespace ns3::gradsync
