// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scenario-vocabulary.h"

#include "ns3/document-path.h"
#include "ns3/fault-reader.h"
#include "ns3/json-value.h"
#include "ns3/nearest-name.h"
#include "ns3/parameter-reader.h"
#include "ns3/scenario-error.h"
#include "ns3/transport-registry.h"

#include <algorithm>
#include <fmt/format.h>
#include <variant>

namespace ns3::gradsync
{

namespace
{

constexpr const char* FAULTS = "faults";
constexpr const char* TRAFFIC_LIST = "trafficList";

void
Append(std::vector<std::string>& names, const std::string& name)
{
    if (std::ranges::count(names, name) == 0)
    {
        names.push_back(name);
    }
}

void
Append(std::vector<ParameterSpec>& specs, const std::vector<ParameterSpec>& more)
{
    for (const auto& spec : more)
    {
        if (std::ranges::count(specs, spec.name, &ParameterSpec::name) == 0)
        {
            specs.push_back(spec);
        }
    }
}

/// The kinds of the section that a parameter is, or of each of the list that it is.
const KindSection*
FindSection(const ParameterSpec& spec)
{
    const auto* shape = std::get_if<SharedShape>(&spec.defaultValue);
    return shape == nullptr              ? nullptr
           : shape->name == FAULTS       ? FindKindSection("fault")
           : shape->name == TRAFFIC_LIST ? FindKindSection("traffic")
                                         : FindKindSection(shape->name);
}

bool
IsList(const ParameterSpec& spec)
{
    const auto* shape = std::get_if<SharedShape>(&spec.defaultValue);
    return spec.isList || (shape && (shape->name == FAULTS || shape->name == TRAFFIC_LIST));
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
        Append(kinds, kind->get<std::string>());
    }
}

} // namespace

ScenarioVocabulary::ScenarioVocabulary(const Json& document)
    : m_document(&document)
{
}

std::vector<std::string>
ScenarioVocabulary::GetKindKeys(const std::vector<std::string>& segments,
                                const std::string& kind) const
{
    const auto specs = GetParameters({segments.begin(), segments.end() - 1});
    const auto found = std::ranges::find(specs, segments.back(), &ParameterSpec::name);
    const auto* section = found == specs.end() ? nullptr : FindSection(*found);
    const auto* spec = section ? FindKind(section->getKinds(), kind) : nullptr;
    return spec ? GetKeys(spec->parameters, {"kind"}) : std::vector<std::string>();
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

std::vector<ParameterSpec>
ScenarioVocabulary::GetUnionOfKinds(const KindSection& section,
                                    const std::vector<std::string>& segments) const
{
    auto kinds = GetKinds(JoinSegments(segments, segments.size()));
    auto file = segments;
    file.emplace_back("file");
    const bool mayHaveFile = section.name == "topology" || section.name == "model";
    const bool hasFile = FindAtPath(*m_document, file) != nullptr;
    if (mayHaveFile && (kinds.empty() || hasFile))
    {
        // A file decides its kind itself: whatever any kind knows may be overridden.
        kinds = GetKindNames(section.getKinds());
    }
    else if (kinds.empty() && section.name == "transport")
    {
        kinds = {DEFAULT_TRANSPORT_KIND};
    }
    std::vector<ParameterSpec> specs{{"kind", std::string(), ""}};
    for (const auto& name : kinds)
    {
        if (const auto* kind = FindKind(section.getKinds(), name))
        {
            Append(specs, kind->parameters);
        }
    }
    return specs;
}

std::vector<ParameterSpec>
ScenarioVocabulary::GetMembers(const ParameterSpec& spec,
                               const std::vector<std::string>& segments) const
{
    const auto* section = FindSection(spec);
    if (section && !IsList(spec))
    {
        return GetUnionOfKinds(*section, segments);
    }
    auto members = spec.members;
    for (const auto& form : spec.forms)
    {
        Append(members, form.members);
    }
    if (section)
    {
        members = {{"kind", std::string(), ""}};
        for (const auto& kind : section->getKinds())
        {
            Append(members, kind.parameters);
        }
        Append(members,
               section->name == "fault" ? GetTraceParameters() : std::vector<ParameterSpec>());
    }
    return members;
}

std::vector<ParameterSpec>
ScenarioVocabulary::GetParameters(const std::vector<std::string>& segments) const
{
    auto specs = GetScenarioParameters();
    for (size_t i = 0; i < segments.size(); ++i)
    {
        const auto found = std::ranges::find(specs, segments[i], &ParameterSpec::name);
        if (found == specs.end() || (IsList(*found) && ++i == segments.size()))
        {
            return {};
        }
        specs =
            GetMembers(ParameterSpec(*found),
                       {segments.begin(), segments.begin() + static_cast<std::ptrdiff_t>(i + 1)});
    }
    return specs;
}

std::optional<ParameterSpec>
ScenarioVocabulary::FindParameter(const std::string& path) const
{
    const auto segments = SplitPath(path);
    const auto specs = GetParameters({segments.begin(), segments.end() - 1});
    const auto found = std::ranges::find(specs, segments.back(), &ParameterSpec::name);
    return found == specs.end() ? std::nullopt : std::optional(*found);
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
        std::vector<std::string> keys;
        for (const auto& spec : GetParameters(prefix))
        {
            keys.push_back(spec.name);
        }
        if (parent != nullptr && parent->is_object())
        {
            for (const auto& [key, value] : parent->items())
            {
                // A wrong key of the document itself is named where it stands, by the reader.
                Append(keys, key);
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
