// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_THREE_TIER_TOPOLOGY_H
#define GRADSYNC_THREE_TIER_TOPOLOGY_H

#include "ns3/server-builder.h"
#include "ns3/topology-kinds.h"

#include <cstdint>

namespace ns3::gradsync
{

/**
 * Pods of leaves and aggregation switches below a layer of cores. In a pod every leaf has one link
 * to every aggregation switch.
 *
 * The wanted oversubscriptions are cumulative, as GroupLevel::oversubscription: the rate of the
 * hosts in a rack (pod) over the uplinks that leave it. They set the rate of those uplinks, rounded
 * up to whole bits per second; 0: the rate of the link options counts.
 */
struct ThreeTierOptions
{
    uint32_t pods{0};
    uint32_t leavesPerPod{0};
    uint32_t aggregationsPerPod{0};
    uint32_t cores{0};
    uint32_t hostsPerLeaf{0};
    /**
     * 0: every aggregation switch has one link to every core. Else core planes: aggregation switch
     * i of each pod is linked to the cores [i*n, (i+1)*n) only, and cores must be
     * aggregationsPerPod * n.
     */
    uint32_t coresPerAggregation{0};
    LinkOptions hostLink;
    LinkOptions leafUplink;        //!< leaf to aggregation
    LinkOptions aggregationUplink; //!< aggregation to core
    double rackOversubscription{0.0};
    double podOversubscription{0.0};
    ServerOptions server;
};

/**
 * Nodes: core0.. (tier 3), aggregation0.. (tier 2), leaf0.. (tier 1), then the servers leaf by
 * leaf; the numbers run on through the pods. \throws std::invalid_argument with a text for the user
 */
Topology MakeThreeTierTopology(const ThreeTierOptions& options);

/// What scenarios can say of it.
TopologyKind MakeThreeTierKind();

} // namespace ns3::gradsync

#endif // GRADSYNC_THREE_TIER_TOPOLOGY_H
