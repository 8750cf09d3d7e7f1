// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DATAFLOW_BUILDER_H
#define GRADSYNC_DATAFLOW_BUILDER_H

#include "ns3/plan-builder.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/**
 * Builds a plan from moves alone: the edges follow from what they read and write.
 *
 * The moves are added in an order in which they could be executed one by one. Each then waits
 * for the earlier ones that conflict with it at a chunk and rank: a read for the writes, a write
 * for the reads, a copy for all. Reads do not wait for reads, nor reduces for reduces. So the plan
 * is free of races by construction, pipelined chunk by chunk, and has no barrier that was not asked
 * for.
 *
 * Takes 12 bytes for every chunk in every buffer of every rank and 8 for every chunk that a move
 * moves. A scheme of a regular structure that wants to be large draws its edges itself, on a
 * PlanBuilder.
 */
class DataflowBuilder
{
  public:
    /// As of PlanBuilder. \param bufferCount buffers at each rank, at least 1
    DataflowBuilder(uint32_t rankCount,
                    uint32_t workerCount,
                    const ChunkLayout& layout,
                    Collective collective = {},
                    uint32_t bufferCount = 1);

    OperationId AddReduce(uint32_t src,
                          uint32_t dst,
                          uint32_t firstChunk,
                          uint32_t chunkCount,
                          uint32_t stream = 0,
                          BufferPair buffers = {});
    OperationId AddCopy(uint32_t src,
                        uint32_t dst,
                        uint32_t firstChunk,
                        uint32_t chunkCount,
                        uint32_t stream = 0,
                        BufferPair buffers = {});

    /// As of PlanBuilder. Each rank of the group gives its chunks of buffer 0 when it has them.
    uint32_t AddAggregationGroup(std::vector<uint32_t> ranks,
                                 AggregationProtocol protocol,
                                 GroupFlow flow = {});
    OperationId AddAggregate(uint32_t group, uint32_t firstChunk, uint32_t chunkCount);

    /// A point at a rank to which AddEdge can draw edges.
    OperationId AddJoin(uint32_t rank);

    /// What was added so far, joins that the builder made included.
    OperationRange GetOperations() const
    {
        return m_builder.GetOperations();
    }

    /// `later` starts only when `earlier` is done, whatever they read and write.
    void AddEdge(OperationId earlier, OperationId later);

    /// As of PlanBuilder.
    void SetSelectsSums()
    {
        m_builder.SetSelectsSums();
    }

    /// Everything added later waits for everything added before.
    void AddBarrier();

    /// \throws as PlanBuilder::Build; the builder is empty afterwards
    Plan Build();

  private:
    static constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();

    enum class AccessKind : uint8_t
    {
        None,
        Read,
        Reduce,
        Copy
    };

    /// A list of operations in m_nodes.
    struct Node
    {
        OperationId operation;
        uint32_t next;
    };

    /// The last accesses to one chunk at one rank that do not conflict with each other.
    struct Place
    {
        uint32_t run{NONE};    //!< list of them
        uint32_t before{NONE}; //!< what each of them waits for: the run before, as one operation
        AccessKind kind{AccessKind::None};
    };

    OperationId AddMove(AccessKind kind, const Operation& move);
    void AccessAggregate(OperationId id);
    void Access(uint32_t rank, uint32_t buffer, uint32_t chunk, AccessKind kind, OperationId id);
    OperationId JoinRun(uint32_t run, uint32_t rank);

    PlanBuilder m_builder;
    uint32_t m_rankCount;
    uint32_t m_bufferCount;
    uint32_t m_chunkCount;
    std::vector<OperationId> m_stage;     //!< moves since the last barrier
    std::optional<OperationId> m_barrier; //!< the last barrier
    bool m_ordered{false};                //!< whether the move being added waits for one of m_stage
    std::vector<Place> m_places;          //!< [(rank * buffers + buffer) * chunks + chunk]
    std::vector<Node> m_nodes;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_DATAFLOW_BUILDER_H
