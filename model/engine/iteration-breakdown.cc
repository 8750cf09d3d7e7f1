// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/iteration-breakdown.h"

#include <algorithm>
#include <optional>
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

/// Moments of communication, and those of them at which the rank computes.
struct BesideComputing
{
    BesideComputing(std::vector<TimeSpans::Span> spans, const TimeSpans& computing)
        : all(std::move(spans)),
          hidden(all.Intersect(computing))
    {
    }

    StreamTime Measure(const TimeSpans::Span& span) const
    {
        const auto hiddenTime = hidden.GetOverlap(span);
        return {hiddenTime, all.GetOverlap(span) - hiddenTime};
    }

    TimeSpans all;
    TimeSpans hidden;
};

/// What one rank does over time.
class RankMoments
{
  public:
    RankMoments(const Workload& workload,
                const TaskLog& log,
                const std::vector<Time>& meetings,
                uint32_t rank)
        : m_computing(FindComputing(workload, log, rank))
    {
        Communicating all;
        for (uint32_t stream = 0; stream < workload.GetStreams().size(); ++stream)
        {
            auto found =
                FindCommunicating(workload, log, meetings, workload.GetProgram(rank, stream));
            Append(all.working, found.working);
            Append(all.met, found.met);
            m_streams.emplace_back(std::move(found.working), m_computing);
        }
        m_working.emplace(std::move(all.working), m_computing);
        m_met.emplace(std::move(all.met), m_computing);
    }

    RankTime Measure(const IterationSpan& iteration) const
    {
        const auto span = MakeSpan(iteration.start, iteration.end);
        const auto working = m_working->Measure(span);
        RankTime time;
        time.computation = m_computing.GetOverlap(span);
        time.hidden = working.hidden;
        time.exposed = working.exposed;
        time.waiting = working.exposed - m_met->Measure(span).exposed;
        time.bubble = iteration.end - iteration.start - time.computation - time.exposed;
        for (const auto& stream : m_streams)
        {
            time.streams.push_back(stream.Measure(span));
        }
        return time;
    }

  private:
    TimeSpans m_computing;
    std::vector<BesideComputing> m_streams;
    std::optional<BesideComputing> m_working; //!< on any stream
    std::optional<BesideComputing> m_met;     //!< of this: all ranks are there
};

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

std::vector<IterationSpan>
SplitIterations(const Workload& workload, const TaskLog& log, const IterationSpan& run)
{
    std::vector<Time> ends(workload.GetIterationCount(), run.start);
    for (TaskId id = 0; id < workload.GetTasks().size(); ++id)
    {
        auto& end = ends[workload.GetTasks()[id].iteration];
        end = std::max(end, log.GetEnd(id));
    }
    ends.back() = run.end;
    std::vector<IterationSpan> spans;
    auto since = run.start;
    for (const auto& end : ends)
    {
        spans.push_back({since, std::max(since, end)});
        since = spans.back().end;
    }
    return spans;
}

std::vector<std::vector<RankTime>>
BreakDownIterations(const Workload& workload,
                    const TaskLog& log,
                    std::span<const IterationSpan> spans)
{
    std::vector<std::vector<RankTime>> times(spans.size());
    const auto meetings = FindMeetings(workload, log);
    for (uint32_t rank = 0; rank < workload.GetRankCount(); ++rank)
    {
        const RankMoments moments(workload, log, meetings, rank);
        for (size_t i = 0; i < spans.size(); ++i)
        {
            times[i].push_back(moments.Measure(spans[i]));
        }
    }
    return times;
}

} // namespace ns3::gradsync
