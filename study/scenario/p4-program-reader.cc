// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-program-reader.h"

#include "ns3/document-path.h"
#include "ns3/hash.h"
#include "ns3/node-names.h"
#include "ns3/p4-error.h"
#include "ns3/p4-pipeline.h"
#include "ns3/p4-program-loader.h"
#include "ns3/p4-runtime-commands.h"
#include "ns3/p4-runtime-text.h"
#include "ns3/parameter-reader.h"
#include "ns3/scenario-error.h"

#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Values of `packets`, the default first.
const std::vector<std::string> PACKET_CHOICES{"aggregation", "all"};

std::shared_ptr<const std::string>
ReadProgramText(const JsonValue& value, NamedFiles& files)
{
    const auto path = value.AsPath();
    try
    {
        return files.Read(path);
    }
    catch (const InputFileError& error)
    {
        value.FailWith(fmt::format("{} {}", path, error.what()));
    }
}

/// Of the program and, if there is one, the configuration.
std::string
GetDigest(const JsonValue& entry, NamedFiles& files)
{
    auto text = *ReadProgramText(entry.Require("program", "switch.json"), files);
    for (const auto* name : {"configuration", "p4info"})
    {
        if (const auto file = entry.Find(name))
        {
            text += '\0' + *ReadProgramText(*file, files);
        }
    }
    return fmt::format("{:016x}", Hash64(text));
}

P4SwitchProgram
ReadProgram(const JsonValue& entry, NamedFiles& files)
{
    const auto program = entry.Require("program", "switch.json");
    P4SwitchProgram read;
    try
    {
        read.program = std::make_shared<const P4Program>(
            P4ProgramLoader::Load(*ReadProgramText(program, files), program.AsPath()));
        if (const auto configuration = entry.Find("configuration"))
        {
            std::optional<P4NamedText> info;
            if (const auto p4info = entry.Find("p4info"))
            {
                info = {*ReadProgramText(*p4info, files), p4info->AsPath()};
            }
            read.configurationName = configuration->AsPath();
            read.configuration =
                MakeP4Commands(*read.program,
                               {*ReadProgramText(*configuration, files), read.configurationName},
                               info);
            // Here, so that its errors come with those of the scenario.
            P4Pipeline pipeline(read.program);
            P4RuntimeCommands(pipeline, read.configurationName).Run(read.configuration);
        }
    }
    catch (const P4Error& error)
    {
        entry.FailWith(error.what());
    }
    if (const auto packets = entry.Find("packets"))
    {
        read.takesAll = packets->AsChoice(PACKET_CHOICES) == PACKET_CHOICES.back();
    }
    return read;
}

} // namespace

ParameterSpec
DescribePrograms()
{
    auto spec = MakeObjectSpec(
        "programs",
        "own P4 programs of switches, in place of their part in any protocol: doc/p4.rst",
        {Required({"switches", SharedShape{"switches"}, "names of the switches that run it"}),
         Required({"program",
                   std::string("switch.json"),
                   "what p4c-bm2-ss made of a v1model program (JSON), from the folder of the "
                   "scenario"}),
         Optional({"configuration",
                   std::string("switch.cli"),
                   "its tables and groups: commands of simple_switch_CLI, entries of P4Runtime "
                   "(.txtpb), or JSON as the tutorials of P4 have it (.json)"}),
         Optional({"p4info",
                   std::string("switch.p4info.txtpb"),
                   "what entries of P4Runtime need: p4info in its text form"}),
         ParameterSpec{"packets",
                       std::string("aggregation"),
                       "which packets pass it: aggregation, those that P4 programs can make; all, "
                       "those of RoCE and ATP too",
                       PACKET_CHOICES},
         Optional({"digest",
                   std::string("0123456789abcdef"),
                   "hash of program and configuration, as results note it; checked where it is "
                   "given"})});
    spec.isList = true;
    return spec;
}

void
StampPrograms(Json& document, const std::string& scenarioFile, NamedFiles& files)
{
    constexpr const char* PATH = "transport.aggregation.programs";
    Json* programs = FindAtPath(document, SplitPath(PATH));
    for (size_t i = 0; programs != nullptr && programs->is_array() && i < programs->size(); ++i)
    {
        Json& entry = (*programs)[i];
        if (!entry.is_object() || !entry.contains("program"))
        {
            continue; // ReadPrograms tells
        }
        const JsonValue value(entry, scenarioFile, fmt::format("{}.{}", PATH, i));
        const auto digest = GetDigest(value, files);
        if (const auto old = value.Find("digest"); old && old->Get() != digest)
        {
            old->Fail(fmt::format("\"{}\", which program and configuration hash to", digest));
        }
        entry["digest"] = digest;
    }
}

std::map<NodeId, P4SwitchProgram>
ReadPrograms(const JsonValue& list, const Topology& topology, NamedFiles& files)
{
    const auto names = NodeNames::OfForwarders(topology);
    std::map<NodeId, P4SwitchProgram> programs;
    for (const auto& entry : list.GetItems())
    {
        entry.CheckKeys(GetKeys(DescribePrograms().members));
        const auto switches = entry.Require("switches", "[\"leaf0\"]");
        const auto program = ReadProgram(entry, files);
        for (const auto node : names.ReadList(switches))
        {
            if (!programs.emplace(node, program).second)
            {
                switches.FailWith(
                    fmt::format("switch {} has a program already", topology.GetNodes()[node].name));
            }
        }
    }
    return programs;
}

} // namespace ns3::gradsync
