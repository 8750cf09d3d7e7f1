// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/trace-circles.h"

#include <algorithm>
#include <numeric>

namespace ns3::gradsync
{

namespace
{

enum class Visit : uint8_t
{
    None,
    UnderWay,
    Done
};

/// [node] its first edge, of edges that are sorted; at the end their number.
std::vector<size_t>
FindFirstEdges(size_t nodes, const TraceEdges& edges)
{
    std::vector<size_t> first(nodes + 1, 0);
    for (const auto& edge : edges)
    {
        ++first[edge.first + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    return first;
}

} // namespace

TraceEdges
CutCircles(size_t nodes, TraceEdges& edges)
{
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const auto first = FindFirstEdges(nodes, edges);
    auto next = first; // [node] the edge to walk next
    std::vector<Visit> visits(nodes, Visit::None);
    std::vector<uint32_t> path;
    std::vector<bool> leadsBack(edges.size(), false);
    for (uint32_t start = 0; start < nodes; ++start)
    {
        if (visits[start] != Visit::None)
        {
            continue;
        }
        path.push_back(start);
        visits[start] = Visit::UnderWay;
        while (!path.empty())
        {
            const auto node = path.back();
            if (next[node] == first[node + 1])
            {
                visits[node] = Visit::Done;
                path.pop_back();
                continue;
            }
            const auto edge = next[node]++;
            const auto later = edges[edge].second;
            leadsBack[edge] = visits[later] == Visit::UnderWay;
            if (visits[later] == Visit::None)
            {
                visits[later] = Visit::UnderWay;
                path.push_back(later);
            }
        }
    }
    TraceEdges taken;
    TraceEdges left;
    for (size_t edge = 0; edge < edges.size(); ++edge)
    {
        (leadsBack[edge] ? taken : left).push_back(edges[edge]);
    }
    edges = std::move(left);
    return taken;
}

} // namespace ns3::gradsync
