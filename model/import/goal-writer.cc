// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/goal-writer.h"

#include "ns3/goal-annotation.h"

#include <fmt/format.h>
#include <stdexcept>

namespace ns3::gradsync
{

GoalWriter::GoalWriter(const Plan& plan)
    : m_plan(plan),
      m_steps(plan.GetRankCount()),
      m_dependencies(plan.GetRankCount())
{
    if (plan.HasAggregations())
    {
        throw std::invalid_argument(
            "GOAL knows messages between ranks only, and this plan lets the "
            "network aggregate");
    }
    const auto count = static_cast<OperationId>(plan.GetOperations().size());
    for (OperationId id = 0; id < count; ++id)
    {
        AddOperation(id);
    }
    for (OperationId id = 0; id < count; ++id)
    {
        for (const auto later : plan.GetSuccessors(id))
        {
            AddDependency(id, later);
        }
    }
}

void
GoalWriter::AddOperation(OperationId id)
{
    const auto& operation = m_plan.GetOperations()[id];
    m_steps[operation.src] += goal_annotation::WriteOperation(m_plan, id);
    if (!operation.IsTransfer())
    {
        m_steps[operation.src] += WriteCalc(id);
        return;
    }
    // The tag says which transfer it is: two of one pair may have the same size.
    const auto bytes = m_plan.GetBytes(id);
    m_steps[operation.src] +=
        fmt::format("s{}: send {}b to {} tag {}\n", id, bytes, operation.dst, id);
    m_steps[operation.dst] +=
        fmt::format("r{}: recv {}b from {} tag {}\n", id, bytes, operation.src, id);
}

std::string
GoalWriter::WriteCalc(OperationId id) const
{
    const auto& operation = m_plan.GetOperations()[id];
    if (!operation.IsCompute())
    {
        return fmt::format("j{}: calc 0\n", id);
    }
    // To the nearest nanosecond, the unit of GOAL.
    const auto nanoseconds = (m_plan.GetComputePicoseconds(id) + 500) / 1000;
    const auto processor =
        operation.firstChunk > 0 ? fmt::format(" cpu {}", operation.firstChunk) : std::string();
    return fmt::format("j{}: calc {}{}\n", id, nanoseconds, processor);
}

bool
GoalWriter::Involves(OperationId id, uint32_t rank) const
{
    const auto& operation = m_plan.GetOperations()[id];
    return operation.src == rank || operation.dst == rank;
}

std::string
GoalWriter::GetEnd(OperationId id, uint32_t rank) const
{
    const auto& operation = m_plan.GetOperations()[id];
    return fmt::format("{}{}",
                       !operation.IsTransfer() ? 'j'
                       : operation.dst == rank ? 'r'
                                               : 's',
                       id);
}

std::string
GoalWriter::GetStart(OperationId id) const
{
    return fmt::format("{}{}", m_plan.GetOperations()[id].IsTransfer() ? 's' : 'j', id);
}

void
GoalWriter::AddDependency(OperationId earlier, OperationId later)
{
    const auto from = m_plan.GetOperations()[earlier].dst;
    const auto to = m_plan.GetOperations()[later].src;
    if (Involves(earlier, to))
    {
        m_dependencies[to] += fmt::format("{} requires {}\n", GetStart(later), GetEnd(earlier, to));
        return;
    }
    // Tags of signals follow those of the transfers.
    const auto signal = m_signalCount++;
    const auto tag = m_plan.GetOperations().size() + signal;
    m_steps[from] += goal_annotation::WriteSignal();
    m_steps[from] += fmt::format("ss{}: send 1b to {} tag {}\n", signal, to, tag);
    m_steps[to] += fmt::format("sr{}: recv 1b from {} tag {}\n", signal, from, tag);
    m_dependencies[from] += fmt::format("ss{} requires {}\n", signal, GetEnd(earlier, from));
    m_dependencies[to] += fmt::format("{} requires sr{}\n", GetStart(later), signal);
}

void
GoalWriter::Write(std::ostream& stream) const
{
    stream << fmt::format("num_ranks {}\n", m_plan.GetRankCount());
    stream << goal_annotation::WritePlan(m_plan);
    for (size_t rank = 0; rank < m_steps.size(); ++rank)
    {
        stream << fmt::format("\nrank {} {{\n{}{}}}\n", rank, m_steps[rank], m_dependencies[rank]);
    }
}

} // namespace ns3::gradsync
