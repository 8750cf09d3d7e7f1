// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/old-command-line.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace ns3::gradsync
{

namespace
{

struct OldOption
{
    const char* name;
    const char* verb;
    bool hasValue;
};

constexpr std::array<OldOption, 9> OLD_OPTIONS{{
    {"--scenario", "run", true},
    {"--validate", "validate", true},
    {"--describe", "describe", true},
    {"--resolve", "resolve", true},
    {"--plan", "plan", true},
    {"--compare-auto", "auto", true},
    {"--codec", "codec", true},
    {"--list", "list", false},
    {"--sum-errors", "sum-errors", false},
}};

} // namespace

RenamedCommand
RenameOldCommand(const std::vector<std::string>& arguments)
{
    RenamedCommand renamed{"", "", arguments};
    if (arguments.empty() || !arguments.front().starts_with('-'))
    {
        return renamed;
    }
    for (size_t i = 0; i < arguments.size(); ++i)
    {
        const auto equals = arguments[i].find('=');
        const auto name = arguments[i].substr(0, equals);
        const auto option = std::ranges::find(OLD_OPTIONS, name, &OldOption::name);
        if (option == OLD_OPTIONS.end())
        {
            continue;
        }
        const auto place = renamed.arguments.begin() + static_cast<std::ptrdiff_t>(i);
        std::vector<std::string> now{option->verb};
        auto end = place + 1;
        if (option->hasValue && equals != std::string::npos)
        {
            now.push_back(arguments[i].substr(equals + 1));
        }
        else if (option->hasValue && end != renamed.arguments.end())
        {
            now.push_back(*end++);
        }
        renamed.old = name;
        renamed.now = option->verb;
        renamed.arguments.erase(place, end);
        renamed.arguments.insert(renamed.arguments.begin(), now.begin(), now.end());
        break;
    }
    return renamed;
}

} // namespace ns3::gradsync
