// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCENARIO_RUNS_H
#define GRADSYNC_SCENARIO_RUNS_H

#include "unit/study/scenario-test-support.h"

#include "ns3/scenario-reader.h"
#include "ns3/scenario-runner.h"
#include "ns3/time-resolution.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Four hosts on one switch, 1 Gb/s, no delay: 1 MB take tau = 8 ms.
inline constexpr const char* STAR = R"({
  "topology": {"kind": "star", "hosts": 4, "hostLink": {"rate": "1Gbps", "delay": "0s"}},
  "transport": "fluid", "job": {"gradient": "1MB"}, "scheme": "ring"})";

inline RunResult
Simulate(const std::vector<ScenarioOverride>& overrides, const std::string& text = STAR)
{
    UsePicoseconds();
    return RunScenario(ResolveRun(ParseScenario(text, "x.json", overrides), 0));
}

/// Files that it names are found from scenarios/.
inline ResolvedRun
ResolveText(const std::string& text)
{
    UsePicoseconds();
    const auto file = std::filesystem::path(GRADSYNC_SOURCE_DIR) / "scenarios/x.json";
    return ResolveRun(ParseScenario(text, file, {}), 0);
}

/// Times of the iterations of a job.
inline std::vector<Time>
GetTimes(const RunResult& result, uint32_t job)
{
    std::vector<Time> times;
    for (const auto& record : result.iterations)
    {
        if (record.job == job)
        {
            times.push_back(record.end - record.start);
        }
    }
    return times;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_SCENARIO_RUNS_H
