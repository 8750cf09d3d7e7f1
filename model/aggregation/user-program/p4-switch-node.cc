// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-switch-node.h"

#include "ns3/aggregation-address.h"
#include "ns3/aggregation-driver.h"
#include "ns3/simulator.h"
#include "ns3/udp-frame.h"
#include "ns3/wire-format.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Ports have 9 bits in v1model, and the last one means that a packet is dropped.
constexpr size_t MAX_P4_PORTS = 511;

/// The endpoint to which a frame is addressed.
uint32_t
FindDestination(std::span<const uint8_t> frame, size_t endpoints)
{
    constexpr size_t IPV4_END = wire::ETHERNET_BYTES + wire::IPV4_BYTES;
    return frame.size() < IPV4_END
               ? AggregationAddress::NO_ENDPOINT
               : AggregationAddress::FindEndpoint(GetDestination(frame), endpoints);
}

} // namespace

P4SwitchNode::P4SwitchNode(AggregationHost& host,
                           NodeId node,
                           std::shared_ptr<const P4Program> program)
    : m_host(host),
      m_network(host.GetNetwork()),
      m_node(node),
      m_pipeline(std::move(program))
{
    const auto& topology = *m_network.topology;
    const auto ports = topology.GetPorts(node).size();
    if (ports > MAX_P4_PORTS)
    {
        throw std::invalid_argument(fmt::format("switch {} has {} ports, but a P4 program knows {}",
                                                topology.GetNodes()[node].name,
                                                ports,
                                                MAX_P4_PORTS));
    }
}

NodeId
P4SwitchNode::GetPeer(uint16_t port) const
{
    return m_network.topology->GetPorts(m_node)[port].peer;
}

bool
P4SwitchNode::Takes(const AggregationPacket& content) const
{
    const auto* driver = m_host.FindDriver(content.driver);
    return !driver || driver->ReadsFrames();
}

bool
P4SwitchNode::Process(FabricPacket* packet, uint16_t port, TimeStepCount now)
{
    if (!Takes(m_network.contents.Get(*packet)))
    {
        return false;
    }
    const auto frame = m_host.MakeFrame(*packet, GetPeer(port), m_node);
    const auto time = static_cast<uint64_t>(Simulator::Now().GetMicroSeconds());
    for (const auto& output : m_pipeline.Process(frame, port, time))
    {
        Send(output, *packet, port, now);
    }
    m_network.fabric->GetPool().Give(packet);
    return true;
}

void
P4SwitchNode::Send(const P4OutputPacket& output,
                   const FabricPacket& cause,
                   uint16_t port,
                   TimeStepCount now)
{
    const auto wireBytes = wire::OnWire(
        static_cast<uint32_t>(std::min<size_t>(output.bytes.size(), UINT16_MAX)) + wire::FCS_BYTES);
    const auto& topology = *m_network.topology;
    if (output.port >= topology.GetPorts(m_node).size() || wireBytes > UINT16_MAX)
    {
        ++m_strays;
        return;
    }
    auto* packet = m_network.fabric->GetPool().Take();
    *packet = cause;
    auto& content = m_network.contents.Attach(*packet);
    m_host.ReadFrame(output.bytes, content);
    content.frame = output.bytes;
    content.framedBy = m_node;
    packet->destination = FindDestination(output.bytes, topology.GetEndpoints().size());
    packet->wireBytes = static_cast<uint16_t>(wireBytes);
    m_network.fabric->GetSwitch(m_node)->Emit(packet,
                                              port,
                                              static_cast<uint16_t>(output.port),
                                              now);
}

} // namespace ns3::gradsync
