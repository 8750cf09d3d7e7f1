// SPDX-License-Identifier: GPL-2.0-only
#include "fuzz/readers.h"

#include "fuzz/import-mutator.h"
#include "fuzz/scenario-mutator.h"

#include "ns3/aicb-workload.h"
#include "ns3/chakra-files.h"
#include "ns3/codec-reader.h"
#include "ns3/dapple-model.h"
#include "ns3/fault-trace-reader.h"
#include "ns3/import-error.h"
#include "ns3/json-value.h"
#include "ns3/model-reader.h"
#include "ns3/model-training.h"
#include "ns3/p4-error.h"
#include "ns3/p4-pipeline.h"
#include "ns3/p4-program-loader.h"
#include "ns3/p4-runtime-commands.h"
#include "ns3/p4-runtime-text.h"
#include "ns3/p4-stf-player.h"
#include "ns3/pytorch-process-groups.h"
#include "ns3/pytorch-trace.h"
#include "ns3/routing-tables.h"
#include "ns3/trace-workload.h"
#include "ns3/workload-builder.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

const std::filesystem::path SOURCE = GRADSYNC_SOURCE_DIR;

template <class Error, class Attempt>
bool
IsTaken(Attempt attempt)
{
    try
    {
        attempt();
        return true;
    }
    catch (const Error&)
    {
        return false;
    }
}

bool
ReadScenarioText(const std::string& text)
{
    return TryScenario(text, SOURCE / "scenarios");
}

/// The file of a network, in a scenario, and the routes through a small one.
bool
ReadTopology(const std::string& text)
{
    constexpr size_t SMALL = 64;
    return IsTaken<ScenarioError>([&] {
        Json topology = ParseJson(text, "topology.json");
        if (topology.is_object())
        {
            topology.erase("$schema");
            topology.erase("title");
        }
        const Json document{{"topology", topology},
                            {"transport", "roce"},
                            {"job", {{"gradient", "1MB"}}},
                            {"scheme", "rat"}};
        const auto run =
            ResolveRun(ParseScenario(document.dump(), SOURCE / "scenarios/fuzz.json", {}), 0);
        if (run.topology->GetNodes().size() <= SMALL)
        {
            const RoutingTables routes(*run.topology);
        }
    });
}

bool
ReadProfileText(const std::string& text)
{
    return IsTaken<ScenarioError>([&] {
        const auto document = ParseJson(text, "profile.json");
        ReadProfile(JsonValue(document, "profile.json", ""));
    });
}

/// A model that is trained on a small device with two stages.
void
TrainModel(const Json& content)
{
    const auto model = ReadModel(JsonValue(content, "model.json", ""));
    ModelTraining training;
    training.model = model;
    training.device.peaks = {{"bf16", 1e12, "by definition"}};
    training.device.memoryBytesPerSecond = 1e12;
    training.achievedShare = 1.0;
    training.degrees.pipeline = 2;
    try
    {
        MakeTrainingSpec(training);
        EstimateMemory(training, 1);
    }
    catch (const WorkloadError&)
    {
        // What does not go with two stages is said so.
    }
}

bool
ReadModelText(const std::string& text)
{
    return IsTaken<ScenarioError>([&] {
        auto content = ParseJson(text, "model.json");
        if (content.is_object())
        {
            content.erase("$schema");
        }
        TrainModel(content);
    });
}

bool
ReadDappleText(const std::string& text)
{
    Json content;
    return IsTaken<ImportError>([&] { content = MakeDappleModel("fuzz-pbs-2.txt", text); }) &&
           IsTaken<ScenarioError>([&] { TrainModel(content); });
}

bool
ReadDeviceText(const std::string& text)
{
    return IsTaken<ScenarioError>([&] {
        auto content = ParseJson(text, "device.json");
        if (content.is_object())
        {
            content.erase("$schema");
        }
        ReadDevice(JsonValue(content, "device.json", ""));
    });
}

std::string
ReadText(const std::filesystem::path& path)
{
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

/// Programs are loaded, given a packet, and another one once they are configured, if they can be.
bool
ReadProgram(const std::string& text)
{
    static const auto commands = ReadText(SOURCE / "p4-behavioral/slot-aggregation.cli");
    const std::vector<uint8_t> packet(256, 0x5a);
    return IsTaken<P4Error>([&] {
        P4Pipeline pipeline(std::make_shared<const P4Program>(P4ProgramLoader::Load(text, "fuzz")));
        IsTaken<P4Error>([&] {
            pipeline.Process(packet, 1);
            P4RuntimeCommands(pipeline, "fuzz").Run(commands);
            pipeline.Process(packet, 1);
        });
    });
}

/// The program of most P4 texts.
std::shared_ptr<const P4Program>
GetSlotProgram()
{
    static const auto program = std::make_shared<const P4Program>(P4ProgramLoader::LoadFile(
        (SOURCE / "p4-behavioral/compiled/slot-aggregation.json").string()));
    return program;
}

void
Configure(const std::string& commands)
{
    P4Pipeline pipeline(GetSlotProgram());
    P4RuntimeCommands(pipeline, "fuzz").Run(commands);
}

bool
ReadCommands(const std::string& text)
{
    return IsTaken<P4Error>([&] { Configure(text); });
}

bool
ReadVector(const std::string& text)
{
    return IsTaken<P4Error>([&] {
        P4Pipeline pipeline(GetSlotProgram());
        P4StfPlayer(pipeline, "fuzz").Play(ReadP4Stf(text, "fuzz"));
    });
}

/// Entries and the p4info of the slot program, in one text: each reads its own fields.
bool
ReadEntries(const std::string& text)
{
    return IsTaken<P4Error>([&] {
        const auto commands =
            MakeP4RuntimeCommands(*GetSlotProgram(), {text, "fuzz"}, {text, "fuzz"});
        Configure(commands);
    });
}

bool
ReadJsonEntries(const std::string& text)
{
    return IsTaken<P4Error>([&] {
        const auto commands = MakeP4JsonCommands(*GetSlotProgram(), {text, "fuzz"});
        Configure(commands);
    });
}

/// An override in each line, of a scenario that has most of the sections.
bool
ReadOverrides(const std::string& text)
{
    static const auto base = ReadText(SOURCE / "tests/fuzz/overridden.json");
    return IsTaken<ScenarioError>([&] {
        std::istringstream lines(text);
        std::vector<ScenarioOverride> overrides;
        for (std::string line; std::getline(lines, line);)
        {
            overrides.push_back(ParseOverride(line));
        }
        const auto scenario = ParseScenario(base, SOURCE / "scenarios/fuzz.json", overrides);
        ResolveRun(scenario, scenario.runCount - 1);
    });
}

/// A table of faults has to be a file.
bool
ReadFaultTrace(const std::string& text)
{
    static const auto path =
        std::filesystem::temp_directory_path() / fmt::format("gradsync-fuzz-{}.csv", getpid());
    std::ofstream(path, std::ios::binary) << text;
    static const auto base = ReadText(SOURCE / "tests/fuzz/overridden.json");
    const bool isTaken = IsTaken<ScenarioError>([&] {
        const auto faults = Json::array({{{"file", path.string()}}});
        const auto scenario =
            ParseScenario(base, SOURCE / "scenarios/fuzz.json", {{"faults", faults.dump()}});
        ResolveRun(scenario, 0);
    });
    std::filesystem::remove(path);
    return isTaken;
}

/// Matches the ranks of a trace, and makes the workload of a small one.
void
RunTrace(TraceSet set)
{
    constexpr size_t SMALL = 2000;
    constexpr uint64_t SMALL_BYTES = 1 << 20;
    size_t nodes = 0;
    bool isSmall = set.programs.size() <= 16;
    for (const auto& program : set.programs)
    {
        nodes += program->nodes.size();
        isSmall &= std::ranges::all_of(program->nodes, [](const TraceNode& node) {
            return node.bytes <= SMALL_BYTES;
        });
    }
    TraceIssues issues;
    TraceJobSpec spec;
    spec.trace = std::make_shared<const MatchedTrace>(MatchTrace(std::move(set), issues));
    for (size_t i = 0; i < TRACE_COLLECTIVES; ++i)
    {
        const auto* scheme =
            FindScheme(i == 0 ? "ring" : GetTraceCollectiveName(static_cast<TraceCollective>(i)));
        spec.schemes[i] = {scheme, MakeDefaultParameters(*scheme)};
    }
    if (isSmall && nodes <= SMALL)
    {
        PlanShelf shelf;
        IsTaken<WorkloadError>([&] { MakeTraceWorkload(spec, shelf); });
    }
}

/// Both ranks run it.
bool
ReadChakraText(const std::string& text, void (*read)(std::string_view, ChakraProgram&))
{
    return IsTaken<ImportError>([&] {
        ChakraProgram program("fuzz", {});
        read(text, program);
        const auto made = std::make_shared<const TraceProgram>(program.Finish());
        TraceSet set;
        set.programs = {made, made};
        RunTrace(std::move(set));
    });
}

bool
ReadChakraBinary(const std::string& text)
{
    return ReadChakraText(text, &ReadChakraProtobuf);
}

bool
ReadChakraMessages(const std::string& text)
{
    return ReadChakraText(text, &ReadChakraJson);
}

/// All of its ranks run it, on a device of 1 TFLOP/s.
bool
ReadPyTorchText(const std::string& text)
{
    return IsTaken<ImportError>([&] {
        const OperatorRates rates{
            [](const std::string& /*datatype*/, bool /*hasConvolutions*/) { return 1e12; },
            1e12};
        auto trace = ReadPyTorchTrace("fuzz", text, rates);
        const auto ranks = CountGroupRanks(trace);
        if (ranks > 64)
        {
            return;
        }
        PyTorchProcessGroups groups("fuzz", ranks);
        TraceSet set;
        const auto made = std::make_shared<const TraceProgram>(std::move(trace.program));
        for (uint32_t rank = 0; rank < ranks; ++rank)
        {
            groups.Add(rank, trace.groups);
            set.programs.push_back(made);
        }
        set.groups = groups.Finish();
        RunTrace(std::move(set));
    });
}

bool
ReadAicbLayers(const std::string& text)
{
    return IsTaken<ImportError>([&] {
        const auto workload = ReadAicbWorkload("fuzz", text);
        const auto ranks = workload.ranks == 0 ? uint64_t{workload.tensor} * workload.stages
                                               : uint64_t{workload.ranks};
        if (ranks <= 64)
        {
            RunTrace(MakeAicbTrace("fuzz", workload, static_cast<uint32_t>(ranks)));
        }
    });
}

bool
ReadAicbRows(const std::string& text)
{
    return IsTaken<ImportError>([&] {
        TraceIssues issues;
        RunTrace(ReadAicbTable("fuzz", text, issues));
    });
}

constexpr std::array<Reader, 21> READERS{{
    {"scenario", &ReadScenarioText},
    {"topology", &ReadTopology},
    {"model", &ReadModelText},
    {"dapple", &ReadDappleText},
    {"device", &ReadDeviceText},
    {"profile", &ReadProfileText},
    {"msccl", &TryImport},
    {"goal", &TryImport},
    {"plan", &TryImport},
    {"p4-program", &ReadProgram},
    {"p4-commands", &ReadCommands},
    {"p4-vector", &ReadVector},
    {"p4-entries", &ReadEntries},
    {"p4-json-entries", &ReadJsonEntries},
    {"override", &ReadOverrides},
    {"fault-trace", &ReadFaultTrace},
    {"aicb", &ReadAicbLayers},
    {"aicb-table", &ReadAicbRows},
    {"chakra", &ReadChakraBinary},
    {"chakra-json", &ReadChakraMessages},
    {"pytorch", &ReadPyTorchText},
}};

} // namespace

std::span<const Reader>
GetReaders()
{
    return READERS;
}

const Reader&
FindReader(const std::string& name)
{
    std::string names;
    for (const auto& reader : READERS)
    {
        if (reader.name == name)
        {
            return reader;
        }
        names += names.empty() ? "" : ", ";
        names += reader.name;
    }
    throw std::invalid_argument("no reader \"" + name + "\", there are " + names);
}

std::filesystem::path
GetCorpusFolder(const Reader& reader)
{
    return SOURCE / "tests/fuzz/corpus" / reader.name;
}

} // namespace ns3::gradsync
