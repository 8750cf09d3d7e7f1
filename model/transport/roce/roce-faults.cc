// SPDX-License-Identifier: GPL-2.0-only
// The part of RoceTransport that is about what goes wrong: faults, losses, failures.
#include "ns3/log.h"
#include "ns3/roce-transport.h"
#include "ns3/simulator.h"

#include <fmt/format.h>
#include <utility>
#include <vector>

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

void
RoceTransport::TellLoss(RoceQueuePair& queuePair, bool isTimeout, TimeStepCount now)
{
    NS_LOG_LOGIC("connection " << queuePair.src << " -> " << queuePair.dst << " lost packets, by "
                               << (isTimeout ? "a timeout" : "a negative acknowledgement"));
    m_recoveryTrace(queuePair.src, queuePair.dst, isTimeout);
    if (m_control)
    {
        OwnFlow(queuePair);
        Decide(queuePair, now, [&](auto& own) { m_control->OnLoss(own, isTimeout, now); });
    }
}

void
RoceTransport::Fail(RoceQueuePair& queuePair)
{
    const auto reason = fmt::format("connection {} -> {} gave up after {} timeouts of {} ms",
                                    GetName(queuePair.src),
                                    GetName(queuePair.dst),
                                    queuePair.retries,
                                    m_timeout.ToDouble(Time::MS));
    NS_LOG_WARN(reason);
    std::vector<std::pair<MessageHandler*, uint64_t>> undelivered;
    bool isDelivered = true;
    for (auto* message = queuePair.oldest; message;)
    {
        isDelivered = isDelivered && message != queuePair.receiving;
        if (!isDelivered)
        {
            undelivered.emplace_back(message->handler, message->tag);
        }
        auto* next = message->next;
        m_messages.Give(message);
        message = next;
    }
    Close(queuePair);
    for (const auto& [handler, tag] : undelivered)
    {
        handler->OnFailed(tag, reason);
    }
}

} // namespace ns3::gradsync
