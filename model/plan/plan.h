// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_H
#define GRADSYNC_PLAN_H

#include "ns3/aggregation-protocol.h"
#include "ns3/chunk-layout.h"
#include "ns3/collective.h"
#include "ns3/message-protocol.h"
#include "ns3/operation-table.h"
#include "ns3/plan-gate.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// Consecutive operations [first, last).
struct IdRange
{
    OperationId first;
    OperationId last;
};

/// How often all operations come, each copy behind the one before, with edges of its own: what a
/// scheme does with each of its sub-chunks.
struct PlanCopies
{
    uint32_t count{1};
    uint32_t chunks{0}; //!< from what one moves to what the next does
};

/**
 * The heart of gradsync: one gradient exchange as a DAG of operations over chunked buffers.
 *
 * Ranks [0, workers) contribute and hold the result at the end, as the collective says; ranks
 * [workers, ranks) are dedicated servers, which start empty and only help. Edges are stored as
 * compressed sparse rows, packed as the operations are. Build one with PlanBuilder; a plan never
 * changes afterwards.
 */
class Plan
{
  public:
    Plan() = default;

    uint32_t GetRankCount() const
    {
        return m_rankCount;
    }

    uint32_t GetWorkerCount() const
    {
        return m_workerCount;
    }

    const ChunkLayout& GetLayout() const
    {
        return m_layout;
    }

    const Collective& GetCollective() const
    {
        return m_collective;
    }

    /// Buffers of each rank that operations name, at least 1.
    uint32_t GetBufferCount() const
    {
        return m_bufferCount;
    }

    /// By id. They are made as they are asked for: keep a copy, never a pointer.
    OperationRange GetOperations() const
    {
        return {m_operations, 0, m_operations.GetSize()};
    }

    /// So many copies of the same operations are behind each other: at the same ranks, with edges
    /// of their own, of other chunks.
    uint32_t GetCopyCount() const
    {
        return m_copies.count;
    }

    /// Operations of one copy; where there is only one, all.
    size_t GetCopySize() const
    {
        return m_operations.GetSize() / m_copies.count;
    }

    /// The operations of the first copy.
    OperationRange GetFirstCopy() const
    {
        return {m_operations, 0, GetCopySize()};
    }

    /// The rank at which an operation starts, for those who ask for nothing else of it.
    uint32_t GetSrc(OperationId id) const
    {
        return m_operations.GetSrc(id);
    }

    /// Calls visit(id, rank) for the ranks at which the first `count` operations start, in
    /// ascending order.
    template <typename Visit>
    void ForEachSrc(size_t count, const Visit& visit) const
    {
        m_operations.ForEachSrc(count, visit);
    }

    /// Likewise for those at which they end.
    template <typename Visit>
    void ForEachDst(size_t count, const Visit& visit) const
    {
        m_operations.ForEachDst(count, visit);
    }

    /// Operations that wait for `id`, in ascending order.
    OperationIdRange GetSuccessors(OperationId id) const
    {
        return {m_successors,
                m_successorOffsets.MakeItem(id),
                m_successorOffsets.MakeItem(size_t{id} + 1)};
    }

    /// Calls visit(id, operation, successors) for the first `count` operations in ascending order,
    /// in much less time than it takes to ask for each. \param visit takes the successors as a
    /// span, which is gone afterwards
    template <typename Visit>
    void ForEachWithSuccessors(size_t count, const Visit& visit) const
    {
        constexpr size_t BLOCK = 1024;
        std::vector<uint32_t> offsets(BLOCK + 1);
        std::vector<OperationId> successors;
        for (size_t first = 0; first < count; first += BLOCK)
        {
            const auto last = std::min(count, first + BLOCK);
            m_successorOffsets.ForEachItem(first, last + 1, [&](size_t id, uint32_t offset) {
                offsets[id - first] = offset;
            });
            const auto begin = offsets[0];
            const auto end = offsets[last - first];
            successors.resize(end - begin);
            m_successors.ForEachItem(begin, end, [&](size_t index, OperationId id) {
                successors[index - begin] = id;
            });
            m_operations.ForEachItem(first, last, [&](size_t id, const Operation& operation) {
                const auto from = offsets[id - first];
                visit(static_cast<OperationId>(id),
                      operation,
                      std::span<const OperationId>(successors.data() + (from - begin),
                                                   offsets[id + 1 - first] - from));
            });
        }
    }

    /// Calls visit(earlier, later) for all edges from the first `count` operations, in ascending
    /// order of both.
    template <typename Visit>
    void ForEachEdge(size_t count, const Visit& visit) const
    {
        constexpr size_t BLOCK = 1024; // operations
        std::vector<uint32_t> ends(BLOCK);
        size_t begin = 0;
        for (size_t first = 0; first < count; first += BLOCK)
        {
            const auto last = std::min(count, first + BLOCK);
            m_successorOffsets.ForEachItem(first + 1, last + 1, [&](size_t id, uint32_t offset) {
                ends[id - first - 1] = offset;
            });
            const auto end = ends[last - first - 1];
            size_t place = 0;
            m_successors.ForEachItem(begin, end, [&](size_t index, OperationId later) {
                while (ends[place] <= index)
                {
                    ++place;
                }
                visit(static_cast<OperationId>(first + place), later);
            });
            begin = end;
        }
    }

    /// Number of operations that `id` waits for.
    uint32_t GetPredecessorCount(OperationId id) const
    {
        return m_predecessors.Get(id, 0);
    }

    /// Of all operations.
    std::vector<uint32_t> CountPredecessors() const;

    /// Calls visit(id) for the operations that wait for none, in ascending order.
    template <typename Visit>
    void ForEachFirst(const Visit& visit) const
    {
        m_predecessors.ForEachRow(0,
                                  m_predecessors.GetSize(),
                                  [&visit](size_t id, const auto& row) {
                                      if (row[0] == 0)
                                      {
                                          visit(static_cast<OperationId>(id));
                                      }
                                  });
    }

    /// Whether all edges lead to operations of higher ids.
    bool IsForward() const
    {
        return m_isForward;
    }

    /// Bytes that operation `id` moves, over the network or within a rank; 0 if it moves nothing.
    uint64_t GetBytes(OperationId id) const
    {
        return m_messageBytes.empty() ? GetBytes(id, m_operations.MakeItem(id))
                                      : m_messageBytes[id];
    }

    /// \param operation that of `id`, for those who have it already
    uint64_t GetBytes(OperationId id, const Operation& operation) const
    {
        if (!m_messageBytes.empty())
        {
            return m_messageBytes[id];
        }
        return operation.kind == OperationKind::Signal
                   ? operation.firstChunk
                   : m_layout.GetBytes(operation.firstChunk, operation.chunkCount);
    }

    /// Of a move of the first copy, with those like it in all others.
    uint64_t GetBytesOfCopies(OperationId id, const Operation& operation) const;

    /// Groups of ranks, ascending, whose data the network aggregates. The aggregations of a group
    /// run in the order of their ids; each rank may go ahead of the others.
    std::span<const std::vector<uint32_t>> GetAggregationGroups() const
    {
        return m_aggregationGroups;
    }

    const GroupFlow& GetAggregationFlow(uint32_t group) const
    {
        return m_aggregationFlows[group];
    }

    /// Whether the rank of an aggregation gives its chunks to it.
    bool GivesToAggregation(const Operation& operation) const
    {
        const auto& [flow, root] = m_aggregationFlows[operation.stream];
        return flow != AggregationFlow::Multicast || operation.src == root;
    }

    /// Whether it gets what comes of it.
    bool GetsFromAggregation(const Operation& operation) const
    {
        const auto& [flow, root] = m_aggregationFlows[operation.stream];
        return flow != AggregationFlow::Reduce || operation.src == root;
    }

    /// Whether what it gets replaces its chunks: the root of a multicast has it already.
    bool WritesByAggregation(const Operation& operation) const
    {
        const auto& [flow, root] = m_aggregationFlows[operation.stream];
        return GetsFromAggregation(operation) &&
               (flow != AggregationFlow::Multicast || operation.src != root);
    }

    /// By which protocol the network aggregates.
    const AggregationProtocol& GetAggregationProtocol() const
    {
        return m_aggregationProtocol;
    }

    /// Whether the network aggregates.
    bool HasAggregations() const
    {
        return !m_aggregationGroups.empty();
    }

    /// All operations of the aggregation that `id` is one of; of others, itself.
    IdRange GetMembers(OperationId id) const;

    /// Whether a codec gives messages other sizes than the chunks that they carry.
    bool IsCompressed() const
    {
        return m_isCompressed;
    }

    /// What its messages cost beside their bytes; all 0: nothing.
    const MessageProtocol& GetProtocol() const
    {
        return m_protocol;
    }

    /// From the last byte of a transfer until its receiver may go on with it.
    uint64_t GetHopPicoseconds(const Operation& operation) const
    {
        if (m_serverOf.empty() || !operation.IsTransfer())
        {
            return 0;
        }
        return m_serverOf[operation.src] == m_serverOf[operation.dst]
                   ? m_protocol.hopPicoseconds
                   : m_protocol.networkHopPicoseconds;
    }

    /// Whether a sparse codec selects from sums again instead of sending unions.
    bool SelectsSums() const
    {
        return m_selectsSums;
    }

    /// Whether workers agree on exponents through the switches that aggregate for them, ahead of
    /// the values: those share few bits.
    bool SharesExponents() const
    {
        return m_sharesExponents;
    }

    /// The gate, if there is one.
    const std::optional<PlanGate>& GetGate() const
    {
        return m_gate;
    }

    /// How long an Encode, Decode or Compute takes.
    uint64_t GetComputePicoseconds(OperationId id) const
    {
        return m_durations[m_operations.MakeItem(id).stream];
    }

    /// Heap bytes held by this plan.
    uint64_t GetMemoryBytes() const;

  private:
    friend class PlanBuilder;
    friend Plan ApplyProtocol(Plan plan,
                              const MessageProtocol& protocol,
                              std::vector<uint32_t> serverOf);

    uint32_t m_rankCount{0};
    uint32_t m_workerCount{0};
    uint32_t m_bufferCount{1};
    bool m_selectsSums{false};
    bool m_sharesExponents{false};
    bool m_isCompressed{false};
    bool m_isForward{true};
    PlanCopies m_copies;
    ChunkLayout m_layout;
    Collective m_collective;
    OperationTable m_operations;
    OperationIdTable m_successorOffsets; //!< in m_successors; one more than operations
    OperationIdTable m_successors;
    PackedRows<1> m_predecessors;         //!< [operation] -> how many it waits for
    std::vector<uint64_t> m_messageBytes; //!< [operation]; empty: those of the chunks
    std::vector<uint64_t> m_durations;    //!< of what computes, in picoseconds
    MessageProtocol m_protocol;
    std::vector<uint32_t> m_serverOf; //!< [rank], for the protocol; empty: there is none
    std::optional<PlanGate> m_gate;
    std::vector<std::vector<uint32_t>> m_aggregationGroups;
    std::vector<GroupFlow> m_aggregationFlows; //!< [group]
    AggregationProtocol m_aggregationProtocol;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_H
