// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_FRAME_H
#define GRADSYNC_ROCE_FRAME_H

#include "ns3/fabric-packet.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// What a frame carries beyond the FabricPacket.
struct RoceFrameInfo
{
    uint32_t senderNode;          //!< node at the near end of the link: MAC source
    uint32_t receiverNode;        //!< node at its far end: MAC destination
    uint32_t sourceEndpoint;      //!< IPv4 source
    bool isFirst;                 //!< Data: the first packet of its message
    uint32_t destinationPair;     //!< queue pair number at the destination, 24 bits
    std::vector<uint8_t> payload; //!< the first bytes of it; zeros follow
};

/**
 * The bytes of a packet on an Ethernet link from destination MAC to ICRC, without FCS: RoCEv2
 * (Ethernet, IPv4, UDP port 4791, BTH, AETH, ICRC; InfiniBand Architecture Specification vol. 1,
 * 9.2, 9.3.5, annex A17), or a MAC control frame for PFC (IEEE 802.1Qbb). Telemetry and unknown
 * payload are zeros, the message sequence number of acknowledgements too. As long as the simulated
 * frame, so that payloads are not padded to 4 bytes.
 */
std::vector<uint8_t> MakeRoceFrame(const FabricPacket& packet, const RoceFrameInfo& info);

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_FRAME_H
