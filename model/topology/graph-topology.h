// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GRAPH_TOPOLOGY_H
#define GRADSYNC_GRAPH_TOPOLOGY_H

#include "ns3/topology-kinds.h"

namespace ns3::gradsync
{

/// Any network: its nodes and links, by name.
TopologyKind MakeGraphKind();

} // namespace ns3::gradsync

#endif // GRADSYNC_GRAPH_TOPOLOGY_H
