// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_NETWORK_H
#define GRADSYNC_AGGREGATION_NETWORK_H

#include "ns3/aggregation-contents.h"
#include "ns3/fabric-network.h"
#include "ns3/switch-memory.h"
#include "ns3/topology.h"
#include "ns3/transport.h"

#include <cstdint>
#include <memory>
#include <set>

namespace ns3::gradsync
{

class RoceTransport;

/// What packets of aggregations carry.
enum AggregationValues
{
    VALUES_SIZES, //!< nothing: only sizes matter
    VALUES_REAL,  //!< integers, which switches aggregate and workers check
    VALUES_FLOAT  //!< likewise, those of gradients
};

/// What a sum is that int32 cannot hold.
enum AggregationOverflow
{
    OVERFLOW_ERROR, //!< a failure of the job
    OVERFLOW_COUNT  //!< expected, and counted
};

/// What aggregates in switches.
enum AggregationEngine
{
    ENGINE_NATIVE, //!< a model of the protocol
    ENGINE_P4      //!< a P4 program in a P4Pipeline: the same packets, more slowly
};

/// In which tiers there are switches that can aggregate.
enum AggregationTier
{
    TIER_ALL,
    TIER_LEAF, //!< those nearest to endpoints alone
    TIER_SPINE //!< those above them alone
};

/// What holds for all protocols: the Attributes of the service.
struct AggregationSettings
{
    AggregationEngine engine{ENGINE_NATIVE};
    AggregationValues values{VALUES_SIZES};
    uint32_t valueBits{24};
    int gradients{0};     //!< index in GetGradientDistributions
    double scale{0.0};    //!< of floats before they are rounded; 0: as the protocol has it
    bool saturate{false}; //!< sums stop at the ends of int32; false: they wrap around
    AggregationOverflow overflow{OVERFLOW_ERROR};
    uint32_t retryLimit{100};
};

/// What the drivers of protocols share: the fabric, and what is known of it.
struct AggregationNetwork
{
    Ptr<FabricNetwork> fabric;
    std::shared_ptr<const Topology> topology;
    RoceTransport* transport{nullptr}; //!< for messages of protocols
    AggregationSettings settings;
    AggregationContents contents;
    SwitchMemory memory;
    AggregationOutage outage;         //!< as far as it is known
    std::set<NodeId> plain;           //!< switches that do not aggregate now
    std::set<NodeId> foreign;         //!< switches that run programs of the user
    AggregationStatistics statistics; //!< what endpoints tell
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_NETWORK_H
