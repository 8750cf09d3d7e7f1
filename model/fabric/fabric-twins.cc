// SPDX-License-Identifier: GPL-2.0-only
// The parts of networks by which some parts of a network stand for others.
#include "ns3/fabric-network.h"
#include "ns3/switch-rounds.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

/// The node at the far end of a port.
NodeId
FabricNetwork::GetTarget(size_t port) const
{
    const auto& link = m_topology->GetLinks()[port / 2];
    return port % 2 == 0 ? link.b : link.a;
}

bool
FabricNetwork::MayHaveTwins() const
{
    // Else departures that switches must see in time are events, which nobody counts.
    for (size_t port = 0; port < m_portCount; ++port)
    {
        if (m_switches[GetTarget(port)] && !m_ports[port]->IsGathered())
        {
            return false;
        }
    }
    return !IsLookedInto();
}

void
FabricNetwork::SetTwins(std::vector<uint32_t> simulated)
{
    m_simulated = std::move(simulated);
}

bool
FabricNetwork::AreTwins(std::span<const uint32_t> ports, bool isMarked) const
{
    return MayHaveTwins() && std::ranges::all_of(ports, [&](uint32_t port) {
               return m_ports[port]->IsCertain(isMarked);
           });
}

FabricNetwork::PartCounts
FabricNetwork::CountPart(std::span<const uint32_t> ports) const
{
    std::map<NodeId, uint64_t> done;
    for (const auto& [lookahead, rounds] : m_rounds)
    {
        rounds->AddDone(done);
    }
    std::set<NodeId> switches;
    PartCounts counts;
    for (const auto port : ports)
    {
        if (m_switches[GetTarget(port)])
        {
            switches.insert(GetTarget(port));
            continue;
        }
        counts.events += m_ports[port]->CountArrived();
        counts.arrivedBytes += GetCounters(port).payloadBytes;
    }
    for (const auto node : switches)
    {
        counts.events += done[node];
    }
    return counts;
}

} // namespace ns3::gradsync
