// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FAULT_TARGET_READER_H
#define GRADSYNC_FAULT_TARGET_READER_H

#include "ns3/fault-spec.h"
#include "ns3/json-value.h"
#include "ns3/scenario.h"
#include "ns3/topology.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// Who has a role in a run.
struct RankRoles
{
    const std::vector<JobSpec>& jobs;
    std::vector<uint32_t> servers{}; //!< endpoints of further dedicated servers
};

/**
 * Reads what a fault can hit: the nodes or links that are named, those of a role, or all.
 * \throws ScenarioError
 */
std::vector<uint32_t> ReadFaultTargets(const JsonValue& value,
                                       FaultKind kind,
                                       const Topology& topology,
                                       const RankRoles& roles);

} // namespace ns3::gradsync

#endif // GRADSYNC_FAULT_TARGET_READER_H
