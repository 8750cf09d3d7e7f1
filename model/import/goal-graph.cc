// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/goal-graph.h"

#include "ns3/import-error.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace ns3::gradsync
{

namespace
{

/// Source, destination, tag.
using MessageKey = std::tuple<uint32_t, uint32_t, uint32_t>;

std::map<MessageKey, std::deque<size_t>>
ListSends(const GoalSchedule& schedule)
{
    std::map<MessageKey, std::deque<size_t>> sends;
    for (size_t i = 0; i < schedule.steps.size(); ++i)
    {
        if (const auto& step = schedule.steps[i]; step.kind == GoalStep::Kind::Send)
        {
            sends[{step.rank, step.peer, step.tag}].push_back(i);
        }
    }
    return sends;
}

} // namespace

GoalGraph::GoalGraph(const GoalSchedule& schedule)
    : m_schedule(schedule),
      m_partner(schedule.steps.size(), 0),
      m_waits(schedule.steps.size())
{
    MatchMessages();
    for (size_t i = 0; i < schedule.dependencies.size(); ++i)
    {
        m_waits[schedule.dependencies[i].later].push_back(i);
    }
}

void
GoalGraph::Fail(const GoalStep& step, const std::string& text) const
{
    throw ImportError(fmt::format("{}: {}", m_schedule.GetWhere(step), text));
}

void
GoalGraph::SetStep(OperationId operation, size_t step)
{
    m_stepOf.resize(std::max<size_t>(m_stepOf.size(), size_t{operation} + 1));
    m_stepOf[operation] = step;
}

/// The k-th send with a tag meets the k-th recv with it, in the order of the file.
void
GoalGraph::MatchMessages()
{
    auto sends = ListSends(m_schedule);
    for (size_t i = 0; i < m_schedule.steps.size(); ++i)
    {
        const auto& step = GetStep(i);
        if (step.kind != GoalStep::Kind::Receive)
        {
            continue;
        }
        const auto found = sends.find({step.peer, step.rank, step.tag});
        if (found == sends.end() || found->second.empty())
        {
            Fail(step,
                 fmt::format("found a recv without its send: expected one more from rank {} to "
                             "rank {} with tag {}",
                             step.peer,
                             step.rank,
                             step.tag));
        }
        const auto send = found->second.front();
        found->second.pop_front();
        if (GetStep(send).amount != step.amount)
        {
            Fail(step,
                 fmt::format("found a recv of {} bytes, expected {}, as its send in line {} has",
                             step.amount,
                             GetStep(send).amount,
                             GetStep(send).line));
        }
        m_partner[i] = send;
        m_partner[send] = i;
    }
    for (const auto& [key, left] : sends)
    {
        if (!left.empty())
        {
            Fail(GetStep(left.front()),
                 fmt::format("found a send without its recv: expected one more at rank {} from "
                             "rank {} with tag {}",
                             std::get<1>(key),
                             std::get<0>(key),
                             std::get<2>(key)));
        }
    }
}

Plan
GoalGraph::Build(PlanBuilder builder) const
{
    CheckAcyclic();
    for (const auto& [earlier, later] : m_edges)
    {
        builder.AddEdge(earlier, later);
    }
    return builder.Build();
}

/// [operation] edges from what never starts; all 0 when everything does.
std::vector<uint32_t>
GoalGraph::CountUnmetWaits() const
{
    std::vector<std::vector<OperationId>> after(m_stepOf.size());
    std::vector<uint32_t> waits(m_stepOf.size(), 0);
    for (const auto& [earlier, later] : m_edges)
    {
        after[earlier].push_back(later);
        ++waits[later];
    }
    std::vector<OperationId> done;
    for (OperationId id = 0; id < waits.size(); ++id)
    {
        if (waits[id] == 0)
        {
            done.push_back(id);
        }
    }
    while (!done.empty())
    {
        const auto id = done.back();
        done.pop_back();
        for (const auto later : after[id])
        {
            if (--waits[later] == 0)
            {
                done.push_back(later);
            }
        }
    }
    return waits;
}

void
GoalGraph::CheckAcyclic() const
{
    const auto waits = CountUnmetWaits();
    const auto stuck = std::find_if(waits.begin(), waits.end(), [](auto n) { return n > 0; });
    if (stuck == waits.end())
    {
        return;
    }
    // Back along edges between those that never start, until one comes twice: it is in a cycle.
    std::vector<OperationId> before(waits.size(), NONE);
    for (const auto& [earlier, later] : m_edges)
    {
        if (waits[earlier] > 0 && waits[later] > 0)
        {
            before[later] = earlier;
        }
    }
    auto id = static_cast<OperationId>(stuck - waits.begin());
    for (std::vector<bool> seen(waits.size(), false); !seen[id]; id = before[id])
    {
        seen[id] = true;
    }
    Fail(GetStep(m_stepOf[id]),
         "the step waits for itself: expected no cycle of dependencies and messages");
}

} // namespace ns3::gradsync
