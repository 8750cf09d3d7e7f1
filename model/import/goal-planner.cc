// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/goal-planner.h"

#include "ns3/goal-restorer.h"
#include "ns3/import-error.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t PICOSECONDS_PER_NANOSECOND = 1000;

/// A message of a rank to itself crosses no network.
bool
IsTransfer(const GoalStep& step)
{
    return step.kind == GoalStep::Kind::Send && step.peer != step.rank;
}

} // namespace

GoalPlanner::GoalPlanner(const GoalSchedule& schedule)
    : m_graph(schedule),
      m_operation(schedule.steps.size(), GoalGraph::NONE),
      m_start(schedule.steps.size(), GoalGraph::NONE)
{
}

Plan
GoalPlanner::Build()
{
    NumberSteps();
    AddEdges();
    auto builder = MakeBuilder();
    uint32_t chunk = 0;
    for (OperationId id = 0; id < m_graph.CountOperations(); ++id)
    {
        AddOperation(builder, id, chunk);
    }
    return m_graph.Build(std::move(builder));
}

void
GoalPlanner::NumberSteps()
{
    for (size_t i = 0; i < m_operation.size(); ++i)
    {
        // A recv that waits for nothing else ends with its message.
        if (m_graph.GetStep(i).kind != GoalStep::Kind::Receive || !m_graph.GetWaits(i).empty())
        {
            m_operation[i] = m_graph.CountOperations();
            m_graph.SetStep(m_operation[i], i);
        }
    }
}

OperationId
GoalPlanner::GetEnd(size_t step) const
{
    return m_operation[step] == GoalGraph::NONE ? m_operation[m_graph.GetPartner(step)]
                                                : m_operation[step];
}

void
GoalPlanner::AddEdges()
{
    for (size_t i = 0; i < m_operation.size(); ++i)
    {
        const bool isReceive = m_graph.GetStep(i).kind == GoalStep::Kind::Receive;
        if (isReceive && m_operation[i] != GoalGraph::NONE)
        {
            m_graph.AddEdge(m_operation[m_graph.GetPartner(i)], m_operation[i]);
        }
    }
    for (const auto& dependency : m_graph.GetSchedule().dependencies)
    {
        const auto from =
            dependency.onStart ? GetStart(dependency.earlier) : GetEnd(dependency.earlier);
        if (from != GoalGraph::NONE)
        {
            m_graph.AddEdge(from, m_operation[dependency.later]);
        }
    }
}

/// A join behind all that the step waits for; NONE when it waits for nothing.
OperationId
GoalPlanner::GetStart(size_t step)
{
    // A list, not recursion: steps that start each with the one before may be many.
    const auto& dependencies = m_graph.GetSchedule().dependencies;
    std::vector<size_t> made;
    std::vector<size_t> wanted{step};
    while (!wanted.empty())
    {
        const auto i = wanted.back();
        wanted.pop_back();
        if (m_start[i] != GoalGraph::NONE || m_graph.GetWaits(i).empty())
        {
            continue;
        }
        m_start[i] = m_graph.CountOperations();
        m_graph.SetStep(m_start[i], i);
        made.push_back(i);
        for (const auto wait : m_graph.GetWaits(i))
        {
            if (dependencies[wait].onStart)
            {
                wanted.push_back(dependencies[wait].earlier);
            }
        }
    }
    for (const auto i : made)
    {
        for (const auto wait : m_graph.GetWaits(i))
        {
            const auto earlier = dependencies[wait].earlier;
            const auto from = dependencies[wait].onStart ? m_start[earlier] : GetEnd(earlier);
            if (from != GoalGraph::NONE)
            {
                m_graph.AddEdge(from, m_start[i]);
            }
        }
    }
    return m_start[step];
}

PlanBuilder
GoalPlanner::MakeBuilder() const
{
    const auto& schedule = m_graph.GetSchedule();
    std::vector<uint64_t> sizes;
    std::vector<uint32_t> sources;
    std::vector<uint32_t> targets;
    for (const auto& step : schedule.steps)
    {
        if (IsTransfer(step))
        {
            // What has no byte still is a message.
            sizes.push_back(std::max<uint64_t>(step.amount, 1));
            sources.push_back(step.rank);
            targets.push_back(step.peer);
        }
    }
    if (sizes.empty())
    {
        throw ImportError(
            fmt::format("{}: found no message from one rank to another", schedule.file));
    }
    return {schedule.ranks,
            schedule.ranks,
            ChunkLayout::FromSizes(sizes),
            Collective(COLLECTIVE, std::move(sources), std::move(targets))};
}

void
GoalPlanner::AddOperation(PlanBuilder& builder, OperationId id, uint32_t& chunk) const
{
    const auto index = m_graph.GetStepOf(id);
    const auto& step = m_graph.GetStep(index);
    const bool isStart = m_operation[index] != id;
    if (!isStart && IsTransfer(step))
    {
        builder.AddCopy(step.rank, step.peer, chunk++, 1, step.nic);
    }
    else if (!isStart && step.kind == GoalStep::Kind::Calc && step.amount > 0)
    {
        builder.AddCompute(OperationKind::Compute,
                           step.rank,
                           step.amount * PICOSECONDS_PER_NANOSECOND,
                           step.processor);
    }
    else
    {
        builder.AddJoin(step.rank);
    }
}

Plan
BuildGoalPlan(const GoalSchedule& schedule)
{
    return schedule.plan ? GoalRestorer(schedule).Build() : GoalPlanner(schedule).Build();
}

} // namespace ns3::gradsync
