// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAFFIC_READER_H
#define GRADSYNC_TRAFFIC_READER_H

#include "ns3/json-value.h"
#include "ns3/topology.h"
#include "ns3/traffic-generator.h"

#include <vector>

namespace ns3::gradsync
{

/// Reads the list `traffic` of a scenario. \throws ScenarioError
std::vector<TrafficSpec> ReadTraffic(const JsonValue& list, const Topology& topology);

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAFFIC_READER_H
