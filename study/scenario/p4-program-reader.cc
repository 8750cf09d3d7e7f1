// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-program-reader.h"

#include "ns3/document-path.h"
#include "ns3/hash.h"
#include "ns3/input-file.h"
#include "ns3/node-names.h"
#include "ns3/p4-error.h"
#include "ns3/p4-pipeline.h"
#include "ns3/p4-program-loader.h"
#include "ns3/scenario-error.h"

#include <fmt/format.h>
#include <optional>

namespace ns3::gradsync
{

namespace
{

std::string
ReadText(const JsonValue& value)
{
    const auto path = value.AsPath();
    try
    {
        return ReadInputFile(path);
    }
    catch (const InputFileError& error)
    {
        value.FailWith(fmt::format("{} {}", path, error.what()));
    }
}

/// Of the program and, if there is one, the configuration.
std::string
GetDigest(const JsonValue& entry)
{
    auto text = ReadText(entry.Require("program", "switch.json"));
    if (const auto configuration = entry.Find("configuration"))
    {
        text += '\0' + ReadText(*configuration);
    }
    return fmt::format("{:016x}", Hash64(text));
}

P4SwitchProgram
ReadProgram(const JsonValue& entry)
{
    const auto program = entry.Require("program", "switch.json");
    P4SwitchProgram read;
    try
    {
        read.program =
            std::make_shared<const P4Program>(P4ProgramLoader::LoadFile(program.AsPath()));
        if (const auto configuration = entry.Find("configuration"))
        {
            read.configuration = ReadText(*configuration);
            read.configurationName = configuration->AsPath();
            // Here, so that its errors come with those of the scenario.
            P4Pipeline(read.program).Configure(read.configuration, read.configurationName);
        }
    }
    catch (const P4Error& error)
    {
        entry.FailWith(error.what());
    }
    return read;
}

} // namespace

void
StampPrograms(Json& document, const std::string& scenarioFile)
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
        const auto digest = GetDigest(value);
        if (const auto old = value.Find("digest"); old && old->Get() != digest)
        {
            old->Fail(fmt::format("\"{}\", which program and configuration hash to", digest));
        }
        entry["digest"] = digest;
    }
}

std::map<NodeId, P4SwitchProgram>
ReadPrograms(const JsonValue& list, const Topology& topology)
{
    const auto names = NodeNames::OfForwarders(topology);
    std::map<NodeId, P4SwitchProgram> programs;
    for (const auto& entry : list.GetItems())
    {
        entry.CheckKeys({"switches", "program", "configuration", "digest"});
        const auto switches = entry.Require("switches", "[\"leaf0\"]");
        const auto program = ReadProgram(entry);
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
