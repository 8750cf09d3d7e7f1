// SPDX-License-Identifier: GPL-2.0-only
// The part of RoceTransport that faults use.
#include "ns3/roce-transport.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3::gradsync
{

void
RoceTransport::SetLinkState(LinkId link, const LinkState& state)
{
    m_fabric->SetLinkState(link, state);
}

void
RoceTransport::SetEndpointState(uint32_t endpoint, const EndpointState& state)
{
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
    m_fabric->SetRoutes(std::move(routes));
    const auto now = Simulator::Now().GetTimeStep();
    for (auto* queuePair : m_connections.ListOpen())
    {
        ChoosePorts(*queuePair, now);
    }
}

void
RoceTransport::ChoosePorts(RoceQueuePair& queuePair, TimeStepCount now)
{
    const auto hash = queuePair.flowHash;
    queuePair.acknowledgePort = m_fabric->ChooseEndpointPort(queuePair.dst, ~hash, queuePair.src);
    const auto port = ChooseSourcePort(queuePair);
    if (port == queuePair.sourcePort)
    {
        return;
    }
    GetNic(queuePair).GetPort().Sync(now);
    GetNic(queuePair).Remove(queuePair);
    queuePair.sourcePort = port;
    auto& nic = GetNic(queuePair);
    nic.GetPort().Sync(now);
    if (queuePair.GetInFlight() > 0)
    {
        nic.Touch(queuePair, now);
    }
    nic.Add(queuePair);
    nic.GetPort().SourceReady(now);
}

void
RoceTransport::Abandon(const MessageFilter& isMeant)
{
    if (m_aggregation)
    {
        m_aggregation->Abandon(isMeant);
    }
    for (auto* queuePair : m_connections.ListOpen())
    {
        if (IsMeant(*queuePair, isMeant))
        {
            GetNic(*queuePair).GetPort().Sync(Simulator::Now().GetTimeStep());
            // What was to depart by now may have been all that was left to do.
            GiveMessages(*queuePair);
            Close(*queuePair);
        }
    }
}

bool
RoceTransport::IsMeant(const RoceQueuePair& queuePair, const MessageFilter& isMeant)
{
    for (const auto* message = queuePair.oldest; message; message = message->next)
    {
        if (!isMeant(queuePair.src, queuePair.dst, message->handler))
        {
            return false;
        }
    }
    return true;
}

void
RoceTransport::GiveMessages(RoceQueuePair& queuePair)
{
    for (auto* message = queuePair.oldest; message;)
    {
        auto* next = message->next;
        m_messages.Give(message);
        message = next;
    }
}

} // namespace ns3::gradsync
