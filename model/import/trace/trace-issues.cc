// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/trace-issues.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

void
TraceIssues::Add(const std::string& what, const std::string& where, uint64_t count)
{
    const auto found = std::ranges::find(m_issues, what, &Issue::what);
    if (found != m_issues.end())
    {
        found->count += count;
        return;
    }
    m_issues.push_back({what, where, count});
}

void
TraceIssues::Add(const TraceIssues& others, uint64_t ranks)
{
    for (const auto& issue : others.m_issues)
    {
        Add(issue.what, issue.first, issue.count * ranks);
    }
}

std::string
TraceIssues::Describe() const
{
    std::string text;
    for (const auto& issue : m_issues)
    {
        text += fmt::format("{}{} {} (the first: {})",
                            text.empty() ? "" : "; ",
                            issue.count,
                            issue.what,
                            issue.first);
    }
    return text;
}

} // namespace ns3::gradsync
