// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scenario-reader.h"

#include "ns3/codec-reader.h"
#include "ns3/document-path.h"
#include "ns3/fault-reader.h"
#include "ns3/fault-trace-reader.h"
#include "ns3/fidelity-reader.h"
#include "ns3/job-planner.h"
#include "ns3/job-reader.h"
#include "ns3/json-value.h"
#include "ns3/model-reader.h"
#include "ns3/network-choice.h"
#include "ns3/node-names.h"
#include "ns3/p4-program-reader.h"
#include "ns3/parameter-reader.h"
#include "ns3/planning-translation.h"
#include "ns3/scenario-error.h"
#include "ns3/scenario-sections.h"
#include "ns3/scenario-sweep.h"
#include "ns3/scheme-reader.h"
#include "ns3/section-file.h"
#include "ns3/shown-text.h"
#include "ns3/time-resolution.h"
#include "ns3/topology-section.h"
#include "ns3/traffic-reader.h"
#include "ns3/workload-trace-reader.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace ns3::gradsync
{

namespace
{

void
CheckPlot(const JsonValue& plot)
{
    ReadParameters(plot, GetPlotParameters());
    if (const auto panels = plot.Find("panels"))
    {
        for (const auto& panel : panels->GetItems())
        {
            panel.AsString("a column");
        }
    }
    if (const auto labels = plot.Find("labels"))
    {
        if (!labels->IsObject())
        {
            labels->Fail("an object of column names and texts");
        }
        for (const auto& [column, text] : labels->Get().items())
        {
            labels->Find(column)->AsString("a text");
        }
    }
}

std::vector<LinkId>
ReadCapturedLinks(const JsonValue& list, const ResolvedRun& run)
{
    auto links = ReadLinkNames(list, *run.topology);
    if (!links.empty() && !GetTransport(run.transport.kind).hasPackets)
    {
        list.FailWith(fmt::format("the transport {} has no packets to capture (roce and tcp have)",
                                  run.transport.kind));
    }
    for (const auto id : links)
    {
        if (!IsEthernet(run.topology->GetLinks()[id]))
        {
            list.FailWith("only Ethernet links can be captured");
        }
    }
    return links;
}

Time
ReadSampleInterval(const JsonValue& value, const ResolvedRun& run)
{
    auto every = value.AsTime();
    if (!GetTransport(run.transport.kind).hasFabric)
    {
        value.FailWith(
            fmt::format("the transport {} has no links to sample (roce has)", run.transport.kind));
    }
    return every;
}

void
CheckCommon(const JsonValue& root)
{
    root.CheckKeys(GetKeys(GetScenarioParameters()));
    root.Require("topology", "{\"kind\": \"star\", ...}");
    for (const auto* key : {"$schema", "title"})
    {
        if (const auto text = root.Find(key))
        {
            text->AsString("a text");
        }
    }
    if (const auto results = root.Find("results"))
    {
        results->CheckKeys(GetKeys(GetResultsParameters()));
    }
    if (const auto plot = root.Find("plot"))
    {
        CheckPlot(*plot);
    }
}

/// Puts the content of a topology file in the place of its name; keys beside `file` override it.
void
InlineTopology(Json& document, const Scenario& scenario)
{
    Json* topology = FindAtPath(document, {"topology"});
    if (topology != nullptr)
    {
        InlineSectionFile(*topology,
                          {"topology", "{\"kind\": \"star\", ...}", &ReadTopology},
                          scenario.file,
                          *scenario.files);
    }
}

/// Where dedicated servers stand.
std::vector<uint32_t>
ListServers(const std::vector<AsynchronousJobSpec>& specs)
{
    std::vector<uint32_t> servers;
    for (const auto& spec : specs)
    {
        const auto& endpoints = spec.job.endpointOf;
        servers.insert(servers.end(), endpoints.begin() + spec.job.workers, endpoints.end());
    }
    return servers;
}

ResolvedRun
Resolve(const Scenario& scenario, ScenarioPoint point)
{
    // Times are read below.
    UsePicoseconds();
    ResolvedRun run;
    run.point = std::move(point);
    const JsonValue root(run.point.document, scenario.file, "");
    CheckCommon(root);
    run.topology =
        std::make_shared<const Topology>(ReadTopology(root.Require("topology", "{...}")));
    static const Json none = Json::object();
    const auto transport = root.Find("transport");
    run.transport =
        ReadTransport(transport ? *transport : JsonValue(none, scenario.file, "transport"));
    const auto aggregation = transport ? transport->Find("aggregation") : std::nullopt;
    if (const auto programs = aggregation ? aggregation->Find("programs") : std::nullopt)
    {
        run.programs = ReadPrograms(*programs, *run.topology, *scenario.files);
    }
    if (const auto fabric = root.Find("fabric"))
    {
        run.fabric = ReadAttributes(*fabric, GetFabricTypeId(), {});
    }
    if (const auto fidelity = root.Find("fidelity"))
    {
        run.hasFluidServers =
            ReadFidelity(*fidelity, *run.topology, GetTransport(run.transport.kind));
    }
    if (const auto seed = root.Find("seed"))
    {
        run.seed = static_cast<uint32_t>(seed->AsUnsigned(1, std::numeric_limits<uint32_t>::max()));
    }
    auto jobs = ReadJobs(root, *run.topology, *scenario.files);
    run.trainings = std::move(jobs.trainings);
    run.asynchronous = std::move(jobs.asynchronous);
    for (auto& training : run.trainings)
    {
        training.network = GetNetworkModel(run.transport, run.fabric, run.seed);
    }
    for (auto& job : jobs.exchanges)
    {
        job.network = GetNetworkModel(run.transport, run.fabric, run.seed);
        job.findAggregations =
            MakeAggregationFinder({run.transport, run.fabric, run.programs, run.hasFluidServers},
                                  run.topology,
                                  job.aggregationRoots);
        ReadSchemeFiles(job.scheme, *scenario.files);
        std::ranges::move(TranslatePlanningErrors(
                              [&job, &run] { return SplitJob(std::move(job), *run.topology); }),
                          std::back_inserter(run.jobs));
    }
    if (const auto faults = root.Find("faults"))
    {
        run.faults = ReadFaults(*faults,
                                *run.topology,
                                GetTransport(run.transport.kind),
                                {run.jobs, ListServers(run.asynchronous)});
        if (run.hasFluidServers)
        {
            CheckFluidFaults(*faults, run.faults, *run.topology);
        }
    }
    if (const auto traffic = root.Find("traffic"))
    {
        run.traffic = ReadTraffic(*traffic, *run.topology);
    }
    if (const auto results = root.Find("results"))
    {
        const auto parameters = ReadParameters(*results, GetResultsParameters());
        run.recordMessages = parameters.Get<bool>("messages");
        run.recordLinks = parameters.Get<bool>("links");
        run.recordTrace = parameters.Get<bool>("trace");
        if (const auto every = results->Find("every"))
        {
            run.sampleEvery = ReadSampleInterval(*every, run);
        }
        if (const auto pcap = results->Find("pcap"))
        {
            run.capturedLinks = ReadCapturedLinks(*pcap, run);
        }
    }
    return run;
}

/// \param files with that of the scenario itself, if it is one
Scenario
Prepare(Json document,
        const std::filesystem::path& file,
        const std::vector<ScenarioOverride>& overrides,
        std::shared_ptr<NamedFiles> files)
{
    Scenario scenario;
    scenario.file = file.string();
    scenario.files = std::move(files);
    scenario.document = std::move(document);
    const JsonValue root(scenario.document, scenario.file, "");
    if (!root.IsObject())
    {
        root.Fail("a scenario: an object with the keys topology, scheme, ...");
    }
    ExpandShorthand(scenario.document);
    ApplyOverrides(scenario.document, overrides);
    CheckCommon(root);
    const auto title = root.Find("title");
    scenario.title = title ? title->AsString("a title") : file.stem().string();
    scenario.axes = ReadSweep(root);
    uint64_t count = 1;
    for (const auto& axis : scenario.axes)
    {
        count *= axis.values.size();
        if (count > MAX_RUNS)
        {
            root.Find("sweep")->FailWith(fmt::format("more than {} runs", MAX_RUNS));
        }
    }
    scenario.runCount = static_cast<uint32_t>(count);
    return scenario;
}

} // namespace

ScenarioOverride
ParseOverride(const std::string& text)
{
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
    {
        throw ScenarioError(
            "--set",
            fmt::format("found {}, expected PATH=VALUE such as topology.hostsPerLeaf=24",
                        ShowJson(Json(text))));
    }
    return {text.substr(0, equals), text.substr(equals + 1)};
}

Scenario
ReadScenario(const std::filesystem::path& file, const std::vector<ScenarioOverride>& overrides)
{
    auto files = std::make_shared<NamedFiles>(file.parent_path());
    auto document = files->ReadJson(file);
    return Prepare(std::move(document), file, overrides, std::move(files));
}

Scenario
ParseScenario(std::string_view text,
              const std::filesystem::path& file,
              const std::vector<ScenarioOverride>& overrides)
{
    return Prepare(ParseJson(text, file.string()),
                   file,
                   overrides,
                   std::make_shared<NamedFiles>(file.parent_path()));
}

ScenarioPoint
MakePoint(const Scenario& scenario, uint32_t index)
{
    ScenarioPoint point = ApplySweep(scenario, index);
    InlineTopology(point.document, scenario);
    InlineProfiles(point.document, scenario.file, *scenario.files);
    InlineTrainingFiles(point.document, scenario.file, *scenario.files);
    InlineFaultTraces(point.document, scenario.file, *scenario.files);
    StampImports(point.document, scenario.file, *scenario.files);
    StampWorkloadTraces(point.document, scenario.file, *scenario.files);
    StampPrograms(point.document, scenario.file, *scenario.files);
    return point;
}

Json
InlineTopologyFile(const Scenario& scenario)
{
    Json document = scenario.document;
    for (const auto& axis : scenario.axes)
    {
        if (axis.path == "topology" || axis.path == "topology.file")
        {
            return document;
        }
    }
    InlineTopology(document, scenario);
    InlineProfiles(document, scenario.file, *scenario.files);
    const bool sweepsFiles = std::ranges::any_of(scenario.axes, [](const auto& axis) {
        return axis.path.find(".training.model") != std::string::npos ||
               axis.path.find(".training.device") != std::string::npos ||
               axis.path.find(".trace.device") != std::string::npos;
    });
    if (!sweepsFiles)
    {
        InlineTrainingFiles(document, scenario.file, *scenario.files);
    }
    StampPrograms(document, scenario.file, *scenario.files);
    return document;
}

ResolvedRun
ResolveRun(const Scenario& scenario, uint32_t index)
{
    try
    {
        return Resolve(scenario, MakePoint(scenario, index));
    }
    catch (const ScenarioError& error)
    {
        if (scenario.axes.empty())
        {
            throw;
        }
        // Which of the swept values is wrong is not always in the message itself.
        throw ScenarioError(fmt::format("{} (run {}: {})",
                                        error.what(),
                                        index,
                                        DescribePoint(scenario, ApplySweep(scenario, index))));
    }
}

std::string
DescribePoint(const Scenario& scenario, const ScenarioPoint& point)
{
    std::string text;
    for (size_t i = 0; i < scenario.axes.size(); ++i)
    {
        text += fmt::format("{}{}={}",
                            i == 0 ? "" : ", ",
                            ShowText(scenario.axes[i].path),
                            ShowText(ShowSweptValue(point.values[i])));
    }
    return text;
}

std::string
ShowSweptValue(const Json& value)
{
    return value.is_string() ? value.get<std::string>() : value.dump();
}

} // namespace ns3::gradsync
