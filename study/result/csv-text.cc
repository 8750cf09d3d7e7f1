// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/csv-text.h"

#include "ns3/shown-text.h"

namespace ns3::gradsync
{

std::string
QuoteCsv(std::string_view text)
{
    if (text.find_first_of(",\"\r\n") == std::string_view::npos)
    {
        return std::string(text);
    }
    std::string quoted = "\"";
    for (const char letter : text)
    {
        quoted += letter;
        if (letter == '"')
        {
            quoted += '"';
        }
    }
    return quoted + '"';
}

std::string
WriteCsvText(std::string_view text)
{
    constexpr std::string_view MARKED = "=+-@'";
    const bool isMarked = !text.empty() && MARKED.find(text.front()) != std::string_view::npos;
    return QuoteCsv((isMarked ? "'" : "") + EscapeText(text));
}

} // namespace ns3::gradsync
