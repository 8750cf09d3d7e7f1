// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_STOCK_NETWORK_H
#define GRADSYNC_STOCK_NETWORK_H

#include "ns3/ipv4-address.h"
#include "ns3/node-container.h"
#include "ns3/packet.h"
#include "ns3/topology.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * A topology built from what ns-3 itself offers, for comparison: PointToPointNetDevice with
 * DropTail queues, the IPv4 stack, nix-vector routing (one shortest path for each pair, the form of
 * routing that ns-3 recommends for large networks; static and global routing search their tables
 * linearly).
 *
 * There is no queue disc, and the device queues hold a million packets, so nothing is ever lost.
 */
class StockNetwork
{
  public:
    /// \param topology must outlive this; \param mtuBytes largest IP packet
    StockNetwork(const Topology& topology, uint16_t mtuBytes);

    Ptr<Node> GetNode(uint32_t endpoint) const;
    Ipv4Address GetAddress(uint32_t endpoint) const;

    /// Transmissions, by any device, of TCP packets that carry payload; retransmissions count.
    uint64_t GetDataPacketHops() const;
    /// Transmissions of all other packets (acknowledgements, connection set-up).
    uint64_t GetControlPacketHops() const;
    /// Packets that a device queue refused.
    uint64_t GetDroppedPackets() const;

  private:
    void AddLink(LinkId id, uint16_t mtuBytes);
    void OnTransmit(Ptr<const Packet> packet);
    void OnDrop(Ptr<const Packet> packet);

    const Topology* m_topology;
    NodeContainer m_nodes;
    std::vector<Ipv4Address> m_addresses; //!< [node] of its first link
    uint64_t m_dataPacketHops{0};
    uint64_t m_controlPacketHops{0};
    uint64_t m_droppedPackets{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_STOCK_NETWORK_H
