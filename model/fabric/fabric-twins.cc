// SPDX-License-Identifier: GPL-2.0-only
// The parts of ports and networks by which some parts of a network stand for others.
#include "ns3/fabric-network.h"
#include "ns3/switch-rounds.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

uint64_t
FabricPort::CountArrived() const
{
    auto arrived = m_traffic.packets;
    for (const auto* packet = m_firstFlying; packet; packet = packet->next)
    {
        --arrived;
    }
    return arrived;
}

bool
FabricNetwork::MayHaveTwins() const
{
    // Else departures that switches must see in time are events, which nobody counts.
    for (size_t port = 0; port < m_portCount; ++port)
    {
        const auto& link = m_topology->GetLinks()[port / 2];
        if (m_switches[port % 2 == 0 ? link.b : link.a] && !m_ports[port]->IsGathered())
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
FabricNetwork::AreTwins(bool isMarked) const
{
    return MayHaveTwins() && std::ranges::all_of(m_ports, [isMarked](const auto& port) {
               return port->IsCertain(isMarked);
           });
}

uint64_t
FabricNetwork::CountPacketEvents() const
{
    auto count = GetRoundCounts().taken;
    for (const auto& port : m_ports)
    {
        count += port->IsGathered() ? 0 : port->CountArrived();
    }
    return count;
}

} // namespace ns3::gradsync
