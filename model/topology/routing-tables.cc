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

} // namespace

uint32_t
RoutingTables::GetLargestSetSize(NodeId node) const
{
    uint32_t largest = 0;
    for (size_t block = 0; block < m_blockCount; ++block)
    {
        const auto row = m_rowOf[node * m_blockCount + block];
        if (block > 0 && row == m_rowOf[node * m_blockCount + block - 1])
        {
            continue;
        }
        for (size_t i = row * size_t{BLOCK}; i < (row + size_t{1}) * BLOCK; ++i)
        {
            largest = std::max(largest, m_setOffsets[m_rows[i] + 1] - m_setOffsets[m_rows[i]]);
        }
    }
    return largest;
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
    return (m_rowOf.capacity() + m_rows.capacity() + m_setOffsets.capacity()) * sizeof(uint32_t) +
           m_ports.capacity() * sizeof(uint16_t);
}

} // namespace ns3::gradsync
