// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/nccl-machine.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>

namespace ns3::gradsync
{

namespace
{

/// Summed rates of links of one kind at a node, in bytes a second.
double
SumRates(const Topology& topology, NodeId node, bool isNvlink)
{
    double rate = 0.0;
    for (const auto& port : topology.GetPorts(node))
    {
        const auto& link = topology.GetLinks()[port.link];
        if ((link.kind == LinkKind::Nvlink) == isNvlink)
        {
            rate += static_cast<double>(link.rate.GetBitRate()) / 8.0;
        }
    }
    return rate;
}

/// [server] summed rates of the links by which the servers of the ranks reach the network.
std::vector<double>
SumExits(const Topology& topology,
         std::span<const uint32_t> endpointOf,
         const std::vector<uint32_t>& serverOf)
{
    std::vector<uint32_t> group(topology.GetNodes().size(), UINT32_MAX); // [node] -> server
    std::vector<NodeId> open;
    const auto enter = [&](NodeId node, uint32_t server) {
        if (topology.GetNodes()[node].tier == 0 && group[node] == UINT32_MAX)
        {
            group[node] = server;
            open.push_back(node);
        }
    };
    for (size_t rank = 0; rank < serverOf.size(); ++rank)
    {
        enter(topology.GetEndpoints()[endpointOf[rank]], serverOf[rank]);
    }
    std::vector<double> exits(*std::ranges::max_element(serverOf) + 1, 0.0);
    while (!open.empty())
    {
        const auto node = open.back();
        open.pop_back();
        for (const auto& port : topology.GetPorts(node))
        {
            const auto& link = topology.GetLinks()[port.link];
            if (topology.GetNodes()[port.peer].tier > 0)
            {
                exits[group[node]] += static_cast<double>(link.rate.GetBitRate()) / 8.0;
            }
            enter(port.peer, group[node]);
        }
    }
    return exits;
}

} // namespace

ServerSizes
CountServerSizes(const std::vector<uint32_t>& serverOf)
{
    std::map<uint32_t, uint32_t> sizes;
    for (const auto server : serverOf)
    {
        ++sizes[server];
    }
    ServerSizes found{static_cast<uint32_t>(sizes.size()), UINT32_MAX, 0};
    for (const auto& [server, size] : sizes)
    {
        found.least = std::min(found.least, size);
        found.most = std::max(found.most, size);
    }
    return found;
}

NcclMachine
MeasureNcclMachine(const Topology& topology,
                   std::span<const uint32_t> endpointOf,
                   const std::vector<uint32_t>& serverOf)
{
    NcclMachine machine;
    machine.ranks = static_cast<uint32_t>(endpointOf.size());
    machine.servers = CountServerSizes(serverOf).servers;
    machine.insideRate = std::numeric_limits<double>::infinity();
    const auto nodes = topology.GetNodes();
    for (const auto endpoint : endpointOf)
    {
        const auto node = topology.GetEndpoints()[endpoint];
        const auto nvlink = SumRates(topology, node, true);
        machine.hasNvlink = machine.hasNvlink && nvlink > 0.0;
        machine.insideRate =
            std::min(machine.insideRate, nvlink > 0.0 ? nvlink : SumRates(topology, node, false));
        machine.hasNvswitch =
            machine.hasNvswitch &&
            std::ranges::any_of(topology.GetPorts(node), [&nodes](const Adjacency& port) {
                return nodes[port.peer].kind == NodeKind::NvSwitch;
            });
    }
    machine.betweenRate = std::ranges::min(SumExits(topology, endpointOf, serverOf));
    return machine;
}

} // namespace ns3::gradsync
