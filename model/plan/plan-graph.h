// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_GRAPH_H
#define GRADSYNC_PLAN_GRAPH_H

#include "ns3/plan.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/**
 * What an analysis of a plan needs beside the plan itself: a topological order, the edges
 * backwards, and the transfers of each chunk. About 20 bytes an operation, 4 an edge and 4 a moved
 * chunk.
 *
 * The plan must outlive the graph.
 */
class PlanGraph
{
  public:
    explicit PlanGraph(const Plan& plan);

    /// All operations, each after everything that it waits for. The same order on every machine.
    std::span<const OperationId> GetOrder() const
    {
        return m_order;
    }

    /// Index of an operation in GetOrder().
    uint32_t GetPosition(OperationId id) const
    {
        return m_positions[id];
    }

    /// Operations that `id` waits for.
    std::span<const OperationId> GetPredecessors(OperationId id) const
    {
        return {m_predecessors.data() + m_predecessorOffsets[id],
                m_predecessorOffsets[id + 1] - m_predecessorOffsets[id]};
    }

    /// The transfers that move a chunk, in the order of GetOrder().
    std::span<const OperationId> GetTransfers(uint32_t chunk) const
    {
        return {m_transfers.data() + m_transferOffsets[chunk],
                m_transferOffsets[chunk + 1] - m_transferOffsets[chunk]};
    }

    /**
     * Those of `candidates` that are not ordered before `id` by any path of edges.
     * Walks the edges backwards from `id`, as far as the earliest candidate: exact, but linear in
     * what lies between them.
     */
    std::vector<OperationId> FindUnordered(std::span<const OperationId> candidates,
                                           OperationId id) const;

  private:
    void SortTopologically(const Plan& plan);
    void ReverseEdges(const Plan& plan);
    void IndexTransfers(const Plan& plan);

    std::vector<OperationId> m_order;
    std::vector<uint32_t> m_positions;
    std::vector<uint32_t> m_predecessorOffsets;
    std::vector<OperationId> m_predecessors;
    std::vector<size_t> m_transferOffsets; //!< size_t: a wide transfer counts once for each chunk
    std::vector<OperationId> m_transfers;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_GRAPH_H
