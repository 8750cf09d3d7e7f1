// SPDX-License-Identifier: GPL-2.0-only
// The part of RoceTransport that is about faults.
#include "ns3/log.h"
#include "ns3/roce-transport.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncRoceTransport");

void
RoceTransport::SetLinkState(LinkId link, const LinkState& state)
{
    NS_LOG_INFO("link " << link << (state.up ? " is up" : " is down"));
    m_fabric->SetLinkState(link, state);
}

void
RoceTransport::SetEndpointState(uint32_t endpoint, const EndpointState& state)
{
    NS_LOG_INFO("endpoint " << endpoint << (state.sends ? " sends" : " does not send")
                            << (state.receives ? " and receives" : " and does not receive"));
    m_fabric->SetEndpointState(endpoint, state);
    const auto now = Simulator::Now().GetTimeStep();
    const auto node = m_topology->GetEndpoints()[endpoint];
    for (size_t port = 0; port < m_topology->GetPorts(node).size(); ++port)
    {
        m_nics[endpoint][port].SetSilent(!state.sends, now);
    }
}

void
RoceTransport::SetRoutes(std::shared_ptr<const RoutingTables> routes)
{
    m_sender.BuildReserved(); // they wait at the NICs that the old routes say
    m_fabric->SetRoutes(std::move(routes));
    m_sender.FollowRoutes(Simulator::Now().GetTimeStep());
}

void
RoceTransport::Abandon(const MessageFilter& isMeant)
{
    if (m_aggregation)
    {
        m_aggregation->Abandon(isMeant);
    }
    m_sender.Abandon(isMeant, Simulator::Now().GetTimeStep());
}

} // namespace ns3::gradsync
