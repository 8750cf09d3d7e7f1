// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/path-catalogue.h"

#include "ns3/roce-connection-table.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ns3::gradsync
{

PathCatalogue::PathCatalogue(const Topology& topology, const NetworkModel& model)
    : m_topology(topology),
      m_routes(topology),
      m_choice(model.pathChoice)
{
    if (m_choice != PathChoice::Spread)
    {
        m_choosers =
            MakeNextHopChoosers(topology,
                                m_routes,
                                m_choice == PathChoice::Connection ? LB_HASH : LB_DESTINATION,
                                model.hashSeed);
    }
}

uint32_t
PathCatalogue::Find(uint32_t src, uint32_t dst, uint32_t stream)
{
    uint32_t hash = 0;
    uint32_t backHash = 0;
    if (m_choice == PathChoice::Connection)
    {
        hash = static_cast<uint32_t>(RoceConnection{src, dst, stream}.GetHash());
        backHash = ~hash; // see RoceQueuePair
    }
    const auto path = FindKey({src, dst, hash});
    const auto back = FindKey({dst, src, backHash});
    m_paths[path].back = back;
    return path;
}

uint32_t
PathCatalogue::FindKey(const Key& key)
{
    const auto [found, isNew] = m_pathOf.try_emplace(key, static_cast<uint32_t>(m_paths.size()));
    if (isNew)
    {
        m_paths.push_back(m_choosers.empty() ? Spread(key) : Follow(key));
        AddNic(key, m_paths.back());
    }
    return found->second;
}

NetworkPath
PathCatalogue::MakePath(const Latency& latency)
{
    NetworkPath path;
    path.delaySeconds = latency.delay;
    path.slowestSecondsPerByte = latency.slowest;
    path.forwardSecondsPerByte = latency.perByte - latency.slowest;
    return path;
}

void
PathCatalogue::AddLink(LinkId id, Latency& latency) const
{
    const auto& link = m_topology.GetLinks()[id];
    const auto perByte = 8.0 / static_cast<double>(link.rate.GetBitRate());
    latency.delay += link.delay.GetSeconds();
    latency.perByte += perByte;
    latency.slowest = std::max(latency.slowest, perByte);
}

void
PathCatalogue::AddNic(const Key& key, NetworkPath& path) const
{
    const auto node = m_topology.GetEndpoints()[key.src];
    for (const auto& use : path.uses)
    {
        const auto& link = m_topology.GetLinks()[use.link / 2];
        if ((use.link % 2 == 0 ? link.a : link.b) == node)
        {
            path.firstLink = use.link;
            path.firstSecondsPerByte = 8.0 / static_cast<double>(link.rate.GetBitRate());
        }
    }
}

NetworkPath
PathCatalogue::Spread(const Key& key) const
{
    auto path = MakePath(FindLongest(m_topology.GetEndpoints()[key.src], key.dst));
    for (const auto& share : m_routes.GetEvenSplit(key.src, key.dst))
    {
        path.uses.push_back({2 * share.link + (share.forward ? 0U : 1U), share.share});
    }
    return path;
}

NetworkPath
PathCatalogue::Follow(const Key& key) const
{
    Latency latency;
    std::vector<MaxMinAllocator::Use> uses;
    const auto end = m_topology.GetEndpoints()[key.dst];
    for (auto node = m_topology.GetEndpoints()[key.src]; node != end;)
    {
        const auto hops = m_routes.GetNextHops(node, key.dst);
        const auto count = static_cast<uint32_t>(hops.size());
        const auto chosen = count == 1 ? 0 : m_choosers[node].Choose(key.hash, key.dst, count);
        const auto& port = m_topology.GetPorts(node)[hops[chosen]];
        uses.push_back(
            {2 * port.link + (m_topology.GetLinks()[port.link].a == node ? 0U : 1U), 1.0});
        AddLink(port.link, latency);
        node = port.peer;
    }
    auto path = MakePath(latency);
    path.uses = std::move(uses);
    return path;
}

PathCatalogue::Latency
PathCatalogue::FindLongest(NodeId node, uint32_t endpoint) const
{
    Latency longest;
    std::optional<uint16_t> last;
    for (const auto port : m_routes.GetNextHops(node, endpoint))
    {
        if (std::exchange(last, port) == port)
        {
            continue; // one of several entries
        }
        const auto& hop = m_topology.GetPorts(node)[port];
        auto latency = FindLongest(hop.peer, endpoint);
        AddLink(hop.link, latency);
        if (latency.delay + latency.perByte >= longest.delay + longest.perByte)
        {
            longest = latency;
        }
    }
    return longest;
}

std::vector<double>
PathCatalogue::GetCapacities() const
{
    std::vector<double> capacities;
    capacities.reserve(2 * m_topology.GetLinks().size());
    for (const auto& link : m_topology.GetLinks())
    {
        capacities.insert(capacities.end(), 2, static_cast<double>(link.rate.GetBitRate()) / 8);
    }
    return capacities;
}

} // namespace ns3::gradsync
