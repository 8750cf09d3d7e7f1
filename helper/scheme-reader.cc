// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scheme-reader.h"

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
        nullptr};
    return scheme;
}

const Scheme*
FindSchemeOrAuto(std::string_view name)
{
    return name == GetAutoScheme().name ? &GetAutoScheme() : FindScheme(name);
}

} // namespace

bool
IsAuto(const SchemeChoice& choice)
{
    return choice.scheme == &GetAutoScheme();
}

std::vector<std::string>
GetSchemeNames()
{
    std::vector<std::string> names{GetAutoScheme().name};
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
    if (const Scheme* scheme = FindSchemeOrAuto(name))
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
    SchemeChoice choice{FindSchemeOrAuto(kind), {}};
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
