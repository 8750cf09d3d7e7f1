// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/manifest.h"

#include "ns3/atomic-file.h"
#include "ns3/hash.h"
#include "ns3/program-version.h"
#include "ns3/result-columns.h"
#include "ns3/results-folder.h"
#include "ns3/scenario-error.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-sweep.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <thread>

namespace ns3::gradsync
{

namespace
{

std::string
FormatUtc(std::chrono::system_clock::time_point time)
{
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

/// The machine, without its name.
Json
DescribeHost()
{
    utsname system{};
    uname(&system);
    Json host;
    host["system"] = system.sysname;
    host["release"] = system.release;
    host["machine"] = system.machine;
    host["cpus"] = std::thread::hardware_concurrency();
    return host;
}

Json
DescribeProgram()
{
    Json program;
    program["name"] = "gradsync";
    program["version"] = GetProgramVersion();
    program["commit"] = GetProgramCommit();
    program["ns3"] = GetNs3Version();
    return program;
}

Json
DescribeRuns(const ManifestData& data)
{
    Json runs = Json::array();
    for (uint32_t run = 0; run < data.scenario.runCount; ++run)
    {
        Json entry;
        entry["run"] = run;
        Json values = Json::object();
        const auto point = ApplySweep(data.scenario, run);
        for (size_t i = 0; i < point.values.size(); ++i)
        {
            values[data.scenario.axes[i].path] = point.values[i];
        }
        entry["values"] = values;
        entry["hash"] = fmt::format("{:016x}", data.hashes[run]);
        const auto& summary = data.summaries[run];
        entry["status"] = !summary ? "crashed" : summary->finished ? "ok" : "unfinished";
        if (!summary || !summary->finished)
        {
            entry["problem"] = summary ? summary->failure : data.problems[run];
        }
        runs.push_back(std::move(entry));
    }
    return runs;
}

} // namespace

void
WriteManifest(const std::filesystem::path& folder, const ManifestData& data)
{
    Json manifest;
    manifest["program"] = DescribeProgram();
    manifest["host"] = DescribeHost();
    manifest["started"] = FormatUtc(data.started);
    manifest["ended"] = FormatUtc(std::chrono::system_clock::now());
    manifest["scenarioFile"] = data.scenario.file;
    Json overrides = Json::array();
    for (const auto& change : data.overrides)
    {
        overrides.push_back(change.path + "=" + change.value);
    }
    manifest["overrides"] = overrides;
    manifest["scenario"] = InlineTopologyFile(data.scenario);
    manifest["inputs"] = DescribeFiles(data.scenario.files->List());
    manifest["columns"] = DescribeColumns(data.scenario);
    manifest["runs"] = DescribeRuns(data);
    manifest["files"] = ListFiles(folder);
    AtomicFile file(folder / MANIFEST_FILE);
    file.GetStream() << manifest.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
    file.Commit();
}

uint64_t
GetRunHash(const ScenarioPoint& point, uint64_t fingerprint)
{
    Json document = point.document;
    for (const auto* key : {"$schema", "title", "plot"})
    {
        document.erase(key);
    }
    return Hash64(fmt::format("{:016x} {}", fingerprint, document.dump()));
}

} // namespace ns3::gradsync
