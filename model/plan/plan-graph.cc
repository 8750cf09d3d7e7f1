// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-graph.h"

#include "ns3/plan-order.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace ns3::gradsync
{

PlanGraph::PlanGraph(const Plan& plan)
    : m_order(SortTopologically(plan)),
      m_positions(m_order.size())
{
    for (uint32_t position = 0; position < m_order.size(); ++position)
    {
        m_positions[m_order[position]] = position;
    }
    ReverseEdges(plan);
}

void
PlanGraph::ReverseEdges(const Plan& plan)
{
    const size_t count = plan.GetOperations().size();
    const auto waits = plan.CountPredecessors();
    m_predecessorOffsets.resize(count + 1);
    std::inclusive_scan(waits.begin(), waits.end(), m_predecessorOffsets.begin());
    m_predecessorOffsets[count] = count == 0 ? 0 : m_predecessorOffsets[count - 1];
    m_predecessors.resize(m_predecessorOffsets[count]);
    // As in PlanBuilder: each offset starts at the end of its row and moves to the start.
    for (OperationId id = 0; id < count; ++id)
    {
        for (const auto successor : plan.GetSuccessors(id))
        {
            m_predecessors[--m_predecessorOffsets[successor]] = id;
        }
    }
}

std::vector<OperationId>
PlanGraph::FindUnordered(std::span<const OperationId> candidates, OperationId id) const
{
    uint32_t earliest = GetPosition(id);
    for (const auto candidate : candidates)
    {
        earliest = std::min(earliest, GetPosition(candidate));
    }
    std::unordered_set<OperationId> before;
    std::vector<OperationId> open{id};
    while (!open.empty())
    {
        const auto current = open.back();
        open.pop_back();
        for (const auto predecessor : GetPredecessors(current))
        {
            if (GetPosition(predecessor) >= earliest && before.insert(predecessor).second)
            {
                open.push_back(predecessor);
            }
        }
    }
    std::vector<OperationId> unordered;
    std::copy_if(candidates.begin(),
                 candidates.end(),
                 std::back_inserter(unordered),
                 [&before](OperationId candidate) { return !before.contains(candidate); });
    return unordered;
}

} // namespace ns3::gradsync
