// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scheme-reader.h"

#include "ns3/document-path.h"
#include "ns3/hash.h"
#include "ns3/import-error.h"
#include "ns3/import-scheme.h"
#include "ns3/scenario-error.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <type_traits>

namespace ns3::gradsync
{

namespace
{

/// The bound of an integer parameter, infinite bounds cut to what int64_t holds.
int64_t
ToBound(double bound)
{
    constexpr double LIMIT = 9.2e18;
    return bound >= LIMIT    ? std::numeric_limits<int64_t>::max()
           : bound <= -LIMIT ? std::numeric_limits<int64_t>::min()
                             : static_cast<int64_t>(bound);
}

/// JSON numbers are finite; so are parameters.
double
ToFinite(double bound)
{
    return std::isfinite(bound) ? bound : std::copysign(std::numeric_limits<double>::max(), bound);
}

ParameterValue
ReadParameter(const JsonValue& value, const ParameterSpec& spec)
{
    return std::visit(
        [&value, &spec](const auto& standard) -> ParameterValue {
            using Type = std::decay_t<decltype(standard)>;
            if constexpr (std::is_same_v<Type, bool>)
            {
                return value.AsBool();
            }
            else if constexpr (std::is_same_v<Type, int64_t>)
            {
                return value.AsInteger(ToBound(spec.minimum), ToBound(spec.maximum));
            }
            else if constexpr (std::is_same_v<Type, double>)
            {
                return value.AsNumber(ToFinite(spec.minimum), ToFinite(spec.maximum));
            }
            else if constexpr (std::is_same_v<Type, Time>)
            {
                return value.AsTime();
            }
            else if constexpr (std::is_same_v<Type, std::string>)
            {
                if (spec.isFile)
                {
                    return value.AsPath();
                }
                return spec.allowed.empty() ? value.AsString(spec.help)
                                            : value.AsChoice(spec.allowed);
            }
            else
            {
                std::vector<double> list;
                for (const auto& item : value.GetItems())
                {
                    list.push_back(item.AsNumber(ToFinite(spec.minimum), ToFinite(spec.maximum)));
                }
                return list;
            }
        },
        spec.defaultValue);
}

/// Has a name, and nothing that a scheme of the registry has: its plan is that of another.
const Scheme&
GetAutoScheme()
{
    static const Scheme scheme{
        "auto",
        "the scheme and parameters with the least estimated time on this network",
        "",
        {},
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
    return FindScheme(name);
}

void
StampImport(Json& scheme, const std::string& scenarioFile, const std::string& path)
{
    if (!scheme.is_object() || !scheme.contains("file") || !scheme.contains("kind") ||
        scheme["kind"] != GetImportScheme().name)
    {
        return;
    }
    const auto file = JsonValue(scheme["file"], scenarioFile, path + ".file").AsPath();
    try
    {
        const auto text = ReadImportFile(file);
        const auto digest = fmt::format("{:016x}", Hash64(text));
        if (scheme.contains("digest") && scheme["digest"] != digest)
        {
            JsonValue(scheme["digest"], scenarioFile, path + ".digest")
                .Fail(fmt::format("\"{}\", which {} hashes to", digest, file));
        }
        scheme["digest"] = digest;
        if (!scheme.contains("servers"))
        {
            scheme["servers"] = CountImportServers(file, text);
        }
    }
    catch (const ImportError& error)
    {
        throw ScenarioError(fmt::format("{}: {}.file", scenarioFile, path), error.what());
    }
}

} // namespace

void
StampImports(Json& document, const std::string& scenarioFile)
{
    for (const auto* path : {"scheme", "job.scheme"})
    {
        if (Json* scheme = FindAtPath(document, SplitPath(path)))
        {
            StampImport(*scheme, scenarioFile, path);
        }
    }
    Json* jobs = FindAtPath(document, {"jobs"});
    for (size_t i = 0; jobs != nullptr && jobs->is_array() && i < jobs->size(); ++i)
    {
        const auto path = fmt::format("jobs.{}.scheme", i);
        if (Json* scheme = FindAtPath(document, SplitPath(path)))
        {
            StampImport(*scheme, scenarioFile, path);
        }
    }
}

std::vector<std::string>
GetSchemeNames()
{
    std::vector<std::string> names{GetAutoScheme().name, GetImportScheme().name};
    for (const auto& scheme : GetSchemes())
    {
        names.push_back(scheme.name);
    }
    return names;
}

std::vector<std::string>
GetSchemeKeys(std::string_view name)
{
    std::vector<std::string> keys;
    if (const Scheme* scheme = FindAnyScheme(name))
    {
        keys.emplace_back("kind");
        for (const auto& spec : scheme->parameters)
        {
            keys.push_back(spec.name);
        }
    }
    return keys;
}

SchemeChoice
ReadScheme(const JsonValue& value)
{
    const std::string kind = value.Require("kind", "ring").AsChoice(GetSchemeNames());
    SchemeChoice choice{FindAnyScheme(kind), {}};
    choice.parameters = MakeDefaultParameters(*choice.scheme);
    value.CheckKeys(GetSchemeKeys(kind));
    for (const auto& spec : choice.scheme->parameters)
    {
        if (const auto member = value.Find(spec.name))
        {
            choice.parameters.Set(spec.name, ReadParameter(*member, spec));
        }
    }
    return choice;
}

std::string
ShowParameter(const ParameterValue& value)
{
    return std::visit(
        [](const auto& content) -> std::string {
            using Type = std::decay_t<decltype(content)>;
            if constexpr (std::is_same_v<Type, std::vector<double>>)
            {
                return fmt::format("[{}]", fmt::join(content, ", "));
            }
            else if constexpr (std::is_same_v<Type, std::string>)
            {
                return fmt::format("\"{}\"", content);
            }
            else if constexpr (std::is_same_v<Type, Time>)
            {
                return fmt::format("\"{}s\"", content.ToDouble(Time::S));
            }
            else
            {
                return fmt::format("{}", content);
            }
        },
        value);
}

} // namespace ns3::gradsync
