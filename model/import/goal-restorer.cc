// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/goal-restorer.h"

#include "ns3/import-error.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

/// One entry stands for many that are equal.
std::vector<uint32_t>
Shorten(std::vector<uint32_t> workers)
{
    const bool differ =
        std::adjacent_find(workers.begin(), workers.end(), std::not_equal_to<>()) != workers.end();
    if (!differ && !workers.empty())
    {
        workers.erase(workers.begin() + 1, workers.end());
    }
    return workers;
}

bool
IsSend(const goal_annotation::StepNote& note, const GoalStep& step)
{
    const bool isOfOperation = note.operation.kind == OperationKind::Signal
                                   ? step.amount <= std::numeric_limits<uint32_t>::max()
                                   : note.operation.IsMove();
    return (note.isSignal || isOfOperation) && step.peer != step.rank;
}

bool
IsCalc(const goal_annotation::StepNote& note, const GoalStep& step)
{
    // GOAL's unit is the nanosecond.
    const bool takesSoLong = (note.picoseconds + 500) / 1000 == step.amount;
    return !note.isSignal && note.operation.kind != OperationKind::Signal && takesSoLong;
}

} // namespace

GoalRestorer::GoalRestorer(const GoalSchedule& schedule)
    : m_graph(schedule),
      m_layout(ChunkLayout::FromSizes(schedule.plan->chunkBytes)),
      m_operation(schedule.steps.size(), GoalGraph::NONE)
{
}

Plan
GoalRestorer::Build()
{
    NumberSteps();
    ReadSignals();
    AddEdges();
    try
    {
        auto builder = MakeBuilder();
        for (OperationId id = 0; id < m_graph.CountOperations(); ++id)
        {
            AddOperation(builder, id);
        }
        AddAnswers(builder);
        return m_graph.Build(std::move(builder));
    }
    catch (const std::logic_error& error)
    {
        // Chunks, ranks and collective do not fit each other.
        throw ImportError(fmt::format("{}: {}", m_graph.GetSchedule().file, error.what()));
    }
}

const goal_annotation::StepNote*
GoalRestorer::FindNote(size_t step) const
{
    const auto note = m_graph.GetStep(step).note;
    return note == GoalStep::NO_NOTE ? nullptr : &m_graph.GetSchedule().notes[note];
}

/// Either end of one.
bool
GoalRestorer::IsSignal(size_t step) const
{
    const bool isReceive = m_graph.GetStep(step).kind == GoalStep::Kind::Receive;
    const auto* note = FindNote(isReceive ? m_graph.GetPartner(step) : step);
    return note != nullptr && note->isSignal;
}

void
GoalRestorer::NumberSteps()
{
    const auto& notes = m_graph.GetSchedule().notes;
    const auto count = static_cast<size_t>(
        std::count_if(notes.begin(), notes.end(), [](const auto& note) { return !note.isSignal; }));
    std::vector<bool> seen(count, false);
    for (size_t i = 0; i < m_operation.size(); ++i)
    {
        CheckNote(i);
        const auto* note = FindNote(i);
        if (note == nullptr || note->isSignal)
        {
            continue;
        }
        if (note->id >= count || seen[note->id])
        {
            m_graph.Fail(m_graph.GetStep(i),
                         fmt::format("found operation {}, expected each number below {}, the "
                                     "number of operations, once",
                                     note->id,
                                     count));
        }
        seen[note->id] = true;
        m_graph.SetStep(note->id, i);
        m_operation[i] = note->id;
    }
}

void
GoalRestorer::CheckNote(size_t index) const
{
    const auto& step = m_graph.GetStep(index);
    const auto* note = FindNote(index);
    if ((note != nullptr) == (step.kind == GoalStep::Kind::Receive))
    {
        m_graph.Fail(step,
                     fmt::format("found {} line {} before the step, expected one before every send "
                                 "and calc and none before a recv",
                                 note == nullptr ? "no" : "a",
                                 goal_annotation::PREFIX));
    }
    if (note == nullptr)
    {
        return;
    }
    if (step.kind == GoalStep::Kind::Send ? !IsSend(*note, step) : !IsCalc(*note, step))
    {
        m_graph.Fail(step,
                     fmt::format("does not fit the line {} before it", goal_annotation::PREFIX));
    }
}

OperationId
GoalRestorer::GetEnd(size_t step) const
{
    const bool isReceive = m_graph.GetStep(step).kind == GoalStep::Kind::Receive;
    return m_operation[isReceive ? m_graph.GetPartner(step) : step];
}

/// What waits for a signal waits for what was done before it was sent.
void
GoalRestorer::ReadSignals()
{
    for (const auto& [later, earlier, onStart, line] : m_graph.GetSchedule().dependencies)
    {
        if (m_graph.GetStep(later).kind != GoalStep::Kind::Send || !IsSignal(later))
        {
            continue;
        }
        if (onStart || m_operation[later] != GoalGraph::NONE || IsSignal(earlier))
        {
            m_graph.Fail(m_graph.GetStep(later),
                         "found a signal that waits for something else than one operation");
        }
        m_operation[later] = GetEnd(earlier);
    }
}

void
GoalRestorer::AddEdges()
{
    for (const auto& [later, earlier, onStart, line] : m_graph.GetSchedule().dependencies)
    {
        const auto& step = m_graph.GetStep(later);
        if (step.kind == GoalStep::Kind::Send && IsSignal(later))
        {
            continue;
        }
        const auto from = GetEnd(earlier);
        if (onStart || step.kind == GoalStep::Kind::Receive || from == GoalGraph::NONE)
        {
            m_graph.Fail(step, "found a dependency that no exported plan has");
        }
        m_graph.AddEdge(from, m_operation[later]);
    }
}

PlanBuilder
GoalRestorer::MakeBuilder() const
{
    const auto& schedule = m_graph.GetSchedule();
    const auto& plan = *schedule.plan;
    return {schedule.ranks,
            plan.workers,
            m_layout,
            Collective(plan.collective, Shorten(plan.sources), Shorten(plan.targets), plan.sum)};
}

void
GoalRestorer::AddOperation(PlanBuilder& builder, OperationId id) const
{
    const auto& step = m_graph.GetStep(m_graph.GetStepOf(id));
    const auto& note = m_graph.GetSchedule().notes[step.note];
    auto operation = note.operation;
    operation.src = step.rank;
    operation.dst = step.kind == GoalStep::Kind::Send ? step.peer : step.rank;
    if (operation.IsCompute())
    {
        builder.AddCompute(operation.kind, step.rank, note.picoseconds, operation.firstChunk);
        return;
    }
    if (operation.kind == OperationKind::Gate)
    {
        const auto& gate = m_graph.GetSchedule().plan->gate;
        if (!gate)
        {
            m_graph.Fail(step, fmt::format("found no line {} gate", goal_annotation::PREFIX));
        }
        builder.AddGate(step.rank, gate->quorum, gate->timeoutPicoseconds);
        return;
    }
    if (operation.kind == OperationKind::Signal)
    {
        operation.firstChunk = static_cast<uint32_t>(step.amount);
    }
    builder.AddLike(operation);
    const auto end = uint64_t{operation.firstChunk} + operation.chunkCount;
    if (operation.IsMove() && operation.IsTransfer() && end <= m_layout.GetChunkCount() &&
        m_layout.GetBytes(operation.firstChunk, operation.chunkCount) != step.amount)
    {
        builder.SetMessageBytes(id, step.amount);
    }
}

void
GoalRestorer::AddAnswers(PlanBuilder& builder) const
{
    const auto& gate = m_graph.GetSchedule().plan->gate;
    if (!gate)
    {
        return;
    }
    for (const auto& [operation, worker] : gate->answers)
    {
        if (operation >= m_graph.CountOperations() || worker >= m_graph.GetSchedule().plan->workers)
        {
            throw ImportError(fmt::format("{}: {} gate: found the answer {} {}, expected an "
                                          "operation and a worker",
                                          m_graph.GetSchedule().file,
                                          goal_annotation::PREFIX,
                                          operation,
                                          worker));
        }
        builder.AddAnswer(operation, worker);
    }
}

} // namespace ns3::gradsync
