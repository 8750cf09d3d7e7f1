// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FIDELITY_READER_H
#define GRADSYNC_FIDELITY_READER_H

#include "ns3/fault-spec.h"
#include "ns3/json-value.h"
#include "ns3/parameter-spec.h"
#include "ns3/topology.h"
#include "ns3/transport-registry.h"

#include <vector>

namespace ns3::gradsync
{

/// How exactly tiers of the network are simulated, by their names.
const std::vector<ParameterSpec>& GetFidelityParameters();

/// Reads `{"server": "fluid"}`. \returns whether servers run as fluids (TieredTransport) \throws
/// ScenarioError, also when this network or its transport cannot have that
bool ReadFidelity(const JsonValue& value,
                  const Topology& topology,
                  const TransportEntry& transport);

/// Refuses faults of what runs as a fluid. \param list of the faults, for errors \throws
/// ScenarioError
void CheckFluidFaults(const JsonValue& list,
                      const std::vector<FaultSpec>& faults,
                      const Topology& topology);

} // namespace ns3::gradsync

#endif // GRADSYNC_FIDELITY_READER_H
