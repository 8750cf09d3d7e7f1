// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRANSPORT_H
#define GRADSYNC_TRANSPORT_H

#include "ns3/aggregation-protocol.h"
#include "ns3/link-state.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/routing-tables.h"
#include "ns3/topology.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Told when a message is through. Called from simulator events.
class MessageHandler
{
  public:
    /// The last byte of the message is at the receiver, all earlier bytes too.
    virtual void OnDelivered(uint64_t tag) = 0;
    /// The transport gave up; `reason` names the connection and the cause.
    virtual void OnFailed(uint64_t tag, const std::string& reason) = 0;
    /// What was delivered is not what was to be; `reason` says how. Nothing can mend that.
    virtual void OnWrongSum(uint64_t tag, const std::string& reason);

  protected:
    ~MessageHandler() = default;
};

/// One message between two endpoints.
struct Message
{
    uint32_t src;    //!< endpoint index
    uint32_t dst;    //!< endpoint index, not src
    uint32_t stream; //!< messages with equal (src, dst, stream) are delivered in the order sent
    uint64_t bytes;  //!< 0 is allowed: still costs one packet
    uint64_t tag;    //!< given back to the handler
    MessageHandler* handler;
};

/// A group of endpoints for which the network is to add up.
struct AggregationGroup
{
    std::vector<uint32_t> endpoints; //!< distinct
    /// Endpoint of a parameter server, which adds up what the switches have no room for (ATP);
    /// none: there is no server, and switches have room for all (SwitchML).
    std::optional<uint32_t> server{};
    AggregationProtocol protocol{AggregationProtocol::SwitchMl};
    /// Endpoints agree on an exponent for each packet, by those that packets before it carry.
    bool sharesExponents{false};
};

/// What one endpoint of a group gives to an aggregation, and waits for.
struct AggregationMessage
{
    uint32_t group;  //!< of Transport::OpenAggregation
    uint32_t member; //!< index of the endpoint in the group
    uint64_t index;  //!< running number of the aggregation in its group, from 0, the same for all
    uint64_t bytes;  //!< the same for all; 0 is allowed: still costs one packet
    uint64_t tag;    //!< given back to the handler
    MessageHandler* handler; //!< OnDelivered: this endpoint has the sum of all
};

/// What those who choose switches for aggregations know to be out of order.
struct AggregationOutage
{
    std::vector<bool> links;   //!< [link] true: down; empty: none is
    std::set<NodeId> switches; //!< that forward, but do not add up
};

/// What happened to the packets of all aggregations.
struct AggregationStatistics
{
    uint64_t results{0};         //!< packets of sums that endpoints took, each once
    uint64_t retransmissions{0}; //!< contributions that endpoints sent again
    uint64_t repeatedResults{0}; //!< that switches sent again to one that asked
    uint64_t staleDrops{0};      //!< packets of earlier uses of a slot, at switches
    uint64_t overflows{0};       //!< packets at switches that drove a sum out of int32
    uint64_t serverPackets{0};   //!< that reached parameter servers
    uint64_t collisions{0};      //!< packets for which a switch had no room
    uint64_t wrongSums{0};       //!< results that are not the exact sum, where values are real
    uint64_t overflowedSums{0};  //!< results that are not because int32 cannot hold the sum
    uint64_t checkedSums{0};     //!< results whose every integer was compared with the sum
    uint64_t rebuilds{0};        //!< groups that got other switches
    uint64_t resizes{0};         //!< groups that got more slots or fewer
    uint64_t floatPackets{0};    //!< contributions that had to go to servers as floats
    // Of the sums of floats, each once, beside float64.
    double squaredSumErrors{0};
    double squaredSums{0};
    double largestSumError{0};
};

/// What one direction of one link carried.
struct LinkStatistics
{
    uint64_t packets{0};      //!< data, acknowledgements and control
    uint64_t payloadBytes{0}; //!< message bytes, retransmissions included
    uint64_t wireBytes{0};    //!< with all headers, preamble and inter-frame gap
    uint64_t droppedPackets{0};
    uint64_t ecnMarkedPackets{0};
    uint64_t maxQueueBytes{0};
    Time pfcPause; //!< time for which the sending end was paused
    uint64_t pfcPauses{0};
    uint64_t blockedBytes{0}; //!< on the wire, that waited for nothing but the end of a pause
};

/// Totals of a transport.
struct TransportStatistics
{
    uint64_t goodputBytes{0}; //!< message bytes delivered, each once
    uint64_t wireBytes{0};    //!< sum over links
    uint64_t dataPacketHops{0};
    uint64_t controlPacketHops{0}; //!< acknowledgements, CNPs, PFC frames
    uint64_t droppedPackets{0};
    uint64_t ecnMarkedPackets{0};
    uint64_t retransmittedPackets{0};
    uint64_t retransmittedBytes{0}; //!< of messages
    Time pfcPause;                  //!< sum over links
};

/**
 * Moves messages between endpoints. The one interface between the exchange engine and all networks.
 *
 * A transport is an ns-3 Object; its tunables are Attributes, so that a scenario key `mtu` sets the
 * Attribute `Mtu` of whatever transport is chosen.
 */
class Transport : public Object
{
  public:
    static TypeId GetTypeId();

    /// Builds the network. Called once, after the Attributes are set and before the first Send.
    virtual void Install(std::shared_ptr<const Topology> topology,
                         std::shared_ptr<const RoutingTables> routes) = 0;

    virtual void Send(const Message& message) = 0;

    /*
     * Aggregation in the network. A transport that does not say otherwise throws
     * std::invalid_argument with a text for the user.
     */

    /**
     * Prepares switches to add up what endpoints send. The aggregations of a group run in the order
     * of their index; an endpoint may go ahead of the others.
     * \returns the number of the group
     * \throws std::invalid_argument with a text for the user when the network cannot
     */
    virtual uint32_t OpenAggregation(const AggregationGroup& group);
    /// Forgets a group with all that is under way; nobody is told.
    virtual void CloseAggregation(uint32_t group);
    /// One endpoint takes part in the next aggregation of its group.
    virtual void Aggregate(const AggregationMessage& message);
    virtual AggregationStatistics GetAggregationStatistics() const;

    /// Told the number of a group that got other switches.
    using RebuildHandler = std::function<void(uint32_t group)>;
    virtual void SetRebuildHandler(RebuildHandler handler);

    // Faults of what adds up. Transports without aggregation have none, and ignore them.
    /// A switch loses its program for aggregation with all that is in it, and goes on forwarding;
    /// or has one again.
    virtual void SetAggregatorState(NodeId node, bool adds);
    /// Groups that use any of this are to do without.
    virtual void AvoidInAggregations(const AggregationOutage& outage);

    /*
     * What faults do to the network, from the instant of the call on. A transport that does not say
     * otherwise throws std::logic_error.
     */

    /// Whether a message is meant, by its ends and by who is told of it.
    using MessageFilter =
        std::function<bool(uint32_t src, uint32_t dst, const MessageHandler* handler)>;

    /**
     * Closes every connection all of whose messages are meant. What they have not delivered is
     * forgotten, and nobody is told. A connection with other messages too goes on.
     */
    virtual void Abandon(const MessageFilter& isMeant);

    /// Both directions of a link.
    virtual void SetLinkState(LinkId link, const LinkState& state);
    virtual void SetEndpointState(uint32_t endpoint, const EndpointState& state);
    /// The network has found other routes.
    virtual void SetRoutes(std::shared_ptr<const RoutingTables> routes);

    /// Index: 2 * link + (0: from end a to end b, 1: from b to a).
    virtual std::vector<LinkStatistics> GetLinkStatistics() const = 0;
    virtual TransportStatistics GetStatistics() const = 0;

  private:
    [[noreturn]] void ThrowNoFaults() const;
    [[noreturn]] void ThrowNoAggregation() const;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRANSPORT_H
