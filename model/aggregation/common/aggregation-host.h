// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_HOST_H
#define GRADSYNC_AGGREGATION_HOST_H

#include "ns3/aggregation-network.h"
#include "ns3/fabric-packet.h"
#include "ns3/topology.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

class AggregationDriver;
class AggregationNode;
class AggregationSession;
class PacketReceiver;

/// What the service does for the drivers of protocols.
class AggregationHost
{
  public:
    virtual AggregationNetwork& GetNetwork() = 0;

    /// By the number that packets have, or nullptr.
    virtual AggregationDriver* FindDriver(uint8_t number) = 0;

    /**
     * Gives a session a number that was not used lately, as packets of an old one may still be
     * under way, in place of the one that it has. \throws std::invalid_argument when there is none
     */
    virtual void TakeNumber(AggregationSession& session) = 0;
    /// The session of a number, or nullptr.
    virtual AggregationSession* FindSession(uint16_t number) = 0;
    /// Endpoints of the members by number, also of a session that is gone; nullptr: never used.
    virtual const std::vector<uint32_t>* FindEndpoints(uint16_t number) const = 0;
    /// A running number of the groups among which switches are dealt out.
    virtual uint32_t TakeTurn() = 0;

    /// What reaches an endpoint comes to the driver of the packet first.
    virtual void TakeSink(uint32_t endpoint) = 0;
    /// Who takes what is not for drivers. For endpoints of TakeSink.
    virtual PacketReceiver& GetSink(uint32_t endpoint) = 0;

    /// The part of a node in the protocol of a driver, which is made when it is asked for.
    virtual AggregationNode& GetNode(AggregationDriver& driver, NodeId node) = 0;

    /// The bytes of a packet on a link between two nodes, without FCS.
    virtual std::vector<uint8_t> MakeFrame(const FabricPacket& packet,
                                           NodeId sender,
                                           NodeId receiver) = 0;
    /// What a driver finds in a frame that a P4 program made.
    virtual void ReadFrame(std::span<const uint8_t> frame, AggregationPacket& content) = 0;

  protected:
    ~AggregationHost() = default;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_HOST_H
