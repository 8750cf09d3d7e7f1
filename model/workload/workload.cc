// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/workload.h"

#include <algorithm>

namespace ns3::gradsync
{

std::vector<uint32_t>
Workload::CountPredecessors() const
{
    std::vector<uint32_t> counts(m_tasks.size(), 0);
    for (const auto later : m_successors)
    {
        ++counts[later];
    }
    return counts;
}

std::optional<TaskId>
Workload::GetSender(CommunicationId id) const
{
    const auto operations = GetPlan(id)->GetOperations();
    return operations.size() == 1 ? std::optional(GetParts(id)[operations[0].src]) : std::nullopt;
}

bool
Workload::HasAggregations() const
{
    return std::ranges::any_of(m_plans, [](const auto& plan) { return plan->HasAggregations(); });
}

uint64_t
Workload::GetMemoryBytes() const
{
    uint64_t bytes = m_tasks.capacity() * sizeof(WorkloadTask) +
                     m_communications.capacity() * sizeof(Communication);
    for (const auto* values : {&m_successorOffsets,
                               &m_successors,
                               &m_programOffsets,
                               &m_programs,
                               &m_partOffsets,
                               &m_parts})
    {
        bytes += values->capacity() * sizeof(uint32_t);
    }
    for (const auto& group : m_groups)
    {
        bytes += group.capacity() * sizeof(uint32_t);
    }
    for (const auto& plan : m_plans)
    {
        bytes += plan->GetMemoryBytes();
    }
    return bytes;
}

} // namespace ns3::gradsync
