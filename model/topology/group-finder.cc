// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/group-finder.h"

#include "ns3/node-components.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <stdexcept>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// The groups of one tier, over the ranks of the job. Rates in bit/s.
struct Partition
{
    std::vector<uint32_t> groupOf; //!< [rank] -> group
    std::vector<double> exitBps;   //!< [group] summed rate of the links that leave it
    std::vector<double> demandBps; //!< [group] what the servers inside can send into the network
    std::vector<double> feedBps; //!< [group] what the groups of the tier below can hand to this one

    size_t GetCount() const
    {
        return exitBps.size();
    }
};

double
GetBps(const TopologyLink& link)
{
    return static_cast<double>(link.rate.GetBitRate());
}

/// [node]: an inner node of a server from which other inner nodes lead to a link out of the server.
std::vector<bool>
FindOutwardNodes(const Topology& topology)
{
    const auto nodes = topology.GetNodes();
    std::vector<bool> outward(nodes.size(), false);
    std::vector<NodeId> queue;
    for (NodeId node = 0; node < nodes.size(); ++node)
    {
        if (nodes[node].tier > 0)
        {
            queue.push_back(node);
        }
    }
    for (size_t head = 0; head < queue.size(); ++head)
    {
        for (const auto& port : topology.GetPorts(queue[head]))
        {
            const auto& peer = nodes[port.peer];
            if (peer.tier == 0 && !IsEndpoint(peer.kind) && !outward[port.peer])
            {
                outward[port.peer] = true;
                queue.push_back(port.peer);
            }
        }
    }
    return outward;
}

/// Rate at which each rank can send toward the outside of its server: an NVLink to a switch that
/// serves accelerators only does not count.
std::vector<double>
GetEgressBps(const Topology& topology, std::span<const NodeId> nodeOfRank)
{
    const auto outward = FindOutwardNodes(topology);
    std::vector<double> egress(nodeOfRank.size(), 0.0);
    for (size_t rank = 0; rank < nodeOfRank.size(); ++rank)
    {
        for (const auto& port : topology.GetPorts(nodeOfRank[rank]))
        {
            if (outward[port.peer] || topology.GetNodes()[port.peer].tier > 0)
            {
                egress[rank] += GetBps(topology.GetLinks()[port.link]);
            }
        }
    }
    return egress;
}

/// Groups the ranks by component and adds up what leaves each group; the rest is still empty.
Partition
MakePartition(const Topology& topology,
              std::span<const NodeId> nodeOfRank,
              NodeComponents& components)
{
    Partition partition;
    std::map<NodeId, uint32_t> groupOfRoot;
    for (const auto node : nodeOfRank)
    {
        const auto next = static_cast<uint32_t>(groupOfRoot.size());
        partition.groupOf.push_back(
            groupOfRoot.try_emplace(components.Find(node), next).first->second);
    }
    partition.exitBps.assign(groupOfRoot.size(), 0.0);
    partition.demandBps = partition.exitBps;
    partition.feedBps = partition.exitBps;
    for (const auto& link : topology.GetLinks())
    {
        const auto a = components.Find(link.a);
        const auto b = components.Find(link.b);
        for (const auto root : {a, b})
        {
            const auto found = groupOfRoot.find(root);
            if (a != b && found != groupOfRoot.end())
            {
                partition.exitBps[found->second] += GetBps(link);
            }
        }
    }
    return partition;
}

/// Adds min(rates, exits) of every group of `inner` to the group of `outer` that contains it.
void
AddLimited(const Partition& inner,
           const std::vector<double>& innerRates,
           const Partition& outer,
           std::vector<double>& outerRates)
{
    std::vector<uint32_t> outerOf(inner.GetCount());
    for (size_t rank = 0; rank < inner.groupOf.size(); ++rank)
    {
        outerOf[inner.groupOf[rank]] = outer.groupOf[rank];
    }
    for (size_t group = 0; group < inner.GetCount(); ++group)
    {
        outerRates[outerOf[group]] += std::min(innerRates[group], inner.exitBps[group]);
    }
}

double
GetLargestRatio(const std::vector<double>& rates, const std::vector<double>& exits)
{
    double largest = 0.0;
    for (size_t group = 0; group < rates.size(); ++group)
    {
        largest = std::max(largest, rates[group] / exits[group]);
    }
    return largest;
}

std::string
GetTierName(uint32_t tier)
{
    constexpr const char* Names[] = {"server", "rack", "pod"};
    return tier < std::size(Names) ? Names[tier] : fmt::format("tier{}", tier);
}

GroupLevel
MakeLevel(uint32_t tier, const Partition& partition)
{
    return {.name = GetTierName(tier),
            .groupOf = partition.groupOf,
            .groupCount = static_cast<uint32_t>(partition.GetCount()),
            .oversubscription = GetLargestRatio(partition.demandBps, partition.exitBps),
            .feedRatio = GetLargestRatio(partition.feedBps, partition.exitBps)};
}

std::vector<NodeId>
GetNodesOfRanks(const Topology& topology, std::span<const uint32_t> endpointOfRank)
{
    const auto endpoints = topology.GetEndpoints();
    std::vector<NodeId> nodes;
    std::vector<bool> isTaken(endpoints.size(), false);
    for (size_t rank = 0; rank < endpointOfRank.size(); ++rank)
    {
        const auto endpoint = endpointOfRank[rank];
        if (endpoint >= endpoints.size())
        {
            throw std::invalid_argument(
                fmt::format("rank {} is placed on endpoint {}, but the topology has {} endpoints",
                            rank,
                            endpoint,
                            endpoints.size()));
        }
        if (isTaken[endpoint])
        {
            throw std::invalid_argument(
                fmt::format("rank {} is placed on endpoint {}, which another rank has already",
                            rank,
                            endpoint));
        }
        isTaken[endpoint] = true;
        nodes.push_back(endpoints[endpoint]);
    }
    return nodes;
}

/// The servers, where both what is wanted and what is fed is what the ranks themselves can send.
Partition
MakeServers(const Topology& topology,
            std::span<const NodeId> nodeOfRank,
            NodeComponents& components)
{
    components.JoinUpTo(0);
    auto servers = MakePartition(topology, nodeOfRank, components);
    const auto egress = GetEgressBps(topology, nodeOfRank);
    for (size_t rank = 0; rank < egress.size(); ++rank)
    {
        servers.feedBps[servers.groupOf[rank]] += egress[rank];
    }
    servers.demandBps = servers.feedBps;
    return servers;
}

} // namespace

WorkerGroups
ComputeWorkerGroups(const Topology& topology, std::span<const uint32_t> endpointOfRank)
{
    const auto nodeOfRank = GetNodesOfRanks(topology, endpointOfRank);
    NodeComponents components(topology);
    const auto servers = MakeServers(topology, nodeOfRank, components);
    WorkerGroups groups;
    auto partition = servers;
    auto listed = servers; // the partition of the last listed level
    for (uint32_t tier = 0; tier < components.GetTierCount(); ++tier)
    {
        if (tier > 0)
        {
            const auto inner = std::move(partition);
            components.JoinUpTo(tier);
            partition = MakePartition(topology, nodeOfRank, components);
            AddLimited(servers, servers.demandBps, partition, partition.demandBps);
            AddLimited(inner, inner.feedBps, partition, partition.feedBps);
        }
        if (partition.GetCount() == 1 || partition.GetCount() == nodeOfRank.size())
        {
            continue;
        }
        if (!groups.levels.empty() && partition.groupOf == listed.groupOf)
        {
            auto& level = groups.levels.back();
            const auto& exits = partition.exitBps;
            level.oversubscription =
                std::max(level.oversubscription, GetLargestRatio(listed.demandBps, exits));
            level.feedRatio = std::max(level.feedRatio, GetLargestRatio(listed.feedBps, exits));
            continue;
        }
        groups.levels.push_back(MakeLevel(tier, partition));
        listed = partition;
    }
    return groups;
}

GroupLevel
FindRacks(const Topology& topology, std::span<const uint32_t> endpointOfRank)
{
    const auto nodeOfRank = GetNodesOfRanks(topology, endpointOfRank);
    NodeComponents components(topology);
    GroupLevel racks{.name = GetTierName(1),
                     .groupOf = std::vector<uint32_t>(nodeOfRank.size(), 0),
                     .groupCount = 1};
    if (components.GetTierCount() > 1)
    {
        components.JoinUpTo(1);
        const auto partition = MakePartition(topology, nodeOfRank, components);
        racks.groupOf = partition.groupOf;
        racks.groupCount = static_cast<uint32_t>(partition.GetCount());
    }
    return racks;
}

std::vector<uint32_t>
FindServers(const Topology& topology, std::span<const uint32_t> endpointOfRank)
{
    const auto nodeOfRank = GetNodesOfRanks(topology, endpointOfRank);
    NodeComponents components(topology);
    components.JoinUpTo(0);
    return MakePartition(topology, nodeOfRank, components).groupOf;
}

} // namespace ns3::gradsync
