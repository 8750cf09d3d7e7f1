// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-switch-node.h"

#include "ns3/aggregation-address.h"
#include "ns3/aggregation-driver.h"
#include "ns3/fabric-port.h"
#include "ns3/fabric-switch.h"
#include "ns3/rng-seed-manager.h"
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

/// The IPv4 destination of a frame; 0 of one that is too short.
uint32_t
GetDestinationOrNone(std::span<const uint8_t> frame)
{
    return frame.size() < wire::UDP_AT ? 0 : GetDestination(frame);
}

/// The endpoint to which a frame is addressed.
uint32_t
FindDestination(std::span<const uint8_t> frame, size_t endpoints)
{
    return AggregationAddress::FindEndpoint(GetDestinationOrNone(frame), endpoints);
}

/// Of a frame that is short enough.
uint16_t
GetFrameWireBytes(const P4OutputPacket& output)
{
    return static_cast<uint16_t>(
        wire::OnWire(static_cast<uint32_t>(output.bytes.size()) + wire::FCS_BYTES));
}

} // namespace

P4SwitchNode::P4SwitchNode(AggregationHost& host,
                           NodeId node,
                           std::shared_ptr<const P4Program> program,
                           bool takesAll)
    : m_host(host),
      m_network(host.GetNetwork()),
      m_node(node),
      m_pipeline(std::move(program)),
      m_takesAll(takesAll)
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
    m_pipeline.SetQueues(m_pipeline.GetProgram().readsQueues);
    // Other random numbers for each switch and for each seed of the scenario.
    m_pipeline.SeedRandom(uint64_t{RngSeedManager::GetSeed()} << 32 | node);
}

void
P4SwitchNode::Watch(SwitchProgram& program)
{
    auto* node = m_network.fabric->GetSwitch(m_node);
    node->SetProgramTakesAll(m_takesAll);
    if (m_pipeline.GetProgram().readsQueues)
    {
        node->WatchDepartures(program);
    }
}

NodeId
P4SwitchNode::GetPeer(uint16_t port) const
{
    return m_network.topology->GetPorts(m_node)[port].peer;
}

bool
P4SwitchNode::IsReadable(const FabricPacket& packet) const
{
    if ((packet.flags & PacketFlag::PROGRAM) == 0)
    {
        return false;
    }
    const auto* driver = m_host.FindDriver(m_network.contents.Get(packet).driver);
    return !driver || driver->ReadsFrames();
}

bool
P4SwitchNode::Takes(const FabricPacket& packet) const
{
    // A message of the transport that has contents is a packet of two protocols.
    const bool isBoth =
        (packet.flags & PacketFlag::PROGRAM) != 0 && packet.connection != UINT32_MAX;
    return IsReadable(packet) || (m_takesAll && !isBoth);
}

bool
P4SwitchNode::Process(FabricPacket* packet, uint16_t port, TimeStepCount now)
{
    if (!Takes(*packet))
    {
        return false;
    }
    const auto frame = m_host.MakeFrame(*packet, GetPeer(port), m_node);
    const bool isReadable = IsReadable(*packet);
    if (frame.empty() && !isReadable)
    {
        return false; // of a job that is over: nothing is known of it
    }
    Cause cause{*packet, isReadable ? nullptr : packet, port, GetDestinationOrNone(frame), {}};
    if (!isReadable && (packet->flags & PacketFlag::PROGRAM) != 0)
    {
        cause.content = m_network.contents.Get(*packet);
    }
    SendAll(m_pipeline.Process(frame, port, GetMicroseconds(now)), cause, now);
    if (isReadable || cause.original)
    {
        m_network.fabric->GetPool().Give(packet);
    }
    return true;
}

void
P4SwitchNode::SendAll(std::span<const P4OutputPacket> outputs, Cause& cause, TimeStepCount now)
{
    if (m_pipeline.GetProgram().readsQueues)
    {
        SendQueued({outputs.begin(), outputs.end()}, cause, now);
        return;
    }
    for (const auto& output : outputs)
    {
        Send(output, cause, now);
    }
}

void
P4SwitchNode::Send(const P4OutputPacket& output, Cause& cause, TimeStepCount now)
{
    if (!HasPort(output))
    {
        return;
    }
    if (auto* packet = MakePacket(output, cause))
    {
        Emit(packet, cause, static_cast<uint16_t>(output.port), now);
    }
}

void
P4SwitchNode::Emit(FabricPacket* packet, const Cause& cause, uint16_t egress, TimeStepCount now)
{
    auto* node = m_network.fabric->GetSwitch(m_node);
    if (packet->kind == PacketKind::Data)
    {
        node->Emit(packet, cause.ingress, egress, now);
    }
    else
    {
        node->GetPort(egress).SendControl(packet, now);
    }
}

bool
P4SwitchNode::HasPort(const P4OutputPacket& output)
{
    const auto wireBytes = wire::OnWire(
        static_cast<uint32_t>(std::min<size_t>(output.bytes.size(), UINT16_MAX)) + wire::FCS_BYTES);
    const bool goes =
        output.port < m_network.topology->GetPorts(m_node).size() && wireBytes <= UINT16_MAX;
    m_strays += !goes;
    return goes;
}

/// A packet for an output; nullptr for one that goes nowhere.
FabricPacket*
P4SwitchNode::MakePacket(const P4OutputPacket& output, Cause& cause)
{
    auto& pool = m_network.fabric->GetPool();
    auto* packet = std::exchange(cause.original, nullptr);
    if (!packet)
    {
        packet = pool.Take();
        *packet = cause.packet;
        // A record of telemetry belongs to one packet.
        const auto flags = static_cast<uint8_t>(cause.packet.flags &
                                                ~(PacketFlag::TELEMETRY | PacketFlag::DEPARTURE));
        if ((packet->flags & PacketFlag::PROGRAM) != 0)
        {
            auto& content = m_network.contents.Attach(*packet);
            if (cause.content)
            {
                content = *cause.content;
            }
        }
        packet->flags = flags;
    }
    if (Fill(*packet, output, cause.destinationIp))
    {
        return packet;
    }
    pool.Give(packet);
    return nullptr;
}

/// What a program made of a packet. \returns false when it is to go nowhere
bool
P4SwitchNode::Fill(FabricPacket& packet, const P4OutputPacket& output, uint32_t destinationIp)
{
    packet.wireBytes = GetFrameWireBytes(output);
    if (!IsReadable(packet))
    {
        return Change(packet, output, destinationIp);
    }
    auto& content = m_network.contents.Get(packet);
    m_host.ReadFrame(output.bytes, content);
    content.frame = output.bytes;
    content.framedBy = m_node;
    packet.destination = FindDestination(output.bytes, m_network.topology->GetEndpoints().size());
    return true;
}

/// Its contents are the packet's own: it cannot be addressed to another host.
bool
P4SwitchNode::Change(FabricPacket& packet, const P4OutputPacket& output, uint32_t destinationIp)
{
    constexpr size_t DIFFSERV_AT = wire::ETHERNET_BYTES + 1;
    constexpr uint8_t ECN_MASK = 3; // RFC 3168: 3 is congestion experienced
    if (GetDestinationOrNone(output.bytes) != destinationIp)
    {
        ++m_strays;
        return false;
    }
    packet.flags &= static_cast<uint8_t>(~PacketFlag::CONGESTION_EXPERIENCED);
    if (output.bytes.size() > DIFFSERV_AT && (output.bytes[DIFFSERV_AT] & ECN_MASK) == ECN_MASK)
    {
        packet.flags |= PacketFlag::CONGESTION_EXPERIENCED;
    }
    return true;
}

} // namespace ns3::gradsync
