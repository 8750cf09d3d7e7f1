// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BANDWIDTH_BOUND_H
#define GRADSYNC_BANDWIDTH_BOUND_H

#include "ns3/plan.h"
#include "ns3/routing-tables.h"
#include "ns3/topology.h"

#include <span>
#include <string>

namespace ns3::gradsync
{

/// The link direction that a plan loads for longest.
struct BandwidthBound
{
    double seconds{0.0}; //!< bytes over the link / its rate
    std::string from;
    std::string to;
};

/**
 * The least time that an exchange can take on a network, whatever its order of operations: the
 * plan's bytes are spread evenly over equal-cost paths, and no link carries its share faster than
 * its rate. Headers and delays are not counted. \param endpointOf [rank] -> endpoint index
 */
BandwidthBound ComputeBandwidthBound(const Plan& plan,
                                     std::span<const uint32_t> endpointOf,
                                     const Topology& topology,
                                     const RoutingTables& routes);

/**
 * The least time of any exchange on this network that does what a plan is for, in seconds
 * (ComputeExchangeBound of its collective). Switches add in it if they do in the plan.
 */
double ComputeCollectiveBound(const Plan& plan,
                              std::span<const uint32_t> endpointOf,
                              const Topology& topology);

} // namespace ns3::gradsync

#endif // GRADSYNC_BANDWIDTH_BOUND_H
