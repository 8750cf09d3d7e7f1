// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/iteration-timers.h"

#include "ns3/time-range.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// They compare as they go off: of simultaneous ones in the order in which they were set.
struct Timer
{
    Time over;
    Time begin;
    uint32_t job;

    bool operator<(const Timer& other) const
    {
        return std::tie(over, begin, job) < std::tie(other.over, other.begin, other.job);
    }
};

struct Timers
{
    std::vector<Timer> all;
    std::optional<Timer> lastFailure; //!< of an iteration that did not end
};

/// Adds those of one job.
void
AddJobTimers(const SharedJob& job, uint32_t index, std::span<const Time> ends, Timers& timers)
{
    if (job.timeout.IsZero())
    {
        return;
    }
    auto begin = job.start;
    for (const auto& end : ends)
    {
        timers.all.push_back({AddTimes(begin, job.timeout), begin, index});
        begin = end;
    }
    if (ends.size() < job.iterations)
    {
        const Timer timer{AddTimes(begin, job.timeout), begin, index};
        timers.all.push_back(timer);
        timers.lastFailure = std::max(timer, timers.lastFailure.value_or(timer));
    }
}

} // namespace

IterationTimers
CountTimers(std::span<const SharedJob> jobs,
            std::span<const std::vector<Time>> ends,
            bool isStopped)
{
    Timers timers;
    for (uint32_t index = 0; index < jobs.size(); ++index)
    {
        AddJobTimers(jobs[index], index, ends[index], timers);
    }
    IterationTimers counted;
    for (const auto& timer : timers.all)
    {
        if (!isStopped || !timers.lastFailure || !(*timers.lastFailure < timer))
        {
            ++counted.count;
            counted.last = std::max(counted.last, timer.over);
        }
    }
    return counted;
}

} // namespace ns3::gradsync
