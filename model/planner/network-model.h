// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NETWORK_MODEL_H
#define GRADSYNC_NETWORK_MODEL_H

#include <algorithm>
#include <cstdint>

namespace ns3::gradsync
{

/// How a network chooses among paths of equal length.
enum class PathChoice
{
    Spread,      //!< evenly over all, as FluidTransport and, on average, packet by packet
    Destination, //!< LB_DESTINATION
    Connection   //!< LB_HASH of RoCE connections
};

/// What an estimate has to know of a transport: the packets that carry a message and their path.
struct NetworkModel
{
    uint32_t payloadBytes{0};  //!< of a full packet; 0: a fluid, without packets
    uint32_t overheadBytes{0}; //!< that a packet takes on a link beside its payload
    uint32_t ackEvery{0};      //!< packets, and at the end of each message; 0: none
    uint32_t ackBytes{0};      //!< of an acknowledgement on a link
    /// A full queue holds back all connections of a NIC together, as PFC does, and nothing else
    /// does.
    bool pausesNics{false};
    PathChoice pathChoice{PathChoice::Spread};
    uint64_t hashSeed{1}; //!< of PathChoice::Connection

    uint64_t CountPackets(uint64_t messageBytes) const
    {
        // An empty message still costs a packet.
        return payloadBytes == 0
                   ? 0
                   : std::max<uint64_t>((messageBytes + payloadBytes - 1) / payloadBytes, 1);
    }

    /// What a message takes on a link.
    double GetWireBytes(uint64_t messageBytes) const
    {
        return static_cast<double>(messageBytes + CountPackets(messageBytes) * overheadBytes);
    }

    /// What its acknowledgements take on the way back.
    double GetAckWireBytes(uint64_t messageBytes) const
    {
        return ackEvery == 0 ? 0.0
                             : static_cast<double>((CountPackets(messageBytes) + ackEvery - 1) /
                                                   ackEvery * ackBytes);
    }

    /// What a switch has to have of a message before it sends it on: its largest packet.
    double GetPacketWireBytes(uint64_t messageBytes) const
    {
        return payloadBytes == 0
                   ? 0.0
                   : static_cast<double>(std::min<uint64_t>(messageBytes, payloadBytes) +
                                         overheadBytes);
    }
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NETWORK_MODEL_H
