// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/group-finder.h"

#include "ns3/node-components.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace ns3::gradsync
{

/// The groups of one tier, over the ranks of the job. Rates in bit/s.
struct TierPartition
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

namespace
{

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

/// [endpoint] rate at which it can send toward the outside of its server: an NVLink to a switch
/// that serves accelerators only does not count.
std::vector<double>
GetEgressBps(const Topology& topology)
{
    const auto outward = FindOutwardNodes(topology);
    std::vector<double> egress;
    for (const auto node : topology.GetEndpoints())
    {
        auto& own = egress.emplace_back(0.0);
        for (const auto& port : topology.GetPorts(node))
        {
            if (outward[port.peer] || topology.GetNodes()[port.peer].tier > 0)
            {
                own += GetBps(topology.GetLinks()[port.link]);
            }
        }
    }
    return egress;
}

/// Adds min(rates, exits) of every group of `inner` to the group of `outer` that contains it.
void
AddLimited(const TierPartition& inner,
           const std::vector<double>& innerRates,
           const TierPartition& outer,
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
MakeLevel(uint32_t tier, const TierPartition& partition)
{
    return {.name = GetTierName(tier),
            .groupOf = partition.groupOf,
            .groupCount = static_cast<uint32_t>(partition.GetCount()),
            .oversubscription = GetLargestRatio(partition.demandBps, partition.exitBps),
            .feedRatio = GetLargestRatio(partition.feedBps, partition.exitBps)};
}

} // namespace

GroupFinder::GroupFinder(const Topology& topology)
    : m_egressBps(GetEgressBps(topology))
{
    NodeComponents components(topology);
    for (uint32_t number = 0; number < components.GetTierCount(); ++number)
    {
        components.JoinUpTo(number);
        auto& tier = m_tiers.emplace_back();
        std::vector<uint32_t> indexOf(topology.GetNodes().size(), UINT32_MAX); // of what stands for
        const auto getIndex = [&](NodeId node) {
            auto& index = indexOf[components.Find(node)];
            if (index == UINT32_MAX)
            {
                index = static_cast<uint32_t>(tier.exitBps.size());
                tier.exitBps.push_back(0.0);
            }
            return index;
        };
        for (const auto node : topology.GetEndpoints())
        {
            tier.componentOf.push_back(getIndex(node));
        }
        for (const auto& link : topology.GetLinks())
        {
            const auto a = getIndex(link.a);
            const auto b = getIndex(link.b);
            if (a != b)
            {
                tier.exitBps[a] += GetBps(link);
                tier.exitBps[b] += GetBps(link);
            }
        }
    }
}

void
GroupFinder::CheckRanks(std::span<const uint32_t> endpointOfRank) const
{
    std::vector<bool> isTaken(m_egressBps.size(), false);
    for (size_t rank = 0; rank < endpointOfRank.size(); ++rank)
    {
        const auto endpoint = endpointOfRank[rank];
        if (endpoint >= isTaken.size())
        {
            throw std::invalid_argument(
                fmt::format("rank {} is placed on endpoint {}, but the topology has {} endpoints",
                            rank,
                            endpoint,
                            isTaken.size()));
        }
        if (isTaken[endpoint])
        {
            throw std::invalid_argument(
                fmt::format("rank {} is placed on endpoint {}, which another rank has already",
                            rank,
                            endpoint));
        }
        isTaken[endpoint] = true;
    }
}

/// Groups the ranks by component; demand and feed are still empty.
TierPartition
GroupFinder::MakePartition(const Tier& tier, std::span<const uint32_t> endpointOfRank) const
{
    TierPartition partition;
    std::unordered_map<uint32_t, uint32_t> groupOfComponent;
    for (const auto endpoint : endpointOfRank)
    {
        const auto component = tier.componentOf[endpoint];
        const auto next = static_cast<uint32_t>(partition.exitBps.size());
        const auto [found, isNew] = groupOfComponent.try_emplace(component, next);
        if (isNew)
        {
            partition.exitBps.push_back(tier.exitBps[component]);
        }
        partition.groupOf.push_back(found->second);
    }
    partition.demandBps.assign(partition.exitBps.size(), 0.0);
    partition.feedBps = partition.demandBps;
    return partition;
}

/// The servers, where both what is wanted and what is fed is what the ranks themselves can send.
TierPartition
GroupFinder::MakeServers(std::span<const uint32_t> endpointOfRank) const
{
    auto servers = MakePartition(m_tiers.front(), endpointOfRank);
    for (size_t rank = 0; rank < endpointOfRank.size(); ++rank)
    {
        servers.feedBps[servers.groupOf[rank]] += m_egressBps[endpointOfRank[rank]];
    }
    servers.demandBps = servers.feedBps;
    return servers;
}

WorkerGroups
GroupFinder::Find(std::span<const uint32_t> endpointOfRank) const
{
    CheckRanks(endpointOfRank);
    WorkerGroups groups;
    if (m_tiers.empty())
    {
        return groups;
    }
    const auto servers = MakeServers(endpointOfRank);
    auto partition = servers;
    auto listed = servers; // the partition of the last listed level
    for (uint32_t tier = 0; tier < m_tiers.size(); ++tier)
    {
        if (tier > 0)
        {
            const auto inner = std::move(partition);
            partition = MakePartition(m_tiers[tier], endpointOfRank);
            AddLimited(servers, servers.demandBps, partition, partition.demandBps);
            AddLimited(inner, inner.feedBps, partition, partition.feedBps);
        }
        if (partition.GetCount() == 1 || partition.GetCount() == endpointOfRank.size())
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

std::vector<uint32_t>
GroupFinder::FindTier(uint32_t tier, std::span<const uint32_t> endpointOfRank) const
{
    CheckRanks(endpointOfRank);
    if (tier >= m_tiers.size())
    {
        return std::vector<uint32_t>(endpointOfRank.size(), 0);
    }
    return MakePartition(m_tiers[tier], endpointOfRank).groupOf;
}

WorkerGroups
ComputeWorkerGroups(const Topology& topology, std::span<const uint32_t> endpointOfRank)
{
    return GroupFinder(topology).Find(endpointOfRank);
}

GroupLevel
FindRacks(const Topology& topology, std::span<const uint32_t> endpointOfRank)
{
    GroupLevel racks{.name = GetTierName(1),
                     .groupOf = GroupFinder(topology).FindTier(1, endpointOfRank),
                     .groupCount = 1};
    for (const auto group : racks.groupOf)
    {
        racks.groupCount = std::max(racks.groupCount, group + 1);
    }
    return racks;
}

std::vector<uint32_t>
FindServers(const Topology& topology, std::span<const uint32_t> endpointOfRank)
{
    return GroupFinder(topology).FindTier(0, endpointOfRank);
}

} // namespace ns3::gradsync
