// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/trace-workload.h"

#include "ns3/plan.h"
#include "ns3/workload-builder.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// The streams of a rank; behind them those of communicators.
enum TraceStream : uint32_t
{
    DEVICE,
    HOST,
    JOINS,
    MESSAGES,
    FIRST_COMMUNICATOR
};

/// [group] a number that no other group of one of its ranks has: of its communicator's stream.
std::vector<uint32_t>
NumberCommunicators(const MatchedTrace& trace)
{
    std::vector<uint32_t> numbers;
    std::vector<std::vector<bool>> taken(trace.set.programs.size()); // [rank][number]
    std::vector<bool> hasCollectives(trace.groups.size(), false);
    for (const auto& meeting : trace.meetings)
    {
        hasCollectives[meeting.group] =
            hasCollectives[meeting.group] || meeting.collective.has_value();
    }
    for (size_t group = 0; group < trace.groups.size(); ++group)
    {
        uint32_t number = 0;
        const auto isTaken = [&taken, &number](uint32_t rank) {
            return number < taken[rank].size() && taken[rank][number];
        };
        while (hasCollectives[group] && std::ranges::any_of(trace.groups[group], isTaken))
        {
            ++number;
        }
        numbers.push_back(number);
        for (const auto rank : trace.groups[group])
        {
            if (hasCollectives[group])
            {
                taken[rank].resize(std::max<size_t>(taken[rank].size(), number + 1), false);
                taken[rank][number] = true;
            }
        }
    }
    return numbers;
}

std::vector<StreamSpec>
MakeTraceStreams(const std::vector<uint32_t>& communicators)
{
    std::vector<StreamSpec> streams{{"compute", StreamPolicy::Fifo},
                                    {"host", StreamPolicy::Fifo},
                                    {"join", StreamPolicy::Unordered},
                                    {"message", StreamPolicy::Unordered}};
    const auto last = communicators.empty() ? 0 : *std::ranges::max_element(communicators);
    for (uint32_t number = 0; number <= last; ++number)
    {
        streams.push_back({fmt::format("collective{}", number), StreamPolicy::Fifo});
    }
    return streams;
}

/// Adds what a trace has to a builder.
class TraceWriter
{
  public:
    TraceWriter(const TraceJobSpec& spec, PlanShelf& shelf)
        : m_spec(spec),
          m_trace(*spec.trace),
          m_shelf(shelf),
          m_communicators(NumberCommunicators(m_trace)),
          m_builder(static_cast<uint32_t>(m_trace.set.programs.size()),
                    MakeTraceStreams(m_communicators))
    {
    }

    Workload Write()
    {
        AddMeetings();
        for (uint32_t rank = 0; rank < m_trace.set.programs.size(); ++rank)
        {
            AddRank(rank);
        }
        return m_builder.Build();
    }

  private:
    /// The label of a meeting is that of its first member.
    const std::string& GetLabel(const TraceMeeting& meeting) const
    {
        const auto rank = m_trace.groups[meeting.group].front();
        return m_trace.set.programs[rank]->labels[meeting.label];
    }

    void AddMeetings()
    {
        for (const auto& meeting : m_trace.meetings)
        {
            const auto& ranks = m_trace.groups[meeting.group];
            const auto plan = meeting.collective ? GetPlan(*meeting.collective, ranks, meeting)
                                                 : m_shelf.GetMessage(ranks, meeting.bytes);
            m_builder.AddCommunication(m_builder.AddGroup(ranks), plan, GetLabel(meeting));
        }
    }

    std::shared_ptr<const Plan> GetPlan(TraceCollective collective,
                                        const std::vector<uint32_t>& ranks,
                                        const TraceMeeting& meeting)
    {
        const auto& choice = m_spec.schemes[static_cast<size_t>(collective)];
        if (!choice.scheme->build)
        {
            throw WorkloadError(fmt::format("the scheme {} is none for the collectives of a trace",
                                            choice.scheme->name));
        }
        auto plan = m_shelf.GetCollective(choice, ranks, std::max<uint64_t>(meeting.bytes, 1));
        if (plan->GetCollective().GetName() != GetTraceCollectiveName(collective))
        {
            throw WorkloadError(fmt::format("the scheme {} makes {}, expected one of {}",
                                            choice.scheme->name,
                                            plan->GetCollective().GetTitle(),
                                            GetTraceCollectiveName(collective)));
        }
        return plan;
    }

    uint64_t Scale(uint64_t picoseconds) const
    {
        const auto scaled = std::round(static_cast<double>(picoseconds) * m_spec.computeScale);
        return m_spec.computeScale == 1.0 ? picoseconds : static_cast<uint64_t>(scaled);
    }

    TaskId AddNode(uint32_t rank, const TraceNode& node, uint32_t meeting)
    {
        if (meeting != MatchedTrace::NO_MEETING)
        {
            const auto& of = m_trace.meetings[meeting];
            const auto stream =
                of.collective ? FIRST_COMMUNICATOR + m_communicators[of.group] : uint32_t{MESSAGES};
            return m_builder.AddPart(rank, stream, meeting);
        }
        const auto& label = m_trace.set.programs[rank]->labels[node.label];
        const bool computes =
            node.action == TraceAction::Compute || node.action == TraceAction::Host;
        const auto picoseconds = computes ? Scale(node.picoseconds) : 0;
        // What takes no time waits for no processor.
        const auto stream = picoseconds == 0                      ? JOINS
                            : node.action == TraceAction::Compute ? DEVICE
                                                                  : HOST;
        return m_builder.AddCompute(rank, stream, picoseconds, label);
    }

    void AddRank(uint32_t rank)
    {
        const auto& program = *m_trace.set.programs[rank];
        std::vector<TaskId> tasks;
        tasks.reserve(program.nodes.size());
        for (size_t node = 0; node < program.nodes.size(); ++node)
        {
            tasks.push_back(AddNode(rank, program.nodes[node], m_trace.meetingOf[rank][node]));
        }
        for (const auto& [earlier, later] : program.edges)
        {
            m_builder.AddEdge(tasks[earlier], tasks[later]);
        }
    }

    const TraceJobSpec& m_spec;
    const MatchedTrace& m_trace;
    PlanShelf& m_shelf;
    std::vector<uint32_t> m_communicators; //!< [group]
    WorkloadBuilder m_builder;
};

} // namespace

Workload
MakeTraceWorkload(const TraceJobSpec& spec, PlanShelf& shelf)
{
    return TraceWriter(spec, shelf).Write();
}

} // namespace ns3::gradsync
