// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-order.h"

#include "ns3/aggregation-gate.h"

#include <numeric>

namespace ns3::gradsync
{

std::vector<OperationId>
SortTopologically(const Plan& plan)
{
    const size_t count = plan.GetOperations().size();
    auto waitsFor = plan.CountPredecessors();
    std::vector<OperationId> order;
    order.reserve(count);
    AggregationGate gate(plan);
    const auto append = [&order](OperationId id) { order.push_back(id); };
    for (OperationId id = 0; id < count; ++id)
    {
        if (waitsFor[id] == 0)
        {
            gate.Reach(id, append);
        }
    }
    // The order is its own queue: what lies behind `next` is ready, but not yet expanded.
    for (size_t next = 0; next < order.size();)
    {
        for (const auto successor : plan.GetSuccessors(order[next++]))
        {
            if (--waitsFor[successor] == 0)
            {
                gate.Reach(successor, append);
            }
        }
    }
    return order;
}

ChunkTransfers::ChunkTransfers(const Plan& plan)
    : m_offsets(size_t{plan.GetLayout().GetChunkCount()} + 1)
{
    const auto order = SortTopologically(plan);
    const auto operations = plan.GetOperations();
    for (const auto& operation : operations)
    {
        for (uint32_t i = 0; i < operation.chunkCount; ++i)
        {
            ++m_offsets[operation.firstChunk + i];
        }
    }
    std::inclusive_scan(m_offsets.begin(), m_offsets.end(), m_offsets.begin());
    m_transfers.resize(m_offsets.back());
    // From the back, because each offset starts at the end of its row and moves to the start.
    for (size_t next = order.size(); next-- > 0;)
    {
        const auto& operation = operations[order[next]];
        for (uint32_t i = 0; i < operation.chunkCount; ++i)
        {
            m_transfers[--m_offsets[operation.firstChunk + i]] = order[next];
        }
    }
}

} // namespace ns3::gradsync
