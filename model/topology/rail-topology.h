// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RAIL_TOPOLOGY_H
#define GRADSYNC_RAIL_TOPOLOGY_H

#include "ns3/server-builder.h"
#include "ns3/topology-kinds.h"

#include <cstdint>

namespace ns3::gradsync
{

/**
 * Rail-optimised network: in each unit, NIC i of all servers is at leaf i, so that what follows its
 * rail crosses one switch (NVIDIA DGX SuperPOD reference architecture, "scalable units").
 */
struct RailOptions
{
    uint32_t units{1};
    uint32_t serversPerUnit{0};
    uint32_t spines{0};
    uint32_t linksPerSpine{1}; //!< parallel links of each leaf to each spine
    LinkOptions hostLink;
    LinkOptions fabricLink;
    /// Wanted ratio of what a leaf's NICs want to its uplinks, which sets their rate to 1 bit/s;
    /// 0: that of fabricLink counts.
    double oversubscription{0.0};
    ServerOptions server; //!< its NICs are the rails
};

/**
 * Nodes: spine0.. (tier 2), leaf0.. (tier 1) rail by rail of the first unit, then of the next; then
 * the servers unit by unit. \throws std::invalid_argument with a text for the user
 */
Topology MakeRailTopology(const RailOptions& options);

/// What scenarios can say of it.
TopologyKind MakeRailKind();

} // namespace ns3::gradsync

#endif // GRADSYNC_RAIL_TOPOLOGY_H
