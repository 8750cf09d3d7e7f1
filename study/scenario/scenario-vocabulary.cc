// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scenario-vocabulary.h"

#include "ns3/codec-reader.h"
#include "ns3/document-path.h"
#include "ns3/fault-reader.h"
#include "ns3/json-value.h"
#include "ns3/nearest-name.h"
#include "ns3/scenario-error.h"
#include "ns3/scheme-reader.h"
#include "ns3/topology-section.h"
#include "ns3/traffic-reader.h"
#include "ns3/transport-registry.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace scenario_keys
{
const std::vector<std::string> TOP{"$schema",
                                   "title",
                                   "topology",
                                   "transport",
                                   "fabric",
                                   "job",
                                   "jobs",
                                   "scheme",
                                   "faults",
                                   "traffic",
                                   "seed",
                                   "repeat",
                                   "sweep",
                                   "plot",
                                   "results"};
const std::vector<std::string> JOB{"name",
                                   "gradient",
                                   "iterations",
                                   "compute",
                                   "start",
                                   "workers",
                                   "endpoints",
                                   "serverEndpoints",
                                   "reduceRate",
                                   "maxOutstandingSends",
                                   "timeout",
                                   "reaction",
                                   "scheme",
                                   "codec",
                                   "profile"};
const std::vector<std::string>
    PLOT{"x", "y", "series", "title", "labels", "panels", "logX", "logY"};
const std::vector<std::string> RESULTS{"messages", "links", "trace", "every", "pcap"};
} // namespace scenario_keys

namespace
{

void
Append(std::vector<std::string>& names, const std::vector<std::string>& more)
{
    for (const auto& name : more)
    {
        if (std::find(names.begin(), names.end(), name) == names.end())
        {
            names.push_back(name);
        }
    }
}

/// The path with the nearest key in place of the wrong one.
std::string
SuggestPath(const std::vector<std::string>& segments,
            size_t wrong,
            const std::vector<std::string>& keys)
{
    const std::string nearest = NearestName(segments[wrong], keys);
    if (nearest.empty())
    {
        return {};
    }
    auto path = segments;
    path[wrong] = nearest;
    return fmt::format("; did you mean \"{}\"?", JoinSegments(path, path.size()));
}

/// The kind that a section, given as an object or by its name alone, has.
void
AppendKind(std::vector<std::string>& kinds, const Json& section)
{
    const Json* kind = section.is_object() ? FindAtPath(section, {"kind"}) : &section;
    if (kind != nullptr && kind->is_string())
    {
        Append(kinds, {kind->get<std::string>()});
    }
}

} // namespace

ScenarioVocabulary::ScenarioVocabulary(const Json& document)
    : m_document(&document)
{
}

bool
ScenarioVocabulary::HasKind(const std::vector<std::string>& segments)
{
    const bool top = segments.size() == 1;
    return !segments.empty() &&
           ((top && (segments[0] == "topology" || segments[0] == "transport")) ||
            ((segments.back() == "scheme" || (!top && segments.back() == "codec")) &&
             (top || segments[0] == "job" || (segments[0] == "jobs" && segments.size() == 3))));
}

std::vector<std::string>
ScenarioVocabulary::GetKindKeys(const std::vector<std::string>& segments, const std::string& kind)
{
    return segments[0] == "topology"    ? GetTopologyKeys(kind)
           : segments[0] == "transport" ? GetTransportKeys(kind)
           : segments.back() == "codec" ? GetCodecKeys(kind)
                                        : GetSchemeKeys(kind);
}

std::vector<std::string>
ScenarioVocabulary::GetKinds(const std::string& path) const
{
    std::vector<std::string> kinds;
    if (const Json* section = FindAtPath(*m_document, SplitPath(path)))
    {
        AppendKind(kinds, *section);
    }
    for (const auto& swept : {path, path + ".kind"})
    {
        const Json* values = FindAtPath(*m_document, {"sweep", swept});
        if (values != nullptr && values->is_array())
        {
            for (const auto& value : *values)
            {
                AppendKind(kinds, value);
            }
        }
    }
    return kinds;
}

std::vector<std::string>
ScenarioVocabulary::GetUnionOfKinds(const std::vector<std::string>& segments) const
{
    auto kinds = GetKinds(JoinSegments(segments, segments.size()));
    if (segments[0] == "topology" &&
        (kinds.empty() || FindAtPath(*m_document, {"topology", "file"})))
    {
        // A topology file decides its kind itself: whatever any kind knows may be overridden.
        kinds = GetTopologyKinds();
    }
    else if (kinds.empty() && segments[0] == "transport")
    {
        kinds = {DEFAULT_TRANSPORT_KIND};
    }
    std::vector<std::string> keys{"kind"};
    for (const auto& kind : kinds)
    {
        Append(keys, GetKindKeys(segments, kind));
    }
    return keys;
}

std::vector<std::string>
ScenarioVocabulary::GetKeys(const std::vector<std::string>& segments) const
{
    if (segments.empty())
    {
        return scenario_keys::TOP;
    }
    if (HasKind(segments))
    {
        return GetUnionOfKinds(segments);
    }
    if (segments[0] == "topology")
    {
        return GetTopologyPartKeys({segments.begin() + 1, segments.end()});
    }
    if (segments.size() == 1)
    {
        return segments[0] == "fabric"    ? GetFabricKeys()
               : segments[0] == "job"     ? scenario_keys::JOB
               : segments[0] == "plot"    ? scenario_keys::PLOT
               : segments[0] == "results" ? scenario_keys::RESULTS
                                          : std::vector<std::string>{};
    }
    if (segments[0] == "transport")
    {
        auto keys = GetTransportPartKeys(
            JoinSegments({segments.begin() + 1, segments.end()}, segments.size() - 1));
        Append(keys,
               segments.back() == AGGREGATION_PART ? GetOldAggregationKeys()
                                                   : std::vector<std::string>());
        return keys;
    }
    return segments.size() != 2       ? std::vector<std::string>{}
           : segments[0] == "jobs"    ? scenario_keys::JOB
           : segments[0] == "faults"  ? GetAllFaultKeys()
           : segments[0] == "traffic" ? GetTrafficKeys()
                                      : std::vector<std::string>{};
}

void
ScenarioVocabulary::CheckPath(const std::string& path, const std::string& where) const
{
    const auto segments = SplitPath(path);
    for (size_t i = 0; i < segments.size(); ++i)
    {
        const std::vector<std::string> prefix(segments.begin(),
                                              segments.begin() + static_cast<std::ptrdiff_t>(i));
        const Json* parent = FindAtPath(*m_document, prefix);
        if (parent != nullptr && parent->is_array())
        {
            if (ToIndex(segments[i], parent->size()) == parent->size())
            {
                throw ScenarioError(
                    where,
                    fmt::format("the path {} does not exist: \"{}\" is a list of {}",
                                ShowJson(path),
                                JoinSegments(segments, i),
                                parent->size()));
            }
            continue;
        }
        auto keys = GetKeys(prefix);
        if (parent != nullptr && parent->is_object())
        {
            for (const auto& [key, value] : parent->items())
            {
                // A wrong key of the document itself is named where it stands, by the reader.
                Append(keys, {key});
            }
        }
        if (std::find(keys.begin(), keys.end(), segments[i]) == keys.end())
        {
            throw ScenarioError(
                where,
                fmt::format("the path {} does not exist{} ({} has: {})",
                            ShowJson(path),
                            SuggestPath(segments, i, keys),
                            i == 0 ? "a scenario" : "\"" + JoinSegments(segments, i) + "\"",
                            JoinNames(keys)));
        }
    }
}

} // namespace ns3::gradsync
