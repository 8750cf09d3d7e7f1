// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/packet-state.h"

namespace ns3::gradsync
{

namespace
{

/// What a packet is, wherever it is.
void
AddPacket(const FabricPacket& packet, const PacketStateWriter& addConnection, StateWords& words)
{
    if ((packet.flags & (PacketFlag::TELEMETRY | PacketFlag::PROGRAM | PacketFlag::DEPARTURE)) != 0)
    {
        words.Refuse("packets carry records");
    }
    words.Add(packet.kind);
    words.Add(packet.flags);
    words.Add(packet.payloadBytes);
    words.Add(packet.wireBytes);
    words.Add(packet.destination);
    words.Add(packet.flowHash);
    if (packet.kind == PacketKind::Nak)
    {
        words.Add(packet.sackOffset);
    }
    if (packet.kind <= PacketKind::Cnp)
    {
        addConnection(packet, words);
    }
}

} // namespace

void
AddWaitingPackets(const FabricPacket* first,
                  const PacketStateWriter& addConnection,
                  StateWords& words)
{
    for (const auto* packet = first; packet; packet = packet->next)
    {
        AddPacket(*packet, addConnection, words);
        if (packet->kind == PacketKind::Data)
        {
            words.Add(packet->ingressPort);
        }
    }
    words.EndList();
}

void
AddFlyingPackets(const FabricPacket* first,
                 const PacketStateWriter& addConnection,
                 StateWords& words)
{
    for (const auto* packet = first; packet; packet = packet->next)
    {
        AddPacket(*packet, addConnection, words);
        words.AddTime(packet->arrival);
    }
    words.EndList();
}

} // namespace ns3::gradsync
