// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TOPOLOGY_SECTION_H
#define GRADSYNC_TOPOLOGY_SECTION_H

#include "ns3/json-value.h"
#include "ns3/parameter-spec.h"
#include "ns3/topology.h"

#include <span>

namespace ns3::gradsync
{

/// All kinds of topologies, with what they all know.
std::span<const KindSpec> GetTopologyKinds();

/**
 * Builds the network that an inline topology describes and checks that all endpoints reach each
 * other. \throws ScenarioError
 */
Topology ReadTopology(const JsonValue& value);

} // namespace ns3::gradsync

#endif // GRADSYNC_TOPOLOGY_SECTION_H
