// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NETWORK_PLANES_H
#define GRADSYNC_NETWORK_PLANES_H

#include "ns3/channel-places.h"
#include "ns3/network-part.h"
#include "ns3/workload.h"

#include <memory>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// What of a network some communications have to themselves, as those of one rail may.
struct NetworkPlane
{
    std::vector<CommunicationId> communications; //!< ascending
    std::unique_ptr<NetworkPart> part;
};

/**
 * Planes of equal shape whose communications, one by one, are equal: of the same plan, at the same
 * places. If they begin at equal times, all goes alike. Of each port of the first one the index is
 * below those of the others' equal ports.
 */
using PlaneTwins = std::vector<NetworkPlane>;

/**
 * Sets of two planes or more.
 * \param groups as of GroupByPlaces, those that may have twins
 */
std::vector<PlaneTwins> FindPlaneTwins(const Workload& workload,
                                       std::span<const ChannelGroup> groups,
                                       TransportParts& parts);

} // namespace ns3::gradsync

#endif // GRADSYNC_NETWORK_PLANES_H
