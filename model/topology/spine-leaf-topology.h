// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SPINE_LEAF_TOPOLOGY_H
#define GRADSYNC_SPINE_LEAF_TOPOLOGY_H

#include "ns3/server-builder.h"
#include "ns3/topology-kinds.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// Two-level Clos: every leaf has one link to every spine.
struct SpineLeafOptions
{
    uint32_t spines{0};
    uint32_t leaves{0};
    uint32_t hostsPerLeaf{0};          //!< 0 when hostsOfLeaf is given
    std::vector<uint32_t> hostsOfLeaf; //!< uneven racks: one count a leaf; empty: hostsPerLeaf
    LinkOptions hostLink;
    LinkOptions fabricLink;
    /**
     * Wanted ratio of the hosts' rate to the uplinks of the fullest leaf; the rate of the fabric
     * links is set to give it (to 1 bit/s), and fabricLink.rate is not used. 0: fabricLink.rate
     * counts.
     */
    double oversubscription{0.0};
    ServerOptions server;
};

/**
 * Nodes: spine0.. (tier 2), leaf0.. (tier 1), then the servers leaf by leaf, so that the ranks of a
 * rack are contiguous when ranks are endpoints in order. \throws std::invalid_argument with a text
 * for the user
 */
Topology MakeSpineLeafTopology(const SpineLeafOptions& options);

/// What scenarios can say of it.
TopologyKind MakeSpineLeafKind();

} // namespace ns3::gradsync

#endif // GRADSYNC_SPINE_LEAF_TOPOLOGY_H
