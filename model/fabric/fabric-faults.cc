// SPDX-License-Identifier: GPL-2.0-only
// The part of FabricNetwork that faults use.
#include "ns3/fabric-network.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>

namespace ns3::gradsync
{

namespace
{

constexpr int64_t FAULT_STREAM = 1 << 20; //!< random number streams of faulty links, one a port

} // namespace

/// From which a port sends.
NodeId
FabricNetwork::GetSource(size_t port) const
{
    const auto& link = m_topology->GetLinks()[port / 2];
    return port % 2 == 0 ? link.a : link.b;
}

/// Whether this process simulates a node.
bool
FabricNetwork::IsHere(NodeId node) const
{
    return m_division.partOf.empty() || m_division.IsHere(node);
}

/// Packets are put on this wire when they have long started.
bool
FabricNetwork::ComesFromElsewhere(size_t port) const
{
    return !IsHere(GetSource(port));
}

LinkFault&
FabricNetwork::GetFault(size_t port)
{
    auto& fault = m_faults[port];
    if (!fault)
    {
        fault = std::make_unique<LinkFault>(GetLoss(port),
                                            FAULT_STREAM + static_cast<int64_t>(port),
                                            m_pool);
        m_ports[port]->SetLoss(fault.get());
        if (ComesFromElsewhere(port))
        {
            fault->Expect(0, -1);
        }
    }
    return *fault;
}

void
FabricNetwork::SetFlood(size_t port, double bitRate)
{
    if (!IsHere(GetSource(port)))
    {
        return;
    }
    auto& flood = m_floods[port];
    if (!flood && bitRate > 0.0)
    {
        flood = std::make_unique<FloodSource>(*m_ports[port], m_pool);
    }
    if (flood)
    {
        flood->SetBitRate(bitRate);
    }
}

void
FabricNetwork::TakeDown(LinkId link, TimeStepCount now)
{
    const auto& ends = m_topology->GetLinks()[link];
    for (const size_t port : {2 * size_t{link}, 2 * size_t{link} + 1})
    {
        GetFault(port).SetDown();
        m_ports[port]->Flush(m_pool, now);
    }
    for (const auto node : {ends.a, ends.b})
    {
        const auto ports = m_topology->GetPorts(node);
        const auto found = std::find_if(ports.begin(), ports.end(), [link](const auto& port) {
            return port.link == link;
        });
        if (m_switches[node])
        {
            m_switches[node]->ResetIngress(static_cast<uint16_t>(found - ports.begin()), now);
        }
    }
}

void
FabricNetwork::SetLinkState(LinkId link, const LinkState& state)
{
    RequireInStep();
    const auto now = Simulator::Now().GetTimeStep();
    const auto& own = m_topology->GetLinks()[link];
    const auto before = m_linkStates[link];
    m_linkStates[link] = state;
    if (before.up && !state.up)
    {
        TakeDown(link, now);
    }
    const auto ownBits = own.rate.GetBitRate();
    const DataRate rate(static_cast<uint64_t>(std::llround(state.GetBitRate(ownBits))));
    for (const size_t port : {2 * size_t{link}, 2 * size_t{link} + 1})
    {
        auto& fault = GetFault(port);
        if (!before.up && state.up)
        {
            fault.SetUp(ComesFromElsewhere(port) ? -1 : m_ports[port]->GetLastArrival(now));
        }
        if (before.loss != state.loss)
        {
            fault.SetLoss(state.loss);
        }
        if (before.rateShare != state.rateShare || before.extraDelay != state.extraDelay)
        {
            m_ports[port]->SetWire(rate, own.delay + state.extraDelay, now);
        }
        SetFlood(port, state.GetFloodBitRate(ownBits));
    }
}

void
FabricNetwork::SetEndpointState(uint32_t endpoint, const EndpointState& state)
{
    RequireInStep();
    const auto now = Simulator::Now().GetTimeStep();
    auto& node = *m_endpoints[endpoint];
    for (size_t port = 0; port < node.GetPortCount(); ++port)
    {
        node.GetPort(static_cast<uint16_t>(port)).SetHeld(!state.sends, now);
    }
    const auto deaf = m_deafSinks.find(endpoint);
    if (!state.receives && deaf == m_deafSinks.end())
    {
        m_deafSinks[endpoint] = node.GetSink();
        node.SetSink(this);
    }
    else if (state.receives && deaf != m_deafSinks.end())
    {
        node.SetSink(deaf->second);
        m_deafSinks.erase(deaf);
    }
}

PacketReceiver*
FabricNetwork::GetSink(uint32_t endpoint)
{
    const auto deaf = m_deafSinks.find(endpoint);
    return deaf == m_deafSinks.end() ? m_endpoints[endpoint]->GetSink() : deaf->second;
}

void
FabricNetwork::SetSink(uint32_t endpoint, PacketReceiver* sink)
{
    const auto deaf = m_deafSinks.find(endpoint);
    if (deaf == m_deafSinks.end())
    {
        m_endpoints[endpoint]->SetSink(sink);
    }
    else
    {
        deaf->second = sink;
    }
}

void
FabricNetwork::Receive(FabricPacket* packet, uint32_t /* endpoint */, TimeStepCount /* now */)
{
    ++m_unreceivedPackets;
    m_pool.Give(packet);
}

void
FabricNetwork::SetRoutes(std::shared_ptr<const RoutingTables> routes)
{
    RequireInStep();
    for (auto* forwarder : m_switches)
    {
        if (forwarder)
        {
            forwarder->SetRoutes(*routes);
        }
    }
    m_routes = std::move(routes);
}

uint64_t
FabricNetwork::GetLostPackets() const
{
    auto packets = m_unreceivedPackets;
    for (const auto* forwarder : m_switches)
    {
        packets += forwarder ? forwarder->GetUnroutablePackets() : 0;
    }
    return packets;
}

} // namespace ns3::gradsync
