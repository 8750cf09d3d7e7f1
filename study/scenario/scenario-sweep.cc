// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scenario-sweep.h"

#include "ns3/document-path.h"
#include "ns3/model-reader.h"
#include "ns3/parameter-reader.h"
#include "ns3/scenario-error.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-vocabulary.h"
#include "ns3/scheme-reader.h"
#include "ns3/workload-trace-section.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <string_view>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr std::string_view SWEEP_PREFIX = "sweep.";

/// The sections of a job that have a `kind`.
void
AppendSections(const Json& document, const std::string& job, std::vector<std::string>& paths)
{
    std::vector<std::string> owners{job};
    for (const auto* name : {"tensors", "training.codecs"})
    {
        const Json* list = FindAtPath(document, SplitPath(fmt::format("{}.{}", job, name)));
        for (size_t i = 0; list != nullptr && list->is_array() && i < list->size(); ++i)
        {
            owners.push_back(fmt::format("{}.{}.{}", job, name, i));
        }
    }
    for (const auto* scheme : {"scheme",
                               "training.tensorScheme",
                               "training.gradientScheme",
                               "training.parameterScheme",
                               "training.outerScheme",
                               "training.gatherScheme",
                               "training.scatterScheme",
                               "training.expertScheme"})
    {
        paths.push_back(fmt::format("{}.{}", job, scheme));
    }
    for (const auto* scheme : GetTraceSchemeKeys())
    {
        paths.push_back(fmt::format("{}.trace.{}", job, scheme));
    }
    paths.push_back(job + ".protocol");
    for (const auto& owner : owners)
    {
        paths.push_back(owner + ".codec");
        paths.push_back(owner + ".codec.elsewhere");
    }
}

/// The sections of a document that have a `kind`.
std::vector<std::string>
ListSections(const Json& document)
{
    std::vector<std::string> paths{"topology", "transport", "scheme"};
    AppendSections(document, "job", paths);
    const Json* jobs = FindAtPath(document, {"jobs"});
    for (size_t i = 0; jobs != nullptr && jobs->is_array() && i < jobs->size(); ++i)
    {
        AppendSections(document, fmt::format("jobs.{}", i), paths);
    }
    return paths;
}

Json
ParseValue(const std::string& text)
{
    try
    {
        return ParseJson(text, "--set");
    }
    catch (const ScenarioError&)
    {
        // Not JSON: names and quantities may be given without quotes. Invalid UTF-8 never becomes a
        // string.
        Json value(text);
        try
        {
            value.dump();
        }
        catch (const Json::exception&)
        {
            throw ScenarioError("--set", "invalid UTF-8");
        }
        return value;
    }
}

bool
IsInside(const std::string& path, const std::string& parent)
{
    return path == parent || path.starts_with(parent + ".");
}

void
ApplyOverride(Json& document, const ScenarioOverride& change)
{
    const std::string where = "--set " + ShowJson(Json(change.path));
    const bool sweep = change.path.starts_with(SWEEP_PREFIX);
    const std::string path = sweep ? change.path.substr(SWEEP_PREFIX.size()) : change.path;
    ScenarioVocabulary(document).CheckPath(path, where);
    if (!document.contains("sweep") || !document["sweep"].is_object())
    {
        document["sweep"] = Json::object();
    }
    Json& axes = document["sweep"];
    if (sweep)
    {
        axes[path] = ParseValue(change.value);
        return;
    }
    for (const auto& [swept, values] : axes.items())
    {
        if (swept != path && IsInside(path, swept))
        {
            throw ScenarioError(
                where,
                fmt::format("the sweep over {} would override it", ShowJson(swept)));
        }
    }
    if (path == "sweep")
    {
        document["sweep"] = ParseValue(change.value);
        return;
    }
    axes.erase(path);
    SetAtPath(document, path, ParseValue(change.value));
}

/// Parameters of one kind beside a sweep over kinds: a run keeps those that its own kind knows.
void
DropForeignKeys(Json& document, const Json& original)
{
    const ScenarioVocabulary vocabulary(original);
    for (const auto& path : ListSections(original))
    {
        const auto segments = SplitPath(path);
        Json* section = FindAtPath(document, segments);
        // Most have nothing but their kind.
        if (FindAtPath(original, {"sweep", path + ".kind"}) == nullptr || section == nullptr ||
            !section->is_object() || section->size() == 1 || !section->contains("kind") ||
            !(*section)["kind"].is_string())
        {
            continue;
        }
        const auto own = vocabulary.GetKindKeys(segments, (*section)["kind"].get<std::string>());
        for (const auto& kind : vocabulary.GetKinds(path))
        {
            for (const auto& key : vocabulary.GetKindKeys(segments, kind))
            {
                if (!own.empty() && std::find(own.begin(), own.end(), key) == own.end())
                {
                    section->erase(key);
                }
            }
        }
    }
}

/// Seeds of what schemes draw are the run's where a scenario does not fix them.
void
SetSeeds(Json& document)
{
    for (const auto& path : ListSections(document))
    {
        Json* section = FindAtPath(document, SplitPath(path));
        const Json* kind = section ? FindAtPath(*section, {"kind"}) : nullptr;
        const auto* spec = kind && kind->is_string()
                               ? FindKind(GetSchemeKinds(), kind->get<std::string>())
                               : nullptr;
        if (!spec)
        {
            continue;
        }
        for (const auto& parameter : spec->parameters)
        {
            if (parameter.isSeed && !section->contains(parameter.name))
            {
                (*section)[parameter.name] = document.value("seed", Json(1));
            }
        }
    }
}

} // namespace

void
ExpandShorthand(Json& document)
{
    for (const auto& path : ListSections(document))
    {
        Json* section = FindAtPath(document, SplitPath(path));
        if (path != "topology" && section != nullptr && section->is_string())
        {
            Json kind = std::move(*section);
            *section = Json::object();
            (*section)["kind"] = std::move(kind);
        }
    }
    for (const auto& path : ListTrainingFiles(document))
    {
        Json* section = FindAtPath(document, SplitPath(path));
        if (section != nullptr && section->is_string())
        {
            Json file = std::move(*section);
            *section = Json{{"file", std::move(file)}};
        }
    }
}

void
ApplyOverrides(Json& document, const std::vector<ScenarioOverride>& overrides)
{
    for (const auto& change : overrides)
    {
        ApplyOverride(document, change);
        ExpandShorthand(document);
    }
}

namespace
{

/// Repetitions are an axis of seeds, the innermost, so that the runs of a point stand together.
void
AppendRepetitions(const JsonValue& root, std::vector<SweepAxis>& axes)
{
    const auto repeat = root.Find("repeat");
    if (!repeat)
    {
        return;
    }
    for (const auto& axis : axes)
    {
        if (axis.path == "seed")
        {
            repeat->FailWith("the seed is swept already");
        }
    }
    constexpr uint64_t MAX_SEED = std::numeric_limits<uint32_t>::max();
    const auto seed = root.Find("seed");
    const uint64_t first = seed ? seed->AsUnsigned(1, MAX_SEED) : 1;
    const uint64_t count =
        repeat->AsUnsigned(1, std::min<uint64_t>(MAX_RUNS, MAX_SEED - first + 1));
    SweepAxis seeds{"seed", {}};
    for (uint64_t i = 0; i < count; ++i)
    {
        seeds.values.emplace_back(first + i);
    }
    axes.push_back(std::move(seeds));
}

std::vector<SweepAxis>
ReadAxes(const JsonValue& root)
{
    std::vector<SweepAxis> axes;
    const auto sweep = root.Find("sweep");
    if (!sweep)
    {
        return axes;
    }
    if (!sweep->IsObject())
    {
        sweep->Fail("an object of paths and lists such as {\"scheme.kind\": [\"ps\", \"ring\"]}");
    }
    const ScenarioVocabulary vocabulary(root.Get());
    for (const auto& [path, values] : sweep->Get().items())
    {
        vocabulary.CheckPath(path, root.GetFile() + ": sweep");
        const JsonValue list(values, root.GetFile(), fmt::format("sweep.\"{}\"", path));
        if (!values.is_array() || values.empty())
        {
            list.Fail("a list with at least one value");
        }
        for (const auto& key : {"sweep", "repeat", "$schema", "title", "plot"})
        {
            if (IsInside(path, key))
            {
                list.FailWith("this part of a scenario cannot be swept");
            }
        }
        for (const auto& earlier : axes)
        {
            if (IsInside(earlier.path, path))
            {
                list.FailWith(
                    fmt::format("overrides the sweep over \"{}\" above it", earlier.path));
            }
        }
        axes.push_back({path, {values.begin(), values.end()}});
        for (size_t i = 0; i < std::min<size_t>(values.size(), 1000); ++i)
        {
            if (std::find(values.begin(),
                          values.begin() + static_cast<std::ptrdiff_t>(i),
                          values[i]) != values.begin() + static_cast<std::ptrdiff_t>(i))
            {
                list.FailWith(fmt::format("the value {} is listed twice", ShowJson(values[i])));
            }
        }
    }
    return axes;
}

} // namespace

std::vector<SweepAxis>
ReadSweep(const JsonValue& root)
{
    auto axes = ReadAxes(root);
    AppendRepetitions(root, axes);
    return axes;
}

ScenarioPoint
ApplySweep(const Scenario& scenario, uint32_t index)
{
    ScenarioPoint point;
    point.index = index;
    point.document = scenario.document;
    point.document.erase("sweep");
    point.document.erase("repeat");
    point.values.resize(scenario.axes.size());
    uint32_t rest = index;
    for (size_t i = scenario.axes.size(); i-- > 0;)
    {
        const auto& values = scenario.axes[i].values;
        point.values[i] = values[rest % values.size()];
        rest /= static_cast<uint32_t>(values.size());
    }
    for (size_t i = 0; i < scenario.axes.size(); ++i)
    {
        try
        {
            SetAtPath(point.document, scenario.axes[i].path, point.values[i]);
        }
        catch (const ScenarioError& error)
        {
            throw ScenarioError(scenario.file + ": sweep", error.what());
        }
        ExpandShorthand(point.document);
    }
    DropForeignKeys(point.document, scenario.document);
    SetSeeds(point.document);
    return point;
}

} // namespace ns3::gradsync
