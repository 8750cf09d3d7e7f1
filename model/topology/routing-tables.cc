// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/routing-tables.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
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

/// Bits per second towards one endpoint, from the nodes near to it outwards.
class PathCapacities
{
  public:
    PathCapacities(const Topology& topology, const std::vector<uint32_t>& distances)
        : m_topology(topology),
          m_distances(distances),
          m_capacity(distances.size(), 0)
    {
    }

    /// \param hops[in,out] ports of the node, each once; then as often as its weight says
    void Weigh(NodeId node, std::vector<uint16_t>& hops)
    {
        std::vector<uint64_t> weights;
        weights.reserve(hops.size());
        for (const auto port : hops)
        {
            const auto [link, peer] = m_topology.GetPorts(node)[port];
            const auto rate = m_topology.GetLinks()[link].rate.GetBitRate();
            weights.push_back(m_distances[peer] <= 1 ? rate : std::min(rate, m_capacity[peer]));
        }
        m_capacity[node] = std::accumulate(weights.begin(), weights.end(), uint64_t{0});
        Repeat(weights, hops);
    }

  private:
    void Repeat(std::vector<uint64_t>& weights, std::vector<uint16_t>& hops) const
    {
        uint64_t divisor = 0;
        for (const auto weight : weights)
        {
            divisor = std::gcd(divisor, weight);
        }
        const auto sum = std::accumulate(weights.begin(), weights.end(), uint64_t{0});
        if (divisor == 0 || sum == divisor * weights.size())
        {
            return; // all alike
        }
        const auto entries = std::min<uint64_t>(sum / divisor, RoutingTables::MAX_ENTRIES);
        std::vector<uint16_t> repeated;
        for (size_t i = 0; i < hops.size(); ++i)
        {
            const auto share = static_cast<double>(weights[i]) / static_cast<double>(sum);
            const auto count = std::llround(share * static_cast<double>(entries));
            repeated.insert(repeated.end(), std::max<size_t>(count, 1), hops[i]);
        }
        hops.swap(repeated);
    }

    const Topology& m_topology;
    const std::vector<uint32_t>& m_distances;
    std::vector<uint64_t> m_capacity; //!< [node]
};

/// The nodes from which an endpoint can be reached, the nearest first.
std::vector<NodeId>
SortByDistance(const std::vector<uint32_t>& distances)
{
    std::vector<NodeId> nodes;
    for (NodeId node = 0; node < distances.size(); ++node)
    {
        if (distances[node] != 0 && distances[node] != Topology::Unreachable)
        {
            nodes.push_back(node);
        }
    }
    std::stable_sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) {
        return distances[a] < distances[b];
    });
    return nodes;
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
    const auto target = m_topology->GetEndpoints()[endpoint];
    const auto distances = m_topology->GetDistancesTo(target, excludedLinks);
    if (m_topology->GetPathWeights() == PathWeights::Capacity)
    {
        PathCapacities capacities(*m_topology, distances);
        for (const auto node : SortByDistance(distances))
        {
            auto hops = FindNextHops(node, target, distances, excludedLinks);
            capacities.Weigh(node, hops);
            Keep(node, endpoint, hops, known);
        }
        return;
    }
    for (NodeId node = 0; node < distances.size(); ++node)
    {
        if (node != target && distances[node] != Topology::Unreachable)
        {
            Keep(node, endpoint, FindNextHops(node, target, distances, excludedLinks), known);
        }
    }
}

std::vector<uint16_t>
RoutingTables::FindNextHops(NodeId node,
                            NodeId target,
                            const std::vector<uint32_t>& distances,
                            const std::vector<bool>& excludedLinks) const
{
    std::vector<uint16_t> hops;
    const auto ports = m_topology->GetPorts(node);
    for (size_t port = 0; port < ports.size(); ++port)
    {
        const auto [link, peer] = ports[port];
        if (!excludedLinks.empty() && excludedLinks[link])
        {
            continue;
        }
        const auto forwards = peer == target || !IsEndpoint(m_topology->GetNodes()[peer].kind);
        if (forwards && distances[peer] == distances[node] - 1)
        {
            hops.push_back(static_cast<uint16_t>(port));
        }
    }
    PreferNvlink(*m_topology, node, hops);
    return hops;
}

void
RoutingTables::Keep(NodeId node,
                    uint32_t endpoint,
                    const std::vector<uint16_t>& hops,
                    std::map<std::vector<uint16_t>, uint32_t>& known)
{
    const auto index = static_cast<size_t>(node) * m_endpointCount + endpoint;
    // Neighbouring endpoints mostly share their next hops: looking there first saves the map.
    if (endpoint > 0 && std::ranges::equal(hops, GetNextHops(node, endpoint - 1)))
    {
        m_setOf[index] = m_setOf[index - 1];
        return;
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
            for (auto first = hops.begin(); first != hops.end();)
            {
                const auto last = std::find_if(first, hops.end(), [first](uint16_t port) {
                    return port != *first;
                });
                const auto part =
                    share * static_cast<double>(last - first) / static_cast<double>(hops.size());
                const auto [link, peer] = m_topology->GetPorts(node)[*first];
                // Distances fall with every hop, so no link is used in both directions or twice.
                shares.push_back({link, m_topology->GetLinks()[link].a == node, part});
                next.emplace_back(peer, part);
                first = last;
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
