// SPDX-License-Identifier: GPL-2.0-only
// And the parts of networks that it alone asks for.
#include "ns3/fabric-part.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// All but the longest queue.
PortCounters
Subtract(PortCounters from, const PortCounters& counters)
{
    from.packets -= counters.packets;
    from.dataPackets -= counters.dataPackets;
    from.payloadBytes -= counters.payloadBytes;
    from.wireBytes -= counters.wireBytes;
    from.droppedPackets -= counters.droppedPackets;
    from.pausedFor -= counters.pausedFor;
    from.pauses -= counters.pauses;
    from.blockedBytes -= counters.blockedBytes;
    from.ecnMarkedPackets -= counters.ecnMarkedPackets;
    return from;
}

} // namespace

uint32_t
FabricNetwork::GetPortIndex(NodeId node, uint16_t port) const
{
    const auto link = m_topology->GetPorts(node)[port].link;
    return 2 * link + (m_topology->GetLinks()[link].a == node ? 0 : 1);
}

/// By which ports of a node packets to an endpoint may leave.
std::span<const uint16_t>
FabricNetwork::GetWays(NodeId node, uint32_t dst) const
{
    const auto nextHops = m_routes->GetNextHops(node, dst);
    if (m_loadBalancing != LB_DESTINATION || nextHops.empty())
    {
        return nextHops;
    }
    const auto count = static_cast<uint32_t>(nextHops.size());
    return nextHops.subspan(m_choosers[node].Choose(0, dst, count), 1); // whatever the connection
}

void
FabricNetwork::AddPlaces(uint32_t src, uint32_t dst, std::set<uint32_t>& places) const
{
    const auto source = m_topology->GetEndpoints()[src];
    std::set<NodeId> seen{source};
    std::vector<NodeId> left{source};
    while (!left.empty())
    {
        const auto node = left.back();
        left.pop_back();
        for (const auto port : GetWays(node, dst))
        {
            places.insert(GetPortIndex(node, port));
            const auto peer = m_topology->GetPorts(node)[port].peer;
            if (m_switches[peer] && seen.insert(peer).second)
            {
                places.insert(static_cast<uint32_t>(m_portCount) + peer);
                left.push_back(peer);
            }
        }
    }
}

std::vector<uint32_t>
FabricNetwork::FindOnlyPath(uint32_t src, uint32_t dst) const
{
    std::vector<uint32_t> path;
    auto node = m_topology->GetEndpoints()[src];
    const auto target = m_topology->GetEndpoints()[dst];
    while (node != target)
    {
        const auto ways = GetWays(node, dst);
        if (ways.size() != 1)
        {
            return {};
        }
        path.push_back(GetPortIndex(node, ways[0]));
        node = m_topology->GetPorts(node)[ways[0]].peer;
    }
    return path;
}

FabricPart::FabricPart(FabricNetwork& fabric, std::vector<uint32_t> ports)
    : m_fabric(fabric),
      m_ports(std::move(ports))
{
}

uint32_t
FabricPart::FindPlace(uint32_t port) const
{
    return static_cast<uint32_t>(std::ranges::lower_bound(m_ports, port) - m_ports.begin());
}

void
FabricPart::AddShape(std::span<const uint32_t> endpoints, StateWords& words) const
{
    const auto& topology = m_fabric.GetTopology();
    std::map<NodeId, size_t> names; // of nodes, in the order in which they come
    for (const auto endpoint : endpoints)
    {
        names.emplace(topology.GetEndpoints()[endpoint], names.size());
    }
    for (const auto port : m_ports)
    {
        const auto& link = topology.GetLinks()[port / 2];
        const bool isForward = port % 2 == 0;
        words.Add(link.rate.GetBitRate());
        words.Add(link.delay.GetTimeStep());
        words.Add(IsEthernet(link));
        for (const auto node : {isForward ? link.a : link.b, isForward ? link.b : link.a})
        {
            const auto [found, isNew] = names.emplace(node, names.size());
            words.Add(found->second);
            if (const auto* forwarder = m_fabric.GetSwitch(node); isNew && forwarder)
            {
                words.Add(forwarder->GetSharedBytes());
            }
        }
    }
    words.EndList();
}

bool
FabricPart::IsAtRest(TimeStepCount now, bool isMarked)
{
    for (const auto port : m_ports)
    {
        m_fabric.GetPort(port).Sync(now);
    }
    const auto links = m_fabric.GetTopology().GetLinks();
    const auto runsProgram = [&](NodeId node) {
        const auto* forwarder = m_fabric.GetSwitch(node);
        return forwarder && forwarder->HasProgram();
    };
    return std::ranges::all_of(m_ports, [&](uint32_t index) {
        const auto& port = m_fabric.GetPort(index);
        const auto& link = links[index / 2];
        return port.IsAtRest(now) && port.IsUndisturbed(isMarked) && !runsProgram(link.a) &&
               !runsProgram(link.b);
    });
}

TimeStepCount
FabricPart::GetRestTime() const
{
    TimeStepCount last = 0;
    for (const auto port : m_ports)
    {
        last = std::max(last, m_fabric.GetPort(port).GetRestTime());
    }
    return last;
}

void
FabricPart::BeginMeasuring(TimeStepCount now)
{
    m_before.clear();
    for (const auto port : m_ports)
    {
        m_before.push_back(m_fabric.GetPort(port).GetCounters(now));
        m_fabric.GetPort(port).MeasureQueue();
    }
}

std::vector<PortCounters>
FabricPart::Measure(TimeStepCount now) const
{
    std::vector<PortCounters> measured;
    for (size_t i = 0; i < m_ports.size(); ++i)
    {
        const auto& port = m_fabric.GetPort(m_ports[i]);
        measured.push_back(Subtract(port.GetCounters(now), m_before[i]));
        measured.back().maxQueueBytes = port.GetMeasuredQueue();
    }
    return measured;
}

void
FabricPart::Add(std::span<const PortCounters> counters)
{
    for (size_t i = 0; i < m_ports.size(); ++i)
    {
        m_fabric.GetPort(m_ports[i]).AddCounters(counters[i]);
    }
}

uint64_t
FabricPart::GetArrivedBytes(std::span<const PortCounters> counters) const
{
    const auto& topology = m_fabric.GetTopology();
    uint64_t bytes = 0;
    for (size_t i = 0; i < m_ports.size(); ++i)
    {
        const auto& link = topology.GetLinks()[m_ports[i] / 2];
        const auto to = m_ports[i] % 2 == 0 ? link.b : link.a;
        bytes += m_fabric.GetSwitch(to) ? 0 : counters[i].payloadBytes;
    }
    return bytes;
}

} // namespace ns3::gradsync
