// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scenario-schema.h"

#include "ns3/fault-reader.h"
#include "ns3/model-kinds.h"
#include "ns3/parameter-reader.h"
#include "ns3/parameter-schema.h"
#include "ns3/scenario-sections.h"
#include "ns3/shared-shapes.h"
#include "ns3/training-section.h"
#include "ns3/transport-registry.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Schemas of the kinds of a section stand under this name.
std::string
NameKinds(const KindSection& section)
{
    return fmt::format("{}Kinds", section.name);
}

std::string
NameStrict(const KindSection& section)
{
    return fmt::format("{}OfItsKind", section.name);
}

/// Whether the name of a kind alone stands for its defaults, and other sections' keys may be there
/// when the sweep chooses the kind.
bool
IsSwept(const KindSection& section)
{
    return section.name != "fault" && section.name != "traffic" && section.name != "model";
}

/// Whether what it has can be in a file of its own.
bool
MayBeInFile(const KindSection& section)
{
    return section.name == "topology" || section.name == "model";
}

Json
MakeKindNames(const KindSection& section)
{
    return {{"description", MakeSentence("which one")}, {"enum", GetKindNames(section.getKinds())}};
}

/// A kind and its own keys. Those of topologies are closed where they are used: files have a title.
Json
MakeKindSchema(const KindSpec& kind, bool isClosed)
{
    auto properties = MakeProperties(kind.parameters);
    properties["kind"] = {{"const", kind.name}};
    Json schema{{"description", MakeSentence(kind.summary)}, {"properties", std::move(properties)}};
    if (TakesTypes(kind.parameters))
    {
        schema["patternProperties"] = MakeTypePattern();
    }
    if (isClosed)
    {
        schema["additionalProperties"] = false;
    }
    return schema;
}

/// "if it is of this kind, then it has the keys of it", for each.
Json
MakeChoice(const KindSection& section)
{
    Json choice = Json::array();
    for (const auto& kind : section.getKinds())
    {
        Json condition{{"properties", {{"kind", {{"const", kind.name}}}}}};
        if (section.name != "transport" || kind.name != DEFAULT_TRANSPORT_KIND)
        {
            condition["required"] = Json::array({"kind"});
        }
        choice.push_back(
            {{"if", std::move(condition)},
             {"then", MakeReference(fmt::format("{}/{}", NameKinds(section), kind.name))}});
    }
    return choice;
}

/// Where each key of the section is described, once for each way in which kinds know it.
Json
CollectKeys(const KindSection& section)
{
    Json keys = Json::object();
    std::map<std::string, std::vector<Json>> known;
    for (const auto& kind : section.getKinds())
    {
        const auto properties = MakeProperties(kind.parameters);
        for (const auto& [key, schema] : properties.items())
        {
            auto& ways = known[key];
            if (std::ranges::find(ways, schema) == ways.end())
            {
                ways.push_back(schema);
                keys[key].push_back(MakeReference(
                    fmt::format("{}/{}/properties/{}", NameKinds(section), kind.name, key)));
            }
        }
    }
    return keys;
}

/// The keys of any kind.
Json
MakeUnion(const KindSection& section)
{
    Json properties{{"kind", MakeKindNames(section)}};
    const auto keys = CollectKeys(section);
    for (const auto& [key, ways] : keys.items())
    {
        properties[key] = ways.size() == 1 ? ways[0] : Json{{"anyOf", ways}};
    }
    Json schema{{"type", "object"}, {"properties", std::move(properties)}};
    if (std::ranges::any_of(section.getKinds(),
                            [](const auto& kind) { return TakesTypes(kind.parameters); }))
    {
        schema["patternProperties"] = MakeTypePattern();
    }
    return schema;
}

/// An object of one kind with the keys of that.
Json
MakeStrict(const KindSection& section)
{
    Json schema{{"type", "object"}, {"properties", {{"kind", MakeKindNames(section)}}}};
    if (section.name != "transport")
    {
        schema["required"] = Json::array({"kind"});
    }
    schema["allOf"] = MakeChoice(section);
    return schema;
}

void
DefineKinds(const KindSection& section, Json& definitions)
{
    for (const auto& kind : section.getKinds())
    {
        definitions[NameKinds(section)][kind.name] = MakeKindSchema(kind, !MayBeInFile(section));
    }
}

/// A section whose kind may be in a file; topology.schema.json and model.schema.json use its keys,
/// too.
void
DefineFileSection(const KindSection& section, Json& definitions)
{
    const std::string name(section.name);
    definitions[name + "OfAnyKind"] = MakeUnion(section);
    auto strict = MakeStrict(section);
    strict.erase("type");
    definitions[name + "Keys"] = {{"type", "object"},
                                  {"if", {{"required", Json::array({"file"})}}},
                                  {"then", MakeReference(name + "OfAnyKind")},
                                  {"else", std::move(strict)}};
    definitions[name] = {{"description", section.help},
                         {"$ref", "#/$defs/" + name + "OfAnyKind"},
                         {"unevaluatedProperties", false}};
    definitions[NameStrict(section)] = {{"$ref", "#/$defs/" + name + "Keys"},
                                        {"unevaluatedProperties", false}};
}

/// A model may be given by the name of its file alone; what it is of stands in that, or here.
void
AddModelNames(Json& definitions)
{
    auto model = std::move(definitions["model"]);
    definitions["model"] = {{"description", model["description"]},
                            {"anyOf", Json::array({{{"type", "string"}, {"minLength", 1}}, {}})}};
    model.erase("description");
    definitions["model"]["anyOf"][1] = std::move(model);
    definitions.erase("modelOfItsKind");
    definitions["deviceKeys"] = {{"type", "object"},
                                 {"properties", MakeProperties(GetDeviceParameters())},
                                 {"required", Json::array()}};
    for (const auto& spec : GetDeviceParameters())
    {
        if (spec.presence == Presence::Required)
        {
            definitions["deviceKeys"]["required"].push_back(spec.name);
        }
    }
}

void
DefineSection(const KindSection& section, Json& definitions)
{
    DefineKinds(section, definitions);
    if (MayBeInFile(section))
    {
        DefineFileSection(section, definitions);
        return;
    }
    auto strict = MakeStrict(section);
    if (!IsSwept(section))
    {
        strict["description"] = section.help;
        definitions[std::string(section.name)] = std::move(strict);
        return;
    }
    auto any = MakeUnion(section);
    any["additionalProperties"] = false;
    definitions[std::string(section.name)] = {
        {"description", section.help},
        {"anyOf", Json::array({{{"enum", GetKindNames(section.getKinds())}}, std::move(any)})}};
    definitions[NameStrict(section)] = {
        {"anyOf", Json::array({{{"type", "string"}}, std::move(strict)})}};
}

/// A trace has other keys than a fault.
void
AddTraces(Json& definitions)
{
    auto fault = std::move(definitions["fault"]);
    Json trace{{"properties", MakeProperties(GetTraceParameters())},
               {"additionalProperties", false}};
    definitions["fault"] = {{"description", fault["description"]},
                            {"type", "object"},
                            {"if", {{"required", Json::array({"file"})}}},
                            {"then", std::move(trace)}};
    fault.erase("description");
    definitions["fault"]["else"] = std::move(fault);
}

/// What `training` of a job has of a section, under the names that it has there.
Json
FindTrainingSections(const KindSection& section)
{
    Json found = Json::object();
    for (const auto& spec : GetTrainingParameters())
    {
        const auto* shape = std::get_if<SharedShape>(&spec.defaultValue);
        if (shape && shape->name == section.name)
        {
            found[spec.name] = MakeReference(NameStrict(section));
        }
    }
    return found;
}

/// Sections of a name have the keys of their own kind, unless the sweep chooses the kind of one.
Json
MakeStrictness(const KindSection& section)
{
    const bool isOfJobsAlone = section.name == "codec" || section.name == "protocol";
    const bool isInJobs = section.name == "scheme" || isOfJobsAlone;
    auto names = std::string(section.name);
    const auto ofTraining = FindTrainingSections(section);
    for (const auto& [name, reference] : ofTraining.items())
    {
        names += "|" + name;
    }
    const auto pattern =
        fmt::format("{}({})(\\.kind|\\.file)?$", isInJobs ? "(^|\\.)" : "^", names);
    const Json own{{std::string(section.name), MakeReference(NameStrict(section))}};
    Json places = isOfJobsAlone ? Json::object() : own;
    if (isInJobs)
    {
        Json ofJob = own;
        if (section.name == "codec")
        {
            const Json ofEach{{"items", {{"properties", own}}}};
            ofJob["tensors"] = ofEach;
            ofJob["training"] = {{"properties", {{"codecs", ofEach}}}};
        }
        if (!ofTraining.empty())
        {
            ofJob["training"] = {{"properties", ofTraining}};
        }
        places["job"] = {{"properties", ofJob}};
        places["jobs"] = {{"items", {{"properties", ofJob}}}};
    }
    return {{"if",
             {{"properties", {{"sweep", {{"propertyNames", {{"not", {{"pattern", pattern}}}}}}}}}}},
            {"then", {{"properties", std::move(places)}}}};
}

} // namespace

Json
MakeScenarioSchema()
{
    auto definitions = MakeSharedShapes();
    Json strictness = Json::array();
    for (const auto& section : GetKindSections())
    {
        DefineSection(section, definitions);
        if (IsSwept(section))
        {
            strictness.push_back(MakeStrictness(section));
        }
    }
    AddTraces(definitions);
    AddModelNames(definitions);
    return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
            {"title", "gradsync scenario"},
            {"description", "Written by `./ns3 list --schema`: do not edit."},
            {"type", "object"},
            {"properties", MakeProperties(GetScenarioParameters())},
            {"required", Json::array({"topology"})},
            {"additionalProperties", false},
            {"allOf", std::move(strictness)},
            {"$defs", std::move(definitions)}};
}

} // namespace ns3::gradsync
