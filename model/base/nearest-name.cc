// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/nearest-name.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

/// Names longer than this are no typing errors of ours: keeps the quadratic distance bounded.
constexpr size_t MAX_LENGTH = 200;

char
Lower(char letter)
{
    return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

size_t
Distance(std::string_view a, std::string_view b)
{
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j)
    {
        row[j] = j;
    }
    for (size_t i = 1; i <= a.size(); ++i)
    {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j)
        {
            const size_t change = diagonal + (Lower(a[i - 1]) == Lower(b[j - 1]) ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

} // namespace

std::string
NearestName(std::string_view name, const std::vector<std::string>& candidates)
{
    if (name.empty() || name.size() > MAX_LENGTH)
    {
        return {};
    }
    size_t best = std::max<size_t>(2, name.size() / 3) + 1;
    std::string nearest;
    for (const auto& candidate : candidates)
    {
        const size_t distance = Distance(name, candidate);
        // A name of which nothing is left is not near, however short it is.
        if (distance < best && distance < std::max(name.size(), candidate.size()))
        {
            best = distance;
            nearest = candidate;
        }
    }
    return nearest;
}

std::string
SuggestName(std::string_view name, const std::vector<std::string>& candidates)
{
    const std::string nearest = NearestName(name, candidates);
    return nearest.empty() ? nearest : "; did you mean \"" + nearest + "\"?";
}

std::string
QuoteName(std::string_view name)
{
    constexpr size_t LONGEST = 60;
    std::string text;
    for (const char letter : name.substr(0, LONGEST))
    {
        const bool isPrintable = letter >= ' ' && letter <= '~';
        text += isPrintable ? std::string(1, letter)
                            : fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
    }
    return fmt::format("\"{}{}\"", text, name.size() > LONGEST ? "..." : "");
}

std::string
JoinNames(const std::vector<std::string>& names)
{
    std::string joined;
    for (const auto& name : names)
    {
        joined += (joined.empty() ? "" : ", ") + name;
    }
    return joined.empty() ? "none" : joined;
}

} // namespace ns3::gradsync
