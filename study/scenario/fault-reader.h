// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FAULT_READER_H
#define GRADSYNC_FAULT_READER_H

#include "ns3/fault-spec.h"
#include "ns3/fault-target-reader.h"
#include "ns3/json-value.h"
#include "ns3/parameter-spec.h"
#include "ns3/scenario.h"
#include "ns3/topology.h"
#include "ns3/transport-registry.h"

#include <vector>

namespace ns3::gradsync
{

/// The `kind` of an entry.
FaultKind ReadFaultKind(const JsonValue& value);

/// What an entry has that is a trace of faults.
std::vector<ParameterSpec> GetTraceParameters();

/**
 * Reads the list `faults`.
 * \param transport refuses what it cannot simulate. \param roles that ranks have
 * \throws ScenarioError
 */
std::vector<FaultSpec> ReadFaults(const JsonValue& list,
                                  const Topology& topology,
                                  const TransportEntry& transport,
                                  const RankRoles& roles);

} // namespace ns3::gradsync

#endif // GRADSYNC_FAULT_READER_H
