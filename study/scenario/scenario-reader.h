// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCENARIO_READER_H
#define GRADSYNC_SCENARIO_READER_H

#include "ns3/scenario.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// More runs than this are taken for a mistake in the sweep.
constexpr uint64_t MAX_RUNS = 10'000;

/// Splits `PATH=VALUE`. \throws ScenarioError when there is no '=' or no path
ScenarioOverride ParseOverride(const std::string& text);

/**
 * Reads a scenario file, applies overrides and checks all that its runs have in common: keys,
 * sweep, hints.
 *
 * An override of a swept path fixes it: the path leaves the sweep. `sweep.PATH=[...]` replaces its
 * values. \throws ScenarioError
 */
Scenario ReadScenario(const std::filesystem::path& file,
                      const std::vector<ScenarioOverride>& overrides);

/// As ReadScenario, of a text; `file` names it in messages, and topology files are relative to its
/// folder.
Scenario ParseScenario(std::string_view text,
                       const std::filesystem::path& file,
                       const std::vector<ScenarioOverride>& overrides);

/**
 * One run of the sweep: the last axis moves fastest. Keys that belong to another kind of a swept
 * `kind` are left out, so that parameters of one scheme can stand beside a sweep over schemes.
 * \throws ScenarioError also for what is wrong with a topology file
 */
ScenarioPoint MakePoint(const Scenario& scenario, uint32_t index);

/// The scenario's document with the content of its topology file in it, unless the sweep chooses
/// the file.
Json InlineTopologyFile(const Scenario& scenario);

/// Reads a run completely. \throws ScenarioError
ResolvedRun ResolveRun(const Scenario& scenario, uint32_t index);

/// "topology.hostsPerLeaf=4, scheme.kind=ring", or an empty text without a sweep.
std::string DescribePoint(const Scenario& scenario, const ScenarioPoint& point);

/// A swept value as tables and CSV files show it: strings without quotes, objects as compact JSON.
std::string ShowSweptValue(const Json& value);

} // namespace ns3::gradsync

#endif // GRADSYNC_SCENARIO_READER_H
