// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PACKET_STATE_H
#define GRADSYNC_PACKET_STATE_H

#include "ns3/fabric-packet.h"
#include "ns3/state-words.h"

#include <functional>

namespace ns3::gradsync
{

/// Adds what a packet means to the transport that it is of.
using PacketStateWriter = std::function<void(const FabricPacket& packet, StateWords& words)>;

/// Writes down what packets that wait are, and where they end. \param first nullptr: there are none
void AddWaitingPackets(const FabricPacket* first,
                       const PacketStateWriter& addConnection,
                       StateWords& words);

/// Likewise of those on a wire, and when they arrive.
void AddFlyingPackets(const FabricPacket* first,
                      const PacketStateWriter& addConnection,
                      StateWords& words);

} // namespace ns3::gradsync

#endif // GRADSYNC_PACKET_STATE_H
