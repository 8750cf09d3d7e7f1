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

/**
 * A protocol by which switches of the fabric add up what endpoints send. A transport over the
 * fabric hands its aggregations to one of these; see Transport::Aggregate.
 */
class NetworkAggregation : public Object
{
  public:
    static TypeId GetTypeId();

    /// Called once, after the Attributes are set and the fabric is installed.
    virtual void Install(const Ptr<FabricNetwork>& fabric,
                         std::shared_ptr<const Topology> topology) = 0;

    // As of Transport.
    virtual uint32_t OpenAggregation(const AggregationGroup& group) = 0;
    virtual void CloseAggregation(uint32_t group) = 0;
    virtual void Aggregate(const AggregationMessage& message) = 0;
    virtual void Abandon(const Transport::MessageFilter& isMeant) = 0;
    virtual void SetRebuildHandler(Transport::RebuildHandler handler) = 0;
    virtual void SetAggregatorState(NodeId node, bool adds) = 0;
    virtual void AvoidInAggregations(const AggregationOutage& outage) = 0;
    virtual AggregationStatistics GetStatistics() const = 0;
    /// The bytes of one of its packets on a link between two nodes, for captures; without FCS.
    virtual std::vector<uint8_t> MakeFrame(const FabricPacket& packet,
                                           NodeId sender,
                                           NodeId receiver) = 0;
    /// Adds the bytes and packets of aggregations to those of messages.
    virtual void AddStatistics(TransportStatistics& total) const = 0;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NETWORK_AGGREGATION_H
