// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_FRAME_MAKER_H
#define GRADSYNC_ROCE_FRAME_MAKER_H

#include "ns3/roce-connection-table.h"
#include "ns3/roce-frame.h"
#include "ns3/topology.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// Knows of each packet of RoCE what its frame has beyond it, by the packet's connection.
class RoceFrameMaker
{
  public:
    /// \param connections must outlive this
    explicit RoceFrameMaker(const RoceConnectionTable& connections);

    /// What the frame of a packet has on the link from one node to another.
    RoceFrameInfo Describe(const FabricPacket& packet, NodeId sender, NodeId receiver);

    /// The frame, without FCS.
    std::vector<uint8_t> Make(const FabricPacket& packet, NodeId sender, NodeId receiver);

  private:
    /// What a frame needs of the connection, which may be closed by the time of its last packets.
    struct Connection
    {
        uint32_t src;
        uint32_t dst;
    };

    const RoceConnectionTable& m_connections;
    std::map<std::pair<uint32_t, uint32_t>, Connection> m_seen; //!< [index, generation]
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_FRAME_MAKER_H
