// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FAT_TREE_TOPOLOGY_H
#define GRADSYNC_FAT_TREE_TOPOLOGY_H

#include "ns3/server-builder.h"
#include "ns3/topology-kinds.h"

#include <cstdint>

namespace ns3::gradsync
{

/**
 * k-ary fat-tree (Al-Fares et al., SIGCOMM 2008, section 3.1): k pods of k/2 leaves ("edge") and
 * k/2 aggregation switches; (k/2)^2 cores, of which aggregation switch i of each pod has the i-th
 * k/2.
 *
 * The wanted oversubscriptions are those of ThreeTierOptions.
 */
struct FatTreeOptions
{
    uint32_t k{0};            //!< ports per switch; even
    uint32_t hostsPerLeaf{0}; //!< 0: k/2, which makes k^3/4 hosts
    LinkOptions hostLink;
    LinkOptions leafUplink;        //!< leaf to aggregation
    LinkOptions aggregationUplink; //!< aggregation to core
    double rackOversubscription{0.0};
    double podOversubscription{0.0};
    ServerOptions server;
};

/// Nodes as MakeThreeTierTopology. \throws std::invalid_argument with a text for the user
Topology MakeFatTreeTopology(const FatTreeOptions& options);

/// What scenarios can say of it.
TopologyKind MakeFatTreeKind();

} // namespace ns3::gradsync

#endif // GRADSYNC_FAT_TREE_TOPOLOGY_H
