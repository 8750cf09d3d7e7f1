// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/parameter-text.h"

#include "ns3/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <type_traits>

namespace ns3::gradsync
{

namespace
{

std::string
ShowObject(const ParameterSet& object)
{
    std::string text;
    for (const auto& [name, value] : object.GetAll())
    {
        text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", name, ShowParameter(value));
    }
    return "{" + text + "}";
}

/// As JSON has it where it is no string; the text of the string otherwise.
std::string
Show(const ParameterValue& value)
{
    return std::visit(
        [](const auto& content) -> std::string {
            using Type = std::decay_t<decltype(content)>;
            if constexpr (std::is_same_v<Type, std::vector<double>>)
            {
                return fmt::format("[{}]", fmt::join(content, ", "));
            }
            else if constexpr (std::is_same_v<Type, Time>)
            {
                return content.IsZero() ? "0s" : FormatTime(content);
            }
            else if constexpr (std::is_same_v<Type, DataRate>)
            {
                return FormatRate(content);
            }
            else if constexpr (std::is_same_v<Type, ByteCount>)
            {
                return fmt::format("{}B", content.bytes);
            }
            else if constexpr (std::is_same_v<Type, std::vector<ParameterSet>>)
            {
                return content.size() == 1 ? ShowObject(content[0]) : "{...}";
            }
            else if constexpr (std::is_same_v<Type, SharedShape>)
            {
                return "[...]";
            }
            else
            {
                return fmt::format("{}", content);
            }
        },
        value);
}

bool
IsText(const ParameterValue& value)
{
    return std::holds_alternative<std::string>(value) || std::holds_alternative<Time>(value) ||
           std::holds_alternative<DataRate>(value) || std::holds_alternative<ByteCount>(value);
}

} // namespace

std::string
ShowParameter(const ParameterValue& value)
{
    return IsText(value) ? "\"" + Show(value) + "\"" : Show(value);
}

std::string
ShowPlainly(const ParameterValue& value)
{
    return Show(value);
}

} // namespace ns3::gradsync
