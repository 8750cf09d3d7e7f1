// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FABRIC_NODE_H
#define GRADSYNC_FABRIC_NODE_H

#include "ns3/fabric-packet.h"

#include <cstdint>

namespace ns3::gradsync
{

class FabricPort;

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

    /**
     * A link that leads here has something on its wire again, which the node takes off it by
     * itself. Called for ports with FabricWire::SetGathered.
     * \param port number of the port by which it comes in
     */
    virtual void Expect(uint16_t /* port */, TimeStepCount /* arrival */)
    {
    }

    /**
     * Fetches into the cache what Receive will touch for a packet that is on its way, and changes
     * nothing. Called for rounds 0, 1, 2: each may follow the pointers that the one before fetched.
     * \returns the port by which the packet leaves, as soon as that is known and its first lines
     * were fetched: what the port touches is fetched in the next rounds, and nobody asks again
     */
    virtual const FabricPort* PrefetchFor(const FabricPacket& /* packet */,
                                          uint32_t /* round */) const
    {
        return nullptr;
    }

    static constexpr uint32_t PREFETCH_ROUNDS = 3;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FABRIC_NODE_H
