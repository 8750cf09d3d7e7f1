// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scheme-reader.h"

#include "ns3/document-path.h"
#include "ns3/fallback-spec.h"
#include "ns3/hash.h"
#include "ns3/import-error.h"
#include "ns3/import-scheme.h"
#include "ns3/nccl-schemes.h"
#include "ns3/parameter-reader.h"
#include "ns3/scenario-error.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Its plan is that of another scheme: beside a name it has what to do without switches.
const Scheme&
GetAutoScheme()
{
    static const Scheme scheme{
        "auto",
        "the one of those below, with its parameters, that is estimated to take the least time",
        "doc/auto.rst",
        {MakeFallbackSpec()},
        [](const ParameterSet&) { return 0U; },
        {},
        {},
        PlanOrigin::Estimate};
    return scheme;
}

const Scheme&
GetImportScheme()
{
    static const Scheme scheme = MakeImportScheme();
    return scheme;
}

/// A scheme of the registry, or one of those that only scenarios know.
const Scheme*
FindAnyScheme(std::string_view name)
{
    for (const auto* scheme : {&GetAutoScheme(), &GetImportScheme()})
    {
        if (scheme->name == name)
        {
            return scheme;
        }
    }
    const auto named = GetNcclSchemes();
    const auto found = std::ranges::find(named, name, &Scheme::name);
    return found == named.end() ? FindScheme(name) : &*found;
}

/// An algorithm that NCCL has and nobody here is refused with what it would need.
void
RefuseMissing(const JsonValue& value)
{
    const auto kind = value.IsObject() ? value.Find("kind") : std::nullopt;
    if (!kind || !kind->Get().is_string())
    {
        return;
    }
    const auto name = kind->Get().get<std::string>();
    if (const auto problem = ExplainMissingNccl(name))
    {
        kind->FailWith(fmt::format("{} {}", name, *problem));
    }
}

std::shared_ptr<const std::string>
ReadImport(const std::string& file, NamedFiles& files)
{
    try
    {
        return files.Read(file);
    }
    catch (const InputFileError& error)
    {
        throw ImportError(fmt::format("{}: the file {}", file, error.what()));
    }
}

void
StampImport(Json& scheme,
            const std::string& scenarioFile,
            const std::string& path,
            NamedFiles& files)
{
    if (!scheme.is_object() || !scheme.contains("file") || !scheme.contains("kind") ||
        scheme["kind"] != GetImportScheme().name)
    {
        return;
    }
    const auto file = JsonValue(scheme["file"], scenarioFile, path + ".file").AsPath();
    try
    {
        const auto text = ReadImport(file, files);
        const auto digest = fmt::format("{:016x}", Hash64(*text));
        if (scheme.contains("digest") && scheme["digest"] != digest)
        {
            JsonValue(scheme["digest"], scenarioFile, path + ".digest")
                .Fail(fmt::format("\"{}\", which {} hashes to", digest, file));
        }
        scheme["digest"] = digest;
        if (!scheme.contains("servers"))
        {
            scheme["servers"] = CountImportServers(file, *text);
        }
    }
    catch (const ImportError& error)
    {
        throw ScenarioError(fmt::format("{}: {}.file", scenarioFile, path), error.what());
    }
}

} // namespace

void
StampImports(Json& document, const std::string& scenarioFile, NamedFiles& files)
{
    for (const auto* path : {"scheme", "job.scheme"})
    {
        if (Json* scheme = FindAtPath(document, SplitPath(path)))
        {
            StampImport(*scheme, scenarioFile, path, files);
        }
    }
    Json* jobs = FindAtPath(document, {"jobs"});
    for (size_t i = 0; jobs != nullptr && jobs->is_array() && i < jobs->size(); ++i)
    {
        const auto path = fmt::format("jobs.{}.scheme", i);
        if (Json* scheme = FindAtPath(document, SplitPath(path)))
        {
            StampImport(*scheme, scenarioFile, path, files);
        }
    }
}

std::span<const KindSpec>
GetSchemeKinds()
{
    static const std::vector<KindSpec> kinds = [] {
        std::vector<KindSpec> list;
        const auto add = [&list](const Scheme& scheme) {
            list.push_back({scheme.name, scheme.summary, scheme.parameters, scheme.source});
        };
        add(GetAutoScheme());
        add(GetImportScheme());
        std::ranges::for_each(GetNcclSchemes(), add);
        std::ranges::for_each(GetSchemes(), add);
        return list;
    }();
    return kinds;
}

void
ReadSchemeFiles(SchemeChoice& choice, NamedFiles& files)
{
    for (const auto& spec : choice.scheme->parameters)
    {
        const auto* file = std::get_if<std::string>(&choice.parameters.GetAll().at(spec.name));
        if (spec.isFile && file != nullptr && !file->empty())
        {
            choice.texts[spec.name] = ReadImport(*file, files);
        }
    }
}

SchemeChoice
ReadScheme(const JsonValue& value)
{
    RefuseMissing(value);
    const auto& kind = ReadKind(value, GetSchemeKinds(), "ring");
    return {FindAnyScheme(kind.name), ReadParameters(value, kind.parameters, {"kind"})};
}

} // namespace ns3::gradsync
