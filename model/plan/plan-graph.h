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
 * What an analysis of a plan needs beside the plan itself: a topological order, and the edges
 * backwards. 12 bytes an operation and 4 an edge.
 *
 * The plan must outlive the graph.
 */
class PlanGraph
{
  public:
    explicit PlanGraph(const Plan& plan);

    /// See SortTopologically.
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

    /**
     * Those of `candidates` that are not ordered before `id` by any path of edges.
     * Walks the edges backwards from `id`, as far as the earliest candidate: exact, but linear in
     * what lies between them.
     */
    std::vector<OperationId> FindUnordered(std::span<const OperationId> candidates,
                                           OperationId id) const;

  private:
    void ReverseEdges(const Plan& plan);

    std::vector<OperationId> m_order;
    std::vector<uint32_t> m_positions;
    std::vector<uint32_t> m_predecessorOffsets;
    std::vector<OperationId> m_predecessors;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_GRAPH_H
