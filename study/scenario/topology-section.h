// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TOPOLOGY_SECTION_H
#define GRADSYNC_TOPOLOGY_SECTION_H

#include "ns3/json-value.h"
#include "ns3/topology.h"

#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// Names that `topology.kind` takes.
const std::vector<std::string>& GetTopologyKinds();

/// One line about a kind.
std::string GetTopologySummary(std::string_view kind);

/// Keys that a topology of that kind knows, `kind` and `file` included; empty when there is no such
/// kind.
std::vector<std::string> GetTopologyKeys(std::string_view kind);

/// Keys of an object inside a topology: segments {"hostLink"}, {"server"}, {"server", "pcie"}, ...
std::vector<std::string> GetTopologyPartKeys(const std::vector<std::string>& segments);

/**
 * Builds the network that an inline topology describes and checks that all endpoints reach each
 * other. \throws ScenarioError
 */
Topology ReadTopology(const JsonValue& value);

} // namespace ns3::gradsync

#endif // GRADSYNC_TOPOLOGY_SECTION_H
