// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/parameter-listing.h"

#include "ns3/parameter-text.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>
#include <string>
#include <type_traits>
#include <variant>

namespace ns3::gradsync
{

namespace
{

void
ListWithPrefix(const std::vector<ParameterSpec>& specs,
               const std::string& prefix,
               std::ostream& out)
{
    for (const auto& spec : specs)
    {
        if (!spec.renamedTo.empty())
        {
            continue;
        }
        const auto path = prefix + spec.name;
        if (spec.members.empty())
        {
            const auto value =
                spec.presence == Presence::Default ? " = " + ShowParameter(spec.defaultValue) : "";
            out << fmt::format(
                "      {}{}  {}{}{}\n",
                path,
                value,
                spec.presence == Presence::Required ? "(must be given) " : "",
                spec.help,
                spec.allowed.empty() ? "" : fmt::format(" ({})", fmt::join(spec.allowed, ", ")));
        }
        const auto inner = path + (spec.isList ? ".N." : ".");
        ListWithPrefix(spec.members, inner, out);
        for (const auto& form : spec.forms)
        {
            ListWithPrefix(form.members, inner, out);
        }
    }
}

std::string
NameType(const ParameterSpec& spec)
{
    return std::visit(
        [&spec](const auto& standard) -> std::string {
            using Type = std::decay_t<decltype(standard)>;
            return std::is_same_v<Type, bool>                         ? "boolean"
                   : std::is_same_v<Type, int64_t>                    ? "integer"
                   : std::is_same_v<Type, double>                     ? "number"
                   : std::is_same_v<Type, std::string>                ? "string"
                   : std::is_same_v<Type, std::vector<double>>        ? "numbers"
                   : std::is_same_v<Type, Time>                       ? "time"
                   : std::is_same_v<Type, DataRate>                   ? "rate"
                   : std::is_same_v<Type, ByteCount>                  ? "size"
                   : !std::is_same_v<Type, std::vector<ParameterSet>> ? "shape"
                   : spec.isList                                      ? "objects"
                                                                      : "object";
        },
        spec.defaultValue);
}

/// What JSON has for it; texts for what has a unit.
Json
ToParameterJson(const ParameterValue& value)
{
    return std::visit(
        [&value](const auto& content) -> Json {
            using Type = std::decay_t<decltype(content)>;
            if constexpr (std::is_arithmetic_v<Type> || std::is_same_v<Type, std::string> ||
                          std::is_same_v<Type, std::vector<double>>)
            {
                return content;
            }
            else
            {
                return ShowPlainly(value);
            }
        },
        value);
}

Json
DescribeParameter(const ParameterSpec& spec)
{
    Json entry{{"name", spec.name}, {"type", NameType(spec)}, {"help", spec.help}};
    if (spec.presence == Presence::Default)
    {
        entry["default"] = ToParameterJson(spec.defaultValue);
    }
    entry["required"] = spec.presence == Presence::Required;
    if (!spec.allowed.empty())
    {
        entry["allowed"] = spec.allowed;
    }
    if (std::isfinite(spec.minimum))
    {
        entry["minimum"] = spec.minimum;
    }
    if (std::isfinite(spec.maximum))
    {
        entry["maximum"] = spec.maximum;
    }
    if (!spec.members.empty())
    {
        entry["members"] = DescribeParameters(spec.members);
    }
    if (!spec.forms.empty())
    {
        entry["forms"] = DescribeParameters(spec.forms);
    }
    if (!spec.renamedTo.empty())
    {
        entry["renamedTo"] = spec.renamedTo;
    }
    return entry;
}

} // namespace

void
ListParameters(const std::vector<ParameterSpec>& specs, std::ostream& out)
{
    ListWithPrefix(specs, "", out);
}

Json
DescribeParameters(const std::vector<ParameterSpec>& specs)
{
    Json list = Json::array();
    for (const auto& spec : specs)
    {
        list.push_back(DescribeParameter(spec));
    }
    return list;
}

} // namespace ns3::gradsync
