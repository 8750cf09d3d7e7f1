// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PORT_COUNTERS_H
#define GRADSYNC_PORT_COUNTERS_H

#include "ns3/fabric-packet.h"

#include <cstdint>

namespace ns3::gradsync
{

/// Counters of one direction of a link.
struct PortCounters
{
    uint64_t packets{0};
    uint64_t dataPackets{0};
    uint64_t payloadBytes{0};
    uint64_t wireBytes{0};
    uint64_t droppedPackets{0};
    uint64_t maxQueueBytes{0};
    TimeStepCount pausedFor{0};
    uint64_t pauses{0};       //!< by PFC
    uint64_t blockedBytes{0}; //!< see FabricNetwork's Attribute CountBlocked
    uint64_t ecnMarkedPackets{0};
};

/// Counters of all that starts; see PortCounters.
struct PortTraffic
{
    uint64_t packets{0};
    uint64_t dataPackets{0};
    uint64_t payloadBytes{0};
    uint64_t wireBytes{0};

    void Add(const FabricPacket& packet)
    {
        ++packets;
        dataPackets += packet.kind == PacketKind::Data;
        payloadBytes += packet.payloadBytes;
        wireBytes += packet.wireBytes;
    }

    void Remove(const FabricPacket& packet)
    {
        --packets;
        dataPackets -= packet.kind == PacketKind::Data;
        payloadBytes -= packet.payloadBytes;
        wireBytes -= packet.wireBytes;
    }

    /// Those that are of it.
    void Add(const PortCounters& counters)
    {
        packets += counters.packets;
        dataPackets += counters.dataPackets;
        payloadBytes += counters.payloadBytes;
        wireBytes += counters.wireBytes;
    }
};

/// Counters of what is rare; see PortCounters.
struct PortIncidents
{
    uint64_t droppedPackets{0};
    uint64_t blockedBytes{0};
    uint64_t ecnMarkedPackets{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PORT_COUNTERS_H
