// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/run-numbers.h"

#include "ns3/scenario-error.h"

#include <charconv>
#include <fmt/format.h>
#include <set>
#include <sstream>
#include <string_view>

namespace ns3::gradsync
{

namespace
{

bool
ParseNumber(std::string_view text, uint32_t& number)
{
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    return parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
}

} // namespace

std::vector<uint32_t>
ParseRunNumbers(const std::string& text, uint32_t runCount)
{
    std::set<uint32_t> runs;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');)
    {
        const auto dash = part.find('-');
        uint32_t first = 0;
        uint32_t last = 0;
        const bool isRange = dash != std::string::npos;
        if (!ParseNumber(std::string_view(part).substr(0, dash), first) ||
            !ParseNumber(std::string_view(part).substr(isRange ? dash + 1 : 0), last) ||
            first > last || last >= runCount)
        {
            throw ScenarioError(
                "--points",
                fmt::format("found \"{}\", expected runs from 0 to {}, such as 0-24,30",
                            part,
                            runCount - 1));
        }
        for (uint32_t run = first; run <= last; ++run)
        {
            runs.insert(run);
        }
    }
    return {runs.begin(), runs.end()};
}

} // namespace ns3::gradsync
