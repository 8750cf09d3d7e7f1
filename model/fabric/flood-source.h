// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FLOOD_SOURCE_H
#define GRADSYNC_FLOOD_SOURCE_H

#include "ns3/fabric-port.h"
#include "ns3/flood-clock.h"
#include "ns3/packet-pool.h"

namespace ns3::gradsync
{

/**
 * Background traffic that enters a port at a constant rate and leaves the network at the far end.
 *
 * It does not back off and goes before data, so that exactly its rate is missing there. Packets
 * have 1500 bytes and 38 of Ethernet: header, check sequence, preamble and gap.
 */
class FloodSource
{
  public:
    /// \param port must be one whose loss is a LinkFault, which takes the packets at the far end
    FloodSource(FabricPort& port, PacketPool& pool);

    /// On the wire; below the rate of the port. 0: stops.
    void SetBitRate(double bitRate);

  private:
    void Send();

    FabricPort& m_port;
    PacketPool& m_pool;
    FloodClock m_clock;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FLOOD_SOURCE_H
