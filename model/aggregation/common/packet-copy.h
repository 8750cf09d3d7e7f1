// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PACKET_COPY_H
#define GRADSYNC_PACKET_COPY_H

#include "ns3/aggregation-contents.h"
#include "ns3/packet-pool.h"

namespace ns3::gradsync
{

/// Another packet with the same header, which is of this type, and with whatever values the last
/// user of its contents left in them.
template <typename Header>
FabricPacket*
CopyPacket(PacketPool& pool, AggregationContents& contents, const FabricPacket& packet)
{
    auto* copy = pool.Take();
    *copy = packet;
    auto& content = contents.Attach(*copy);
    const auto& original = contents.Get(packet);
    content.driver = original.driver;
    content.As<Header>() = original.As<Header>();
    return copy;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_PACKET_COPY_H
