// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GRAPH_TOPOLOGY_READER_H
#define GRADSYNC_GRAPH_TOPOLOGY_READER_H

#include "ns3/json-value.h"
#include "ns3/topology.h"

namespace ns3::gradsync
{

/**
 * Reads a network given node by node and link by link:
 * `{"kind": "graph", "nodes": [{"name", "kind", "tier"}], "links": [{"a", "b", "rate", "delay",
 * "kind"}]}`. \throws ScenarioError
 */
Topology ReadGraphTopology(const JsonValue& value);

} // namespace ns3::gradsync

#endif // GRADSYNC_GRAPH_TOPOLOGY_READER_H
