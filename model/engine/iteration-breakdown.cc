// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/iteration-breakdown.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// [communication] when the last of its ranks came to it; of messages, the sender.
std::vector<Time>
FindMeetings(const Workload& workload, const TaskLog& log)
{
    std::vector<Time> meetings;
    meetings.reserve(workload.GetCommunications().size());
    for (CommunicationId id = 0; id < workload.GetCommunications().size(); ++id)
    {
        const auto sender = workload.GetSender(id);
        auto last = sender ? log.GetBegin(*sender) : Time();
        for (const auto part : workload.GetParts(id))
        {
            last = sender ? last : std::max(last, log.GetBegin(part));
        }
        meetings.push_back(last);
    }
    return meetings;
}

TimeSpans::Span
MakeSpan(const Time& begin, const Time& end)
{
    return {begin.GetTimeStep(), end.GetTimeStep()};
}

/// The communications of one rank on one stream or on all of them.
struct Communicating
{
    std::vector<TimeSpans::Span> working;
    std::vector<TimeSpans::Span> met; //!< of these, from when on all ranks are there
};

Communicating
FindCommunicating(const Workload& workload,
                  const TaskLog& log,
                  const std::vector<Time>& meetings,
                  std::span<const TaskId> program)
{
    Communicating found;
    for (const auto id : program)
    {
        const auto& task = workload.GetTasks()[id];
        if (!task.IsCompute())
        {
            const auto begin = GetWorkBegin(workload, log, id);
            const auto met = std::max(begin, meetings[task.communication]);
            found.working.push_back(MakeSpan(begin, log.GetEnd(id)));
            found.met.push_back(MakeSpan(met, log.GetEnd(id)));
        }
    }
    return found;
}

void
Append(std::vector<TimeSpans::Span>& all, const std::vector<TimeSpans::Span>& some)
{
    all.insert(all.end(), some.begin(), some.end());
}

RankTime
BreakDownRank(const Workload& workload,
              const TaskLog& log,
              const std::vector<Time>& meetings,
              uint32_t rank)
{
    RankTime time;
    const auto computing = FindComputing(workload, log, rank);
    Communicating all;
    for (uint32_t stream = 0; stream < workload.GetStreams().size(); ++stream)
    {
        auto found = FindCommunicating(workload, log, meetings, workload.GetProgram(rank, stream));
        Append(all.working, found.working);
        Append(all.met, found.met);
        const TimeSpans working(std::move(found.working));
        const auto hidden = working.GetOverlap(computing);
        time.streams.push_back({hidden, working.GetTotal() - hidden});
    }
    const TimeSpans working(std::move(all.working));
    const TimeSpans met(std::move(all.met));
    time.computation = computing.GetTotal();
    time.hidden = working.GetOverlap(computing);
    time.exposed = working.GetTotal() - time.hidden;
    time.waiting = time.exposed - (met.GetTotal() - met.GetOverlap(computing));
    return time;
}

} // namespace

Time
GetWorkBegin(const Workload& workload, const TaskLog& log, TaskId part)
{
    const auto sender = workload.GetSender(workload.GetTasks()[part].communication);
    return sender ? std::max(log.GetBegin(part), log.GetBegin(*sender)) : log.GetBegin(part);
}

TimeSpans
FindComputing(const Workload& workload, const TaskLog& log, uint32_t rank)
{
    std::vector<TimeSpans::Span> spans;
    for (uint32_t stream = 0; stream < workload.GetStreams().size(); ++stream)
    {
        for (const auto id : workload.GetProgram(rank, stream))
        {
            if (workload.GetTasks()[id].IsCompute())
            {
                spans.push_back(MakeSpan(log.GetBegin(id), log.GetEnd(id)));
            }
        }
    }
    return TimeSpans(std::move(spans));
}

std::vector<RankTime>
BreakDownIteration(const Workload& workload, const TaskLog& log, const Time& start, const Time& end)
{
    std::vector<RankTime> times;
    times.reserve(workload.GetRankCount());
    const auto meetings = FindMeetings(workload, log);
    for (uint32_t rank = 0; rank < workload.GetRankCount(); ++rank)
    {
        times.push_back(BreakDownRank(workload, log, meetings, rank));
        auto& time = times.back();
        time.bubble = end - start - time.computation - time.exposed;
    }
    return times;
}

} // namespace ns3::gradsync
