// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCENARIO_SWEEP_H
#define GRADSYNC_SCENARIO_SWEEP_H

#include "ns3/json-value.h"
#include "ns3/scenario.h"

#include <vector>

namespace ns3::gradsync
{

/// Writes `"scheme": "ring"` out as `{"kind": "ring"}`, likewise `transport` and the schemes of
/// jobs.
void ExpandShorthand(Json& document);

/// Applies `--set` in the order given. \throws ScenarioError for a path that does not exist, with
/// the nearest
void ApplyOverrides(Json& document, const std::vector<ScenarioOverride>& overrides);

/// Reads and checks `sweep`. \throws ScenarioError for unknown or overlapping paths and empty lists
std::vector<SweepAxis> ReadSweep(const JsonValue& root);

/// The document of one run, with the sweep's values set and the sweep itself left out.
ScenarioPoint ApplySweep(const Scenario& scenario, uint32_t index);

} // namespace ns3::gradsync

#endif // GRADSYNC_SCENARIO_SWEEP_H
