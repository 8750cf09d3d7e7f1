// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-switch-node.h"

#include "ns3/aggregation-address.h"
#include "ns3/simulator.h"
#include "ns3/slot-frame.h"
#include "ns3/wire-format.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// What our own protocols find in a frame.
void
ReadFrame(std::span<const uint8_t> frame, SlotPacket& content)
{
    content.protocol = ProgramProtocol::Other;
    if (CheckFrame(frame, SLOT_UDP_PORT) != FrameCheck::Protocol)
    {
        return;
    }
    if (auto parsed = ParseSlotFrame(frame))
    {
        content.protocol = ProgramProtocol::Slots;
        content.header = parsed->header;
        content.values = std::move(parsed->values);
    }
}

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

P4SwitchNode::P4SwitchNode(const Place& place, std::shared_ptr<const P4Program> program)
    : m_place(place),
      m_pipeline(std::move(program))
{
}

NodeId
P4SwitchNode::GetPeer(uint16_t port) const
{
    return m_place.topology->GetPorts(m_place.node)[port].peer;
}

bool
P4SwitchNode::Process(FabricPacket* packet, uint16_t port, TimeStepCount now)
{
    if (m_place.contents->Get(*packet).protocol == ProgramProtocol::Atp)
    {
        return false; // what it would send could not be read back
    }
    const auto frame = m_place.frames->MakeFrame(*packet, GetPeer(port), m_place.node);
    const auto time = static_cast<uint64_t>(Simulator::Now().GetMicroSeconds());
    for (const auto& output : m_pipeline.Process(frame, port, time))
    {
        Send(output, *packet, port, now);
    }
    m_place.pool->Give(packet);
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
    if (output.port >= m_place.topology->GetPorts(m_place.node).size() || wireBytes > UINT16_MAX)
    {
        ++m_strays;
        return;
    }
    auto* packet = m_place.pool->Take();
    *packet = cause;
    auto& content = m_place.contents->Attach(*packet);
    ReadFrame(output.bytes, content);
    content.frame = output.bytes;
    content.framedBy = m_place.node;
    packet->destination = FindDestination(output.bytes, m_place.topology->GetEndpoints().size());
    packet->wireBytes = static_cast<uint16_t>(wireBytes);
    m_place.forwarder->Emit(packet, port, static_cast<uint16_t>(output.port), now);
}

} // namespace ns3::gradsync
