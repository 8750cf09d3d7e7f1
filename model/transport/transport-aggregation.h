// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRANSPORT_AGGREGATION_H
#define GRADSYNC_TRANSPORT_AGGREGATION_H

#include "ns3/aggregation-flow.h"
#include "ns3/message.h"
#include "ns3/nstime.h"
#include "ns3/topology.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3::gradsync
{

struct AggregationLoad;

/// The network could aggregate for a group, but has no room for it now: others have it. A job that
/// has another way takes that, and asks again later.
class AggregationDenied : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/// A group of endpoints for which the network is to aggregate.
struct AggregationGroup
{
    std::vector<uint32_t> endpoints; //!< distinct
    /// Endpoint of a parameter server, for a protocol whose switches may have no room for all.
    std::optional<uint32_t> server{};
    std::string protocol{}; //!< as drivers of aggregations know it
    /// Endpoints agree on an exponent for each packet, by those that packets before it carry.
    bool sharesExponents{false};
    AggregationFlow flow{AggregationFlow::AllReduce};
    uint32_t root{0}; //!< index of the member, of a flow that has one
    /// The switch at which all comes together, and that sends the result; none: the network chooses
    std::optional<NodeId> rootSwitch{};
};

/// What one endpoint of a group gives to an aggregation, and waits for.
struct AggregationMessage
{
    uint32_t group;  //!< of TransportAggregation::OpenAggregation
    uint32_t member; //!< index of the endpoint in the group
    uint64_t index;  //!< running number of the aggregation in its group, from 0, the same for all
    uint64_t bytes;  //!< the same for all; 0 is allowed: still costs one packet
    uint64_t tag;    //!< given back to the handler
    /// OnDelivered: this endpoint has the sum of all, or what the root of a multicast gave; of a
    /// reduction at others than its root: what it gives has left.
    MessageHandler* handler;
};

/// What those who choose switches for aggregations know to be out of order.
struct AggregationOutage
{
    std::vector<bool> links;   //!< [link] true: down; empty: none is
    std::set<NodeId> switches; //!< that forward, but do not aggregate
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
    /// Sum, modulo 2^64, of a fingerprint of each result whose every value was checked, each once:
    /// the same where all bits of all sums are.
    uint64_t sumPrint{0};
    // Of switches that add by handlers on cores.
    uint64_t handlers{0};            //!< that have run
    Time handlerWait{0};             //!< of packets for a free core, over all packets
    uint64_t longestHandlerQueue{0}; //!< packets that waited for a core at one switch at a time
    Time busiestCores{0};            //!< that the cores of one switch were busy, mean of its cores
    // Of the sums of floats, each once, beside float64.
    double squaredSumErrors{0};
    double squaredSums{0};
    double largestSumError{0};
};

/// Aggregation in the network under a transport, which hands this out where switches can aggregate.
class TransportAggregation
{
  public:
    /**
     * Prepares switches to aggregate what endpoints send. The aggregations of a group run in the
     * order of their index; an endpoint may go ahead of the others. \returns the number of the
     * group \throws std::invalid_argument with a text for the user when the network cannot
     * \throws AggregationDenied likewise when it has no room now
     */
    virtual uint32_t OpenAggregation(const AggregationGroup& group) = 0;
    /// Forgets a group with all that is under way; nobody is told.
    virtual void CloseAggregation(uint32_t group) = 0;
    /// One endpoint takes part in the next aggregation of its group.
    virtual void Aggregate(const AggregationMessage& message) = 0;
    /// What the aggregations of an open group put on the network; nothing: that is not known.
    virtual std::optional<AggregationLoad> DescribeLoad(uint32_t group) const = 0;
    virtual AggregationStatistics GetStatistics() const = 0;
    /// What endpoints or switches of a protocol learn of each other at once, which those of
    /// different processes cannot; empty: nothing. \throws std::invalid_argument as OpenAggregation
    virtual std::string FindShared(const std::string& protocol) const = 0;

    /// Told the number of a group that got other switches.
    using RebuildHandler = std::function<void(uint32_t group)>;
    virtual void SetRebuildHandler(RebuildHandler handler) = 0;

    /// A switch loses its program for aggregation with all that is in it, and goes on forwarding;
    /// or has one again.
    virtual void SetAggregatorState(NodeId node, bool adds) = 0;
    /// Groups that use any of this are to do without.
    virtual void AvoidInAggregations(const AggregationOutage& outage) = 0;

  protected:
    ~TransportAggregation() = default;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRANSPORT_AGGREGATION_H
