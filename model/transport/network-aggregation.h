// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NETWORK_AGGREGATION_H
#define GRADSYNC_NETWORK_AGGREGATION_H

#include "ns3/fabric-network.h"
#include "ns3/object.h"
#include "ns3/transport.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

class RoceTransport;

/// Where a packet is in a message of a transport.
struct MessagePlace
{
    uint64_t tag; //!< of the message
    uint64_t bytes;
    uint32_t index; //!< of the packet in it
};

/**
 * A protocol by which switches of the fabric aggregate what endpoints send. A transport over the
 * fabric hands out one of these.
 */
class NetworkAggregation : public Object, public TransportAggregation
{
  public:
    static TypeId GetTypeId();

    /// A part with Attributes of its own, by name; null when there is none.
    virtual Ptr<Object> GetPart(const std::string& name) = 0;

    /// Called once, after the Attributes are set and the fabric is installed.
    virtual void Install(const Ptr<FabricNetwork>& fabric,
                         std::shared_ptr<const Topology> topology) = 0;

    /**
     * Messages of its own go over this transport, by streams from FIRST_STREAM on. Before Install.
     */
    virtual void SetTransport(RoceTransport* transport) = 0;

    static constexpr uint32_t FIRST_STREAM = 1U << 31;

    /// What a packet of such a message carries. \param packet complete but for that
    virtual void Equip(FabricPacket& packet,
                       uint32_t endpoint,
                       uint32_t stream,
                       const MessagePlace& place) = 0;
    /// The port by which an endpoint sends such messages.
    virtual uint16_t GetSendingPort(uint32_t endpoint, uint32_t stream) const = 0;

    /// As of Transport.
    virtual void Abandon(const Transport::MessageFilter& isMeant) = 0;
    /// The bytes of one of its packets on a link between two nodes, for captures; without FCS. Of
    /// messages of the transport the payload.
    virtual std::vector<uint8_t> MakeFrame(const FabricPacket& packet,
                                           NodeId sender,
                                           NodeId receiver) = 0;
    /// Adds the bytes and packets of aggregations to those of messages.
    virtual void AddStatistics(TransportStatistics& total) const = 0;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NETWORK_AGGREGATION_H
