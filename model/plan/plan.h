// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_H
#define GRADSYNC_PLAN_H

#include "ns3/aggregation-protocol.h"
#include "ns3/chunk-layout.h"
#include "ns3/collective.h"
#include "ns3/plan-gate.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// Index of an operation in its plan.
using OperationId = uint32_t;

/// What an operation does.
enum class OperationKind : uint8_t
{
    TransferReduce, //!< data moves src -> dst over the network and is added to dst's chunks
    TransferCopy,   //!< data moves src -> dst over the network and replaces dst's chunks
    Aggregate,      //!< the network adds up what the ranks of a group send and gives each the sum
    Join,    //!< moves nothing: done when all operations before it are done (fan-in point, barrier)
    Encode,  //!< moves nothing: the rank compresses chunks, which takes its accelerator time
    Decode,  //!< as Encode: it decompresses, and adds where data are reduced
    Compute, //!< as Encode: whatever else it computes
    Signal,  //!< a message of a few bytes src -> dst that moves no chunk (a command)
    Train, //!< the rank computes its gradient; ranks of plans without it do so before the exchange
    Gate   //!< done when enough of the operations before it are, see PlanGate
};

/// As messages and files have it: "reduce".
const char* ToString(OperationKind kind);

/**
 * From which buffer of `src` to which of `dst` an operation moves its chunks. Buffer 0 holds the
 * gradient, and at the end the result; the others are staging buffers of the same chunks, empty at
 * first, for data that arrive before they may be added.
 */
struct BufferPair
{
    uint8_t src{0};
    uint8_t dst{0};
};

/**
 * One operation of a plan. 24 bytes, because a plan may hold millions (design §1).
 *
 * A move reads its chunks at `src` when it starts and writes them at `dst` when it is done. Within
 * one rank (`src` equal to `dst`) it moves them from one buffer to another, over no network.
 *
 * An aggregation is one operation for each rank of its group, `src` equal to `dst`, with
 * consecutive ids in the order of the group: each rank gives its chunks when it is ready to, and
 * gets the sum of those of all.
 */
struct Operation
{
    OperationKind kind;
    BufferPair buffers;
    uint32_t src; //!< sending rank; of what moves nothing, the rank it is accounted to
    uint32_t dst; //!< receiving rank; of what moves nothing, equal to src
    /// Chunk range [firstChunk, firstChunk + chunkCount) of what moves; of Signal, the bytes of its
    /// message; of Encode, Decode and Compute, the processor of the rank that is busy with it.
    uint32_t firstChunk;
    uint32_t chunkCount;
    /**
     * Connection that carries the transfer. Transfers with equal (src, dst, stream) share one
     * connection and arrive in the order in which they were started; different streams share the
     * links fairly. Of Encode, Decode and Compute, the number of their duration in the plan; of
     * Aggregate, the number of its group.
     */
    uint32_t stream;

    /// Whether it moves chunks at all.
    bool IsMove() const
    {
        return kind < OperationKind::Join;
    }

    /// Whether it takes a time of the plan at a processor of its rank.
    bool IsCompute() const
    {
        return kind == OperationKind::Encode || kind == OperationKind::Decode ||
               kind == OperationKind::Compute;
    }

    bool IsAggregate() const
    {
        return kind == OperationKind::Aggregate;
    }

    /// Whether it is a message over the network, or what a rank gives to it.
    bool IsTransfer() const
    {
        return src != dst || IsAggregate();
    }
};

/// Consecutive operations [first, last).
struct IdRange
{
    OperationId first;
    OperationId last;
};

/**
 * The heart of gradsync: one gradient exchange as a DAG of operations over chunked buffers.
 *
 * Ranks [0, workers) contribute and hold the result at the end, as the collective says; ranks
 * [workers, ranks) are dedicated servers, which start empty and only help. Edges are stored as
 * compressed sparse rows. Build one with PlanBuilder; a plan never changes afterwards.
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

    std::span<const Operation> GetOperations() const
    {
        return m_operations;
    }

    /// Operations that wait for `id`, in ascending order.
    std::span<const OperationId> GetSuccessors(OperationId id) const
    {
        return {m_successors.data() + m_successorOffsets[id],
                m_successorOffsets[id + 1] - m_successorOffsets[id]};
    }

    /// Number of operations that each operation waits for. Counted from the edges: a plan of
    /// millions does not keep what is needed once an iteration.
    std::vector<uint32_t> CountPredecessors() const;

    /// Bytes that operation `id` moves, over the network or within a rank; 0 if it moves nothing.
    uint64_t GetBytes(OperationId id) const
    {
        if (!m_messageBytes.empty())
        {
            return m_messageBytes[id];
        }
        const auto& operation = m_operations[id];
        return operation.kind == OperationKind::Signal
                   ? operation.firstChunk
                   : m_layout.GetBytes(operation.firstChunk, operation.chunkCount);
    }

    /// Groups of ranks, ascending, whose data the network adds up. The aggregations of a group run
    /// in the order of their ids; each rank may go ahead of the others.
    std::span<const std::vector<uint32_t>> GetAggregationGroups() const
    {
        return m_aggregationGroups;
    }

    /// By which protocol the network adds up.
    AggregationProtocol GetAggregationProtocol() const
    {
        return m_aggregationProtocol;
    }

    /// Whether the network adds up.
    bool HasAggregations() const
    {
        return !m_aggregationGroups.empty();
    }

    /// All operations of the aggregation that `id` is one of; of others, itself.
    IdRange GetMembers(OperationId id) const;

    /// Whether messages have other sizes than the chunks that they carry.
    bool IsCompressed() const
    {
        return !m_messageBytes.empty();
    }

    /// Whether a sparse codec selects from sums again instead of sending unions.
    bool SelectsSums() const
    {
        return m_selectsSums;
    }

    /// The gate, if there is one.
    const std::optional<PlanGate>& GetGate() const
    {
        return m_gate;
    }

    /// How long an Encode, Decode or Compute takes.
    uint64_t GetComputePicoseconds(OperationId id) const
    {
        return m_durations[m_operations[id].stream];
    }

    /// Heap bytes held by this plan.
    uint64_t GetMemoryBytes() const;

  private:
    friend class PlanBuilder;

    uint32_t m_rankCount{0};
    uint32_t m_workerCount{0};
    uint32_t m_bufferCount{1};
    bool m_selectsSums{false};
    ChunkLayout m_layout;
    Collective m_collective;
    std::vector<Operation> m_operations;
    std::vector<uint32_t> m_successorOffsets; //!< size operations + 1
    std::vector<OperationId> m_successors;
    std::vector<uint64_t> m_messageBytes; //!< [operation]; empty: those of the chunks
    std::vector<uint64_t> m_durations;    //!< of what computes, in picoseconds
    std::optional<PlanGate> m_gate;
    std::vector<std::vector<uint32_t>> m_aggregationGroups;
    AggregationProtocol m_aggregationProtocol{AggregationProtocol::SwitchMl};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_H
