// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scenario-checker.h"

#include "ns3/run-limits.h"
#include "ns3/scenario-error.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-runner.h"
#include "ns3/swept-columns.h"

#include <fmt/format.h>
#include <map>
#include <string>

namespace ns3::gradsync
{

namespace
{

/// Calls check() with the file and the run in its errors.
template <typename Check>
auto
NameRun(const Scenario& scenario, const ResolvedRun& run, Check check)
{
    try
    {
        return check();
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

/// What plans and network of a run are made of: runs that differ only in the rest check alike.
std::string
DescribePlans(const ScenarioPoint& point)
{
    Json document = point.document;
    const auto seed = document.value("seed", Json());
    for (const auto* key : {"faults", "plot", "results", "seed", "title"})
    {
        document.erase(key);
    }
    auto text = document.dump();
    // The scheme auto chooses by the paths that connections take, which follow from the seed.
    if (text.find("\"auto\"") != std::string::npos)
    {
        text += seed.dump();
    }
    return text;
}

} // namespace

void
CheckScenario(const Scenario& scenario,
              bool verifyAll,
              const std::function<void(const ResolvedRun& run, const RunCheck& check)>& onRun)
{
    CheckPlotColumns(scenario);
    std::map<std::string, RunCheck> checks; //!< of plans and networks that were found good
    for (uint32_t index = 0; index < scenario.runCount; ++index)
    {
        const auto run = ResolveRun(scenario, index);
        const auto check = NameRun(scenario, run, [&] {
            const auto [known, isNew] = checks.try_emplace(DescribePlans(run.point));
            if (isNew)
            {
                known->second = CheckRun(run, verifyAll);
            }
            // Of what is not of plans and networks.
            CheckLimits(run, known->second.least);
            return known->second;
        });
        onRun(run, check);
    }
}

} // namespace ns3::gradsync
