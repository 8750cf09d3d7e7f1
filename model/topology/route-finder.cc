// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/route-finder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ns3::gradsync
{

RouteFinder::RouteFinder(const Topology& topology, const std::vector<bool>& excludedLinks)
    : m_topology(topology),
      m_weighs(topology.GetPathWeights() == PathWeights::Capacity),
      m_nodes(topology.GetNodes().size()),
      m_capacity(m_weighs ? m_nodes.size() : 0)
{
    // [link] the port of the end that was seen first; ends are seen in ascending order of nodes.
    std::vector<uint16_t> firstPort(topology.GetLinks().size());
    std::vector<size_t> firstEdge(topology.GetLinks().size(), SIZE_MAX);
    for (NodeId node = 0; node < m_nodes.size(); ++node)
    {
        m_forwards.push_back(IsEndpoint(topology.GetNodes()[node].kind) ? 0 : 1);
        m_firstEdge.push_back(m_edges.size());
        const auto ports = topology.GetPorts(node);
        for (size_t i = 0; i < ports.size(); ++i)
        {
            const auto [link, peer] = ports[i];
            if (!excludedLinks.empty() && excludedLinks[link])
            {
                continue;
            }
            const auto port = static_cast<uint16_t>(i);
            if (firstEdge[link] == SIZE_MAX)
            {
                firstEdge[link] = m_edges.size();
                firstPort[link] = port;
            }
            else
            {
                m_edges[firstEdge[link]].peerPort = port;
            }
            m_edges.push_back({peer, port, firstPort[link]});
        }
    }
    m_firstEdge.push_back(m_edges.size());
    m_queue.reserve(m_nodes.size());
}

void
RouteFinder::Find(uint32_t endpoint)
{
    m_target = m_topology.GetEndpoints()[endpoint];
    std::ranges::fill(m_nodes, Node{Topology::Unreachable, 0, 0});
    m_queue.assign(1, m_target);
    m_nodes[m_target].distance = 0;
    for (size_t head = 0; head < m_queue.size(); ++head)
    {
        const auto node = m_queue[head];
        if (node != m_target && m_forwards[node] == 0)
        {
            continue; // a path may start or end here, never pass
        }
        const auto distance = m_nodes[node].distance + 1;
        for (const auto& edge : GetEdges(node))
        {
            auto& peer = m_nodes[edge.peer];
            if (peer.distance == Topology::Unreachable)
            {
                peer.distance = distance;
                m_queue.push_back(edge.peer);
            }
            if (peer.distance == distance)
            {
                ++peer.hops;
                peer.lastHop = edge.peerPort;
            }
        }
    }
}

const std::vector<uint16_t>&
RouteFinder::GetHops(NodeId node)
{
    m_hops.clear();
    for (const auto& edge : GetEdges(node))
    {
        const bool forwards = edge.peer == m_target || m_forwards[edge.peer] != 0;
        if (forwards && m_nodes[edge.peer].distance == m_nodes[node].distance - 1)
        {
            m_hops.push_back(edge.port);
        }
    }
    PreferNvlink(node);
    if (m_weighs)
    {
        Weigh(node);
    }
    return m_hops;
}

/// Leaves only the next hops over NVLink, if there are any.
void
RouteFinder::PreferNvlink(NodeId node)
{
    const auto ports = m_topology.GetPorts(node);
    const auto isNvlink = [&](uint16_t port) {
        return m_topology.GetLinks()[ports[port].link].kind == LinkKind::Nvlink;
    };
    if (m_hops.size() > 1 && std::ranges::any_of(m_hops, isNvlink))
    {
        std::erase_if(m_hops, [&](uint16_t port) { return !isNvlink(port); });
    }
}

void
RouteFinder::Weigh(NodeId node)
{
    std::vector<uint64_t> weights;
    weights.reserve(m_hops.size());
    for (const auto port : m_hops)
    {
        const auto [link, peer] = m_topology.GetPorts(node)[port];
        const auto rate = m_topology.GetLinks()[link].rate.GetBitRate();
        weights.push_back(m_nodes[peer].distance <= 1 ? rate : std::min(rate, m_capacity[peer]));
    }
    m_capacity[node] = std::accumulate(weights.begin(), weights.end(), uint64_t{0});
    Repeat(weights);
}

void
RouteFinder::Repeat(const std::vector<uint64_t>& weights)
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
    const auto entries = std::min<uint64_t>(sum / divisor, MAX_ENTRIES);
    std::vector<uint16_t> repeated;
    for (size_t i = 0; i < m_hops.size(); ++i)
    {
        const auto share = static_cast<double>(weights[i]) / static_cast<double>(sum);
        const auto count = std::llround(share * static_cast<double>(entries));
        repeated.insert(repeated.end(), std::max<size_t>(count, 1), m_hops[i]);
    }
    m_hops.swap(repeated);
}

} // namespace ns3::gradsync
