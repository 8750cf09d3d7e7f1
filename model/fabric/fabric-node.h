// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FABRIC_NODE_H
#define GRADSYNC_FABRIC_NODE_H

#include "ns3/fabric-packet.h"

#include <cstdint>

namespace ns3::gradsync
{

/// The far end of a link: takes packets.
class FabricNode
{
  public:
    virtual ~FabricNode() = default;

    /**
     * A packet has arrived whole (store and forward). The node owns it now.
     * \param port number of the port by which it came in
     */
    virtual void Receive(FabricPacket* packet, uint16_t port, TimeStepCount now) = 0;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FABRIC_NODE_H
