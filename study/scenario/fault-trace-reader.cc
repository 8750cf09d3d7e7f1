// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fault-trace-reader.h"

#include "ns3/document-path.h"
#include "ns3/fault-kinds.h"
#include "ns3/fault-reader.h"
#include "ns3/input-file.h"
#include "ns3/nearest-name.h"
#include "ns3/node-names.h"
#include "ns3/parameter-reader.h"
#include "ns3/scenario-error.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// The fields of a line of CSV (RFC 4180, without line breaks in fields); nothing for an open
/// quote.
std::optional<std::vector<std::string>>
SplitCsv(const std::string& line)
{
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (size_t i = 0; i < line.size(); ++i)
    {
        if (line[i] == '"')
        {
            // Two quotes inside a quoted field stand for one.
            if (quoted && i + 1 < line.size() && line[i + 1] == '"')
            {
                fields.back() += line[i++];
            }
            else
            {
                quoted = !quoted;
            }
        }
        else if (line[i] == ',' && !quoted)
        {
            fields.emplace_back();
        }
        else if (line[i] != '\r')
        {
            fields.back() += line[i];
        }
    }
    return quoted ? std::nullopt : std::make_optional(std::move(fields));
}

/// Numbers and objects as JSON, anything else as the text that it is.
Json
ReadField(const std::string& text, const std::string& where)
{
    try
    {
        return ParseJson(text, where);
    }
    catch (const ScenarioError&)
    {
        return text;
    }
}

/// What any kind knows, but for its targets and what only `time` and `target` can say.
std::vector<std::string>
GetKnownColumns()
{
    std::vector<std::string> known{"kind"};
    for (const auto& kind : GetFaultKinds())
    {
        const auto targets = GetFaultTargetNames(FindFaultKind(kind.name));
        for (const auto& name : GetKeys(kind.parameters))
        {
            if (name != "start" && name != "random" && std::ranges::count(targets, name) == 0 &&
                std::ranges::count(known, name) == 0)
            {
                known.push_back(name);
            }
        }
    }
    known.insert(known.end(), {"time", "target"});
    return known;
}

void
CheckColumns(const std::vector<std::string>& columns, const std::string& file)
{
    const auto known = GetKnownColumns();
    for (const auto& column : columns)
    {
        if (std::count(known.begin(), known.end(), column) == 0)
        {
            throw ScenarioError(file + ": line 1",
                                fmt::format("unknown column {}{}",
                                            ShowJson(Json(column)),
                                            SuggestName(column, known)));
        }
        if (std::count(columns.begin(), columns.end(), column) > 1)
        {
            throw ScenarioError(file + ": line 1",
                                fmt::format("the column {} is there twice", column));
        }
    }
    for (const auto* wanted : {"time", "kind", "target"})
    {
        if (std::count(columns.begin(), columns.end(), wanted) == 0)
        {
            throw ScenarioError(file + ": line 1",
                                fmt::format("the column {} is missing, expected for example "
                                            "\"time,kind,target,duration\"",
                                            wanted));
        }
    }
}

std::string
ReadFaultTrace(const std::string& path, NamedFiles& files)
{
    try
    {
        return *files.Read(path);
    }
    catch (const InputFileError& error)
    {
        throw ScenarioError(path, error.what());
    }
}

Json
ReadRows(const std::string& path, NamedFiles& files)
{
    std::istringstream stream(ReadFaultTrace(path, files));
    Json rows = Json::array();
    std::vector<std::string> columns;
    std::string line;
    for (size_t number = 1; std::getline(stream, line); ++number)
    {
        const auto where = fmt::format("{}: line {}", path, number);
        const auto fields = SplitCsv(line);
        if (!fields)
        {
            throw ScenarioError(where, "a quote is not closed");
        }
        if (columns.empty())
        {
            columns = *fields;
            CheckColumns(columns, path);
            continue;
        }
        if (line.empty() || line == "\r")
        {
            continue;
        }
        if (fields->size() != columns.size())
        {
            throw ScenarioError(where,
                                fmt::format("found {} fields, expected {} as in the first line",
                                            fields->size(),
                                            columns.size()));
        }
        Json row{{"line", number}};
        for (size_t i = 0; i < columns.size(); ++i)
        {
            if (!(*fields)[i].empty())
            {
                row[columns[i]] = ReadField((*fields)[i], where);
            }
        }
        rows.push_back(std::move(row));
    }
    if (columns.empty())
    {
        throw ScenarioError(path, "it is empty, expected a first line with the columns");
    }
    return rows;
}

/// All links between two nodes whose names joined by a hyphen are this text.
Json
FindLinkNames(const std::string& text, const Topology& topology)
{
    const auto nodes = topology.GetNodes();
    for (const auto& link : topology.GetLinks())
    {
        for (const auto& [a, b] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}})
        {
            if (text == fmt::format("{}-{}", nodes[a].name, nodes[b].name))
            {
                return Json::array({Json::array({nodes[a].name, nodes[b].name})});
            }
        }
    }
    return Json::array();
}

} // namespace

void
InlineFaultTraces(Json& document, const std::string& scenarioFile, NamedFiles& files)
{
    Json* faults = FindAtPath(document, {"faults"});
    if (faults == nullptr || !faults->is_array())
    {
        return;
    }
    for (size_t i = 0; i < faults->size(); ++i)
    {
        auto& fault = (*faults)[i];
        if (!fault.is_object() || !fault.contains("file") || fault.contains("rows"))
        {
            continue;
        }
        const auto path = fmt::format("faults.{}", i);
        JsonValue(fault, scenarioFile, path).CheckKeys({"file"});
        const JsonValue file(fault["file"], scenarioFile, path + ".file");
        fault["rows"] = ReadRows(file.AsPath(), files);
    }
}

Json
MakeFaultOfRow(const JsonValue& row, const Topology& topology)
{
    Json fault = row.Get();
    row.Require("kind", "link-down");
    const auto target = row.Require("target", "leaf0-spine1");
    fault["start"] = row.Require("time", "1ms").Get();
    for (const auto* column : {"line", "time", "target"})
    {
        fault.erase(column);
    }
    const auto kind = ReadFaultKind(row);
    switch (GetTarget(kind))
    {
    case FaultTarget::Endpoint:
        NodeNames::OfEndpoints(topology).Read(target);
        fault["hosts"] = Json::array({target.Get()});
        break;
    case FaultTarget::Node:
        NodeNames::OfForwarders(topology).Read(target);
        fault["switches"] = Json::array({target.Get()});
        break;
    case FaultTarget::Link:
        fault["links"] = FindLinkNames(target.AsName(), topology);
        if (fault["links"].empty())
        {
            target.Fail("a link by the names of its ends, as leaf0-spine1");
        }
        break;
    }
    return fault;
}

} // namespace ns3::gradsync
