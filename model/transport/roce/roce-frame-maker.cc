// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-frame-maker.h"

namespace ns3::gradsync
{

RoceFrameMaker::RoceFrameMaker(const RoceConnectionTable& connections)
    : m_connections(connections)
{
}

RoceFrameInfo
RoceFrameMaker::Describe(const FabricPacket& packet, NodeId sender, NodeId receiver)
{
    RoceFrameInfo info{};
    info.senderNode = sender;
    info.receiverNode = receiver;
    if (packet.kind == PacketKind::Pause || packet.kind == PacketKind::Resume)
    {
        return info;
    }
    const auto key = std::pair{packet.connection, packet.generation};
    const auto* queuePair = m_connections.Find(packet.connection, packet.generation);
    // A closed one keeps its ends until it serves again, which begins another generation still.
    const auto& last = m_connections.Peek(packet.connection);
    if (last.generation - packet.generation <= 1)
    {
        m_seen[key] = {last.src, last.dst};
    }
    const auto& connection = m_seen[key];
    const bool isData = packet.kind == PacketKind::Data;
    info.sourceEndpoint = isData ? connection.src : connection.dst;
    // Even numbers at senders, odd ones at receivers; 0 and 1 are special on real devices.
    info.destinationPair = 2 * packet.connection + (isData ? 3 : 2);
    if (isData && queuePair && queuePair->oldest && packet.psn >= queuePair->oldest->firstPsn)
    {
        const auto& messages = queuePair->FindMessages(packet.psn);
        info.isFirst = messages.GetFirstPsn(messages.FindIndex(packet.psn)) == packet.psn;
    }
    return info;
}

std::vector<uint8_t>
RoceFrameMaker::Make(const FabricPacket& packet, NodeId sender, NodeId receiver)
{
    return MakeRoceFrame(packet, Describe(packet, sender, receiver));
}

} // namespace ns3::gradsync
