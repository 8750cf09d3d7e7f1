// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scenario-checker.h"

#include "ns3/scenario-error.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-runner.h"

#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

/// CheckRun with the file and the run in its errors.
uint64_t
CheckOne(const Scenario& scenario, const ResolvedRun& run, bool verifyAll)
{
    try
    {
        return CheckRun(run, verifyAll);
    }
    catch (const ScenarioError& error)
    {
        const auto point = DescribePoint(scenario, run.point);
        throw ScenarioError(
            scenario.file,
            point.empty() ? error.what()
                          : fmt::format("{} (run {}: {})", error.what(), run.point.index, point));
    }
}

} // namespace

void
CheckScenario(const Scenario& scenario,
              bool verifyAll,
              const std::function<void(const ResolvedRun& run, uint64_t bytes)>& onRun)
{
    for (uint32_t index = 0; index < scenario.runCount; ++index)
    {
        const auto run = ResolveRun(scenario, index);
        onRun(run, CheckOne(scenario, run, verifyAll));
    }
}

} // namespace ns3::gradsync
