// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-graph.h"

#include "ns3/aggregation-gate.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace ns3::gradsync
{

PlanGraph::PlanGraph(const Plan& plan)
{
    SortTopologically(plan);
    ReverseEdges(plan);
    IndexTransfers(plan);
}

void
PlanGraph::SortTopologically(const Plan& plan)
{
    const size_t count = plan.GetOperations().size();
    auto waitsFor = plan.CountPredecessors();
    m_order.reserve(count);
    AggregationGate gate(plan);
    const auto append = [this](OperationId id) { m_order.push_back(id); };
    for (OperationId id = 0; id < count; ++id)
    {
        if (waitsFor[id] == 0)
        {
            gate.Reach(id, append);
        }
    }
    // m_order is its own queue: what lies behind `next` is ready, but not yet expanded.
    m_positions.resize(count);
    for (uint32_t next = 0; next < m_order.size(); ++next)
    {
        m_positions[m_order[next]] = next;
        for (const auto successor : plan.GetSuccessors(m_order[next]))
        {
            if (--waitsFor[successor] == 0)
            {
                gate.Reach(successor, append);
            }
        }
    }
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

void
PlanGraph::IndexTransfers(const Plan& plan)
{
    const auto operations = plan.GetOperations();
    m_transferOffsets.assign(size_t{plan.GetLayout().GetChunkCount()} + 1, 0);
    for (const auto& operation : operations)
    {
        for (uint32_t i = 0; i < operation.chunkCount; ++i)
        {
            ++m_transferOffsets[operation.firstChunk + i];
        }
    }
    std::inclusive_scan(m_transferOffsets.begin(),
                        m_transferOffsets.end(),
                        m_transferOffsets.begin());
    m_transfers.resize(m_transferOffsets.back());
    // From the back, because each offset starts at the end of its row and moves to the start.
    for (size_t next = m_order.size(); next-- > 0;)
    {
        const auto id = m_order[next];
        const auto& operation = operations[id];
        for (uint32_t i = 0; i < operation.chunkCount; ++i)
        {
            m_transfers[--m_transferOffsets[operation.firstChunk + i]] = id;
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
