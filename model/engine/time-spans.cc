// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/time-spans.h"

#include <algorithm>

namespace ns3::gradsync
{

TimeSpans::TimeSpans(std::vector<Span> intervals)
{
    std::ranges::sort(intervals);
    for (const auto& interval : intervals)
    {
        if (interval.first >= interval.second)
        {
            continue;
        }
        if (!m_spans.empty() && interval.first <= m_spans.back().second)
        {
            m_spans.back().second = std::max(m_spans.back().second, interval.second);
            continue;
        }
        m_spans.push_back(interval);
    }
    int64_t before = 0;
    m_before.reserve(m_spans.size());
    for (const auto& [begin, end] : m_spans)
    {
        m_before.push_back(before);
        before += end - begin;
    }
}

int64_t
TimeSpans::CountBefore(int64_t moment) const
{
    const auto next = std::ranges::lower_bound(m_spans, moment, {}, &Span::first);
    if (next == m_spans.begin())
    {
        return 0;
    }
    const auto last = next - m_spans.begin() - 1;
    return m_before[last] + std::min(moment, m_spans[last].second) - m_spans[last].first;
}

Time
TimeSpans::GetTotal() const
{
    return TimeStep(m_spans.empty() ? 0 : CountBefore(m_spans.back().second));
}

Time
TimeSpans::GetOverlap(const Span& interval) const
{
    return TimeStep(interval.first < interval.second
                        ? CountBefore(interval.second) - CountBefore(interval.first)
                        : 0);
}

TimeSpans
TimeSpans::Intersect(const TimeSpans& other) const
{
    std::vector<Span> both;
    auto one = m_spans.begin();
    auto two = other.m_spans.begin();
    while (one != m_spans.end() && two != other.m_spans.end())
    {
        both.emplace_back(std::max(one->first, two->first), std::min(one->second, two->second));
        if (one->second < two->second)
        {
            ++one;
        }
        else
        {
            ++two;
        }
    }
    return TimeSpans(std::move(both));
}

} // namespace ns3::gradsync
