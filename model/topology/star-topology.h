// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_STAR_TOPOLOGY_H
#define GRADSYNC_STAR_TOPOLOGY_H

#include "ns3/server-builder.h"
#include "ns3/topology-kinds.h"

namespace ns3::gradsync
{

/// All servers on one switch.
struct StarOptions
{
    uint32_t hosts{0};
    LinkOptions hostLink;
    ServerOptions server;
};

/// Nodes: switch leaf0 (tier 1), then the servers. \throws std::invalid_argument with a text for
/// the user
Topology MakeStarTopology(const StarOptions& options);

/// What scenarios can say of it.
TopologyKind MakeStarKind();

} // namespace ns3::gradsync

#endif // GRADSYNC_STAR_TOPOLOGY_H
