// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DIVIDED_RUN_H
#define GRADSYNC_DIVIDED_RUN_H

#include "ns3/process-link.h"
#include "ns3/run-result.h"
#include "ns3/scenario-runner.h"
#include "ns3/scenario.h"

#include <cstdint>
#include <optional>

namespace ns3::gradsync
{

/// Whether a run can be simulated by so many processes together. \throws ScenarioError that names
/// what cannot
void CheckDivision(const ResolvedRun& run, uint32_t ranks);

/**
 * Simulates the share of this process of a run; all processes of the link call it. No iterations
 * are left out, and how many collectives of one process were, which depends on the division, is not
 * told. \returns in process 0 the result of all, that of RunScenario with Repeats::Simulate but for
 * wall-clock columns; elsewhere nothing \throws std::runtime_error with a text for the user for
 * what only shows while it runs: packets that are sent again, jobs that do not finish
 */
std::optional<RunResult> RunDivided(const ResolvedRun& run,
                                    ProcessLink& link,
                                    Repeats repeats = Repeats::Skip);

} // namespace ns3::gradsync

#endif // GRADSYNC_DIVIDED_RUN_H
