// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/part-ends.h"

#include "ns3/time-range.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ns3::gradsync
{

PartEnds::PartEnds(uint32_t own,
                   std::span<const SharedJob> jobs,
                   std::span<const uint32_t> partOf,
                   size_t processes,
                   bool tellsAll)
    : m_own(own)
{
    for (const auto& shared : jobs)
    {
        Job job{};
        job.takesPart.assign(processes, tellsAll);
        for (const auto endpoint : shared.endpoints)
        {
            job.takesPart[partOf[endpoint]] = true;
        }
        job.going = static_cast<size_t>(std::ranges::count(job.takesPart, true));
        job.hasEnded.resize(processes);
        job.last.at = -1;
        job.iterations = shared.iterations;
        job.timeout = shared.timeout.GetTimeStep();
        job.deadline = FindDeadline(job, shared.start.GetTimeStep());
        m_going += job.iterations > 0 ? 1 : 0;
        m_jobs.push_back(std::move(job));
    }
}

/// Of the iteration that begins then.
int64_t
PartEnds::FindDeadline(const Job& job, int64_t begin)
{
    const auto deadline = AddTimeSteps(begin, job.timeout);
    const bool isNever = job.timeout == 0 || job.iterations == 0 || deadline > LAST_TIME_STEP;
    return isNever ? INT64_MAX : deadline;
}

void
PartEnds::Begin(uint32_t job, std::function<void()> onTimeout)
{
    m_jobs[job].onTimeout = std::move(onTimeout);
}

void
PartEnds::End(uint32_t job, int64_t at, uint32_t order, std::function<void()> goOn)
{
    m_jobs[job].goOn = std::move(goOn);
    m_jobs[job].endedAt = at;
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
        ended.push_back({job.last.at, job.last.order, index, std::exchange(job.goOn, {})});
        m_going -= --job.iterations == 0 ? 1 : 0;
        job.onTimeout = {};
        job.deadline = FindDeadline(job, job.last.at);
        job.going = static_cast<size_t>(std::ranges::count(job.takesPart, true));
        job.hasEnded.assign(job.hasEnded.size(), false);
        job.last.at = -1;
    }
    std::ranges::sort(ended, [](const auto& one, const auto& other) {
        return std::tie(one.end, one.order) < std::tie(other.end, other.order);
    });
    return ended;
}

std::vector<PartEnds::Iteration>
PartEnds::TakeTimedOut(std::span<const ProcessNote> notes, int64_t begin)
{
    std::vector<Iteration> timedOut;
    for (uint32_t index = 0; index < m_jobs.size(); ++index)
    {
        auto& job = m_jobs[index];
        const auto deadline = job.deadline;
        // What is due then ends no part, but for that with an EventOrder.
        const auto isPast = [deadline](const auto& note) {
            const bool hasEvent =
                note.nextEvent < deadline || (note.nextEvent == deadline && note.isOrdered != 0);
            return !hasEvent && note.nextTime >= deadline && note.arrival > deadline;
        };
        if (deadline == INT64_MAX || begin <= deadline || !std::ranges::all_of(notes, isPast))
        {
            continue;
        }
        job.goOn = {};
        job.deadline = INT64_MAX;
        timedOut.push_back({deadline, 0, index, std::exchange(job.onTimeout, {}), true});
        --m_going;
    }
    if (m_going == 0 && !timedOut.empty())
    {
        m_lastFailure = std::ranges::max(timedOut, {}, &Iteration::end).end;
    }
    return timedOut;
}

std::optional<RunBound>
PartEnds::FindBound(std::span<const ProcessNote> notes, int64_t next) const
{
    std::optional<RunBound> least;
    for (const auto& job : m_jobs)
    {
        if (job.deadline != INT64_MAX)
        {
            const RunBound bound{job.deadline, false};
            least = std::min(bound, least.value_or(bound));
        }
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
