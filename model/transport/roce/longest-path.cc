// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/longest-path.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <vector>

namespace ns3::gradsync
{

CongestionPath
FindLongestPath(const Topology& topology, uint32_t dataWireBytes, uint32_t ackWireBytes)
{
    const auto endpoints = topology.GetEndpoints();
    std::vector<std::optional<CongestionPath>> paths(topology.GetNodes().size());
    paths[endpoints[0]].emplace();
    std::queue<NodeId> reached({endpoints[0]});
    while (!reached.empty())
    {
        const auto node = reached.front();
        reached.pop();
        for (const auto& port : topology.GetPorts(node))
        {
            const auto& link = topology.GetLinks()[port.link];
            const auto next = link.a == node ? link.b : link.a;
            if (paths[next])
            {
                continue;
            }
            const auto rate = static_cast<double>(link.rate.GetBitRate());
            auto path = *paths[node];
            path.lineRate = path.hops == 0 ? rate : path.lineRate;
            path.lowestRate = path.hops == 0 ? rate : std::min(path.lowestRate, rate);
            path.baseRtt += 2 * link.delay + Seconds(8.0 * (dataWireBytes + ackWireBytes) / rate);
            ++path.hops;
            paths[next] = path;
            reached.push(next);
        }
    }
    CongestionPath longest;
    for (const auto endpoint : endpoints)
    {
        if (paths[endpoint] && paths[endpoint]->baseRtt > longest.baseRtt)
        {
            longest = *paths[endpoint];
        }
    }
    return longest;
}

} // namespace ns3::gradsync
