// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/part-ends.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ns3::gradsync
{

PartEnds::PartEnds(uint32_t own, std::vector<std::vector<bool>> takesPart)
    : m_own(own)
{
    for (auto& parts : takesPart)
    {
        Job job{};
        job.going = static_cast<size_t>(std::ranges::count(parts, true));
        job.hasEnded.resize(parts.size());
        job.takesPart = std::move(parts);
        job.last.at = -1;
        m_jobs.push_back(std::move(job));
    }
}

void
PartEnds::End(uint32_t job, int64_t at, uint32_t order, std::function<void()> goOn)
{
    m_jobs[job].goOn = std::move(goOn);
    m_jobs[job].endedAt = at;
    ++m_waiting;
    constexpr uint32_t WORD_BITS = 32;
    m_new.push_back(
        {.at = at, .order = uint64_t{order} << WORD_BITS | m_count++, .job = job, .reserved = 0});
}

std::vector<PartEnd>
PartEnds::Take()
{
    return std::exchange(m_new, {});
}

void
PartEnds::Hear(uint32_t process, const PartEnd& end)
{
    auto& job = m_jobs[end.job];
    job.hasEnded[process] = true;
    if (std::tie(end.at, end.order) > std::tie(job.last.at, job.last.order))
    {
        job.last = end;
    }
    if (--job.going == 0)
    {
        m_ended.push_back(end.job);
    }
}

std::vector<PartEnds::Iteration>
PartEnds::TakeEnded()
{
    std::vector<Iteration> ended;
    for (const auto index : std::exchange(m_ended, {}))
    {
        auto& job = m_jobs[index];
        m_waiting -= job.goOn ? 1 : 0;
        ended.push_back({job.last.at, job.last.order, index, std::exchange(job.goOn, {})});
        job.going = static_cast<size_t>(std::ranges::count(job.takesPart, true));
        job.hasEnded.assign(job.hasEnded.size(), false);
        job.last.at = -1;
    }
    std::ranges::sort(ended, [](const auto& one, const auto& other) {
        return std::tie(one.end, one.order) < std::tie(other.end, other.order);
    });
    return ended;
}

std::optional<RunBound>
PartEnds::FindBound(std::span<const ProcessNote> notes, int64_t next) const
{
    std::optional<RunBound> least;
    if (m_waiting == 0)
    {
        return least;
    }
    for (const auto& job : m_jobs)
    {
        if (job.goOn)
        {
            const auto bound = FindBound(job, m_own, notes, next);
            least = std::min(bound, least.value_or(bound));
        }
    }
    return least;
}

/// The iteration ends when the last part does: not before any of them may.
RunBound
PartEnds::FindBound(const Job& job, uint32_t own, std::span<const ProcessNote> notes, int64_t next)
{
    RunBound bound{std::max(job.endedAt, job.last.at), false};
    for (size_t process = 0; process < notes.size(); ++process)
    {
        if (process != own && job.takesPart[process] && !job.hasEnded[process])
        {
            const auto& note = notes[process];
            const RunBound event{note.nextEvent, note.isOrdered == 0};
            bound = std::max(bound, {note.clock, false});
            bound = std::max(bound, std::min(event, {next, false}));
        }
    }
    return bound;
}

} // namespace ns3::gradsync
