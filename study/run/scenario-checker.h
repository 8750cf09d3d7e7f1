// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCENARIO_CHECKER_H
#define GRADSYNC_SCENARIO_CHECKER_H

#include "ns3/scenario-runner.h"
#include "ns3/scenario.h"

#include <functional>

namespace ns3::gradsync
{

/**
 * Resolves and checks every run of a scenario, one after the other.
 * \param verifyAll as CheckRun
 * \param onRun called for each good run with what was found
 * \throws ScenarioError for the first bad run, which it names
 */
void CheckScenario(const Scenario& scenario,
                   bool verifyAll,
                   const std::function<void(const ResolvedRun& run, const RunCheck& check)>& onRun);

} // namespace ns3::gradsync

#endif // GRADSYNC_SCENARIO_CHECKER_H
