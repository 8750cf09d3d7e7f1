// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/program-commands.h"
#include "ns3/scenario-checker.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-warnings.h"
#include "ns3/shown-text.h"

#include <fmt/format.h>
#include <ostream>

namespace ns3::gradsync
{

int
ValidateCommand(const std::filesystem::path& file,
                const std::vector<ScenarioOverride>& overrides,
                std::ostream& out,
                std::ostream& err)
{
    const auto scenario = ReadScenario(file, overrides);
    ScenarioWarnings warnings;
    CheckScenario(scenario, true, [&warnings](const ResolvedRun& run, const RunCheck& check) {
        warnings.Add(run);
        warnings.Add(check);
    });
    warnings.Print(err);
    out << fmt::format("{}: valid, {} run{}; every plan does what it is for\n",
                       ShowText(file.string()),
                       scenario.runCount,
                       scenario.runCount == 1 ? "" : "s");
    return exit_code::OK;
}

int
ResolveCommand(const std::filesystem::path& file,
               const std::vector<ScenarioOverride>& overrides,
               std::ostream& out,
               std::ostream& err)
{
    const auto scenario = ReadScenario(file, overrides);
    ScenarioWarnings warnings;
    Json runs = Json::array();
    for (uint32_t run = 0; run < scenario.runCount; ++run)
    {
        const auto resolved = ResolveRun(scenario, run);
        warnings.Add(resolved);
        Json entry;
        entry["run"] = run;
        entry["values"] = Json::object();
        for (size_t i = 0; i < scenario.axes.size(); ++i)
        {
            entry["values"][scenario.axes[i].path] = resolved.point.values[i];
        }
        entry["scenario"] = resolved.point.document;
        runs.push_back(std::move(entry));
    }
    warnings.Print(err);
    out << runs.dump(2) << '\n';
    return exit_code::OK;
}

} // namespace ns3::gradsync
