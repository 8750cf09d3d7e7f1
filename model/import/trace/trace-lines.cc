// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/trace-lines.h"

#include "ns3/import-error.h"
#include "ns3/nearest-name.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

TraceLines::TraceLines(std::string file,
                       std::string_view text,
                       std::string separators,
                       bool keepsEmpty)
    : m_file(std::move(file)),
      m_rest(text),
      m_separators(std::move(separators)),
      m_keepsEmpty(keepsEmpty)
{
}

bool
TraceLines::Next()
{
    while (!m_rest.empty())
    {
        const auto end = m_rest.find('\n');
        auto line = m_rest.substr(0, end);
        m_rest.remove_prefix(end == std::string_view::npos ? m_rest.size() : end + 1);
        ++m_line;
        if (line.ends_with('\r'))
        {
            line.remove_suffix(1);
        }
        if (line.find_first_not_of(" \t") != std::string_view::npos)
        {
            Cut(line);
            return true;
        }
    }
    m_words.clear();
    return false;
}

void
TraceLines::Cut(std::string_view line)
{
    m_words.clear();
    for (size_t begin = 0; begin <= line.size();)
    {
        const auto end = std::min(line.find_first_of(m_separators, begin), line.size());
        if (m_keepsEmpty || end > begin)
        {
            m_words.push_back(line.substr(begin, end - begin));
        }
        begin = end + 1;
    }
}

void
TraceLines::Fail(const std::string& text) const
{
    throw ImportError(fmt::format("{}:{}: {}", m_file, m_line, text));
}

uint64_t
TraceLines::GetNumber(std::string_view word, std::string_view what, uint64_t maximum) const
{
    uint64_t number = 0;
    const auto* end = word.data() + word.size();
    const auto result = std::from_chars(word.data(), end, number);
    if (word.empty() || result.ptr != end || result.ec != std::errc() || number > maximum)
    {
        Fail(fmt::format("found {}, expected {}: a whole number up to {}",
                         QuoteName(word),
                         what,
                         maximum));
    }
    return number;
}

} // namespace ns3::gradsync
