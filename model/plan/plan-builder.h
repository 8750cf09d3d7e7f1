// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_BUILDER_H
#define GRADSYNC_PLAN_BUILDER_H

#include "ns3/plan.h"

#include <map>
#include <utility>

namespace ns3::gradsync
{

/**
 * Collects operations and edges, then freezes them into a Plan.
 *
 * Operations are started in ascending id when several become ready at the same time, so the order
 * of the Add calls is the order in which a rank posts its sends.
 */
class PlanBuilder
{
  public:
    /// \param rankCount all ranks, dedicated servers included; \param workerCount those that
    /// contribute
    PlanBuilder(uint32_t rankCount,
                uint32_t workerCount,
                ChunkLayout layout,
                Collective collective = {});

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
    OperationId AddJoin(uint32_t rank);

    /// A group of ranks, ascending, whose data the network aggregates. \param protocol the same for
    /// all groups of a plan \returns its number
    uint32_t AddAggregationGroup(std::vector<uint32_t> ranks,
                                 AggregationProtocol protocol,
                                 GroupFlow flow = {});

    /// One operation for each rank of a group. \returns the first id; the others follow
    OperationId AddAggregate(uint32_t group, uint32_t firstChunk, uint32_t chunkCount);

    /// Operations and edges that it may have, each, from now on: at most 2^32-1, as at first.
    void SetLimit(size_t limit);

    /// As of Plan, of an aggregation that was added.
    bool WritesByAggregation(const Operation& operation) const
    {
        return m_plan.WritesByAggregation(operation);
    }

    /// What was added so far, by id.
    OperationRange GetOperations() const
    {
        return m_plan.GetOperations();
    }

    /// Adds an operation of another plan that moves data or joins.
    OperationId AddLike(const Operation& operation);

    /// \param kind Encode, Decode or Compute; \param picoseconds how long it takes; \param
    /// processor of the rank, which does one thing at a time
    OperationId AddCompute(OperationKind kind,
                           uint32_t rank,
                           uint64_t picoseconds,
                           uint32_t processor = 0);

    /// A message that moves no chunk.
    OperationId AddSignal(uint32_t src, uint32_t dst, uint32_t bytes, uint32_t stream = 0);

    /// A worker computes its gradient.
    OperationId AddTrain(uint32_t worker);

    /**
     * The gate of the plan.
     * \param quorum answers that are enough, at least 1
     * \param timeoutPicoseconds from the beginning of the exchange, positive
     */
    OperationId AddGate(uint32_t rank, uint32_t quorum, uint64_t timeoutPicoseconds);

    /// The gate waits for what `worker` contributes, which `operation` ends.
    void AddAnswer(OperationId operation, uint32_t worker);

    /// Gives a transfer a message of another size than its chunks. All others keep theirs.
    void SetMessageBytes(OperationId transfer, uint64_t bytes);

    /// A sparse codec selects from every sum again before it is sent (Ok-Topk), where others send
    /// unions. Nothing changes without such a codec.
    void SetSelectsSums();

    /// See Plan::SharesExponents.
    void SetSharesExponents();

    /// `later` starts only when `earlier` is done.
    void AddEdge(OperationId earlier, OperationId later);

    /**
     * Freezes the plan; the builder is empty afterwards.
     * \param copies of all that was added: in much less time than it takes to add them
     * \throws std::logic_error when an operation names a rank or chunk out of range, moves no
     * chunk, moves a buffer of a rank onto itself, when a group is not ascending, has one rank or
     * not its root,
     * when the collective does not fit, when an edge names an unknown operation or the edges form a
     * cycle, be it through the operations of an aggregation, which wait for each other, or when
     * there is a second gate, one without answers, or answers without a gate; also when there are
     * copies of anything but joins and moves of the size of their chunks
     * \throws std::length_error when there are more edges than the limit (Add: more operations)
     */
    Plan Build(const PlanCopies& copies = {});

  private:
    /// Operations [first, end).
    struct Stretch
    {
        size_t first;
        size_t end;
        bool areMoves;
    };

    OperationId Add(const Operation& operation);
    bool IsFaultless(const Operation& operation) const;
    void CheckOperations() const;
    void CheckGroups() const;
    std::vector<Stretch> FindStretches(uint32_t farthest);
    void CopyOperations(const PlanCopies& copies);
    void TakeEdges();
    void CheckAcyclic() const;
    void CheckGate() const;

    void FinishMessageBytes();

    static constexpr size_t MAX_INDEX = UINT32_MAX;

    size_t m_limit{MAX_INDEX};
    Plan m_plan;
    std::map<uint64_t, uint32_t> m_durations; //!< picoseconds -> number in the plan
    std::vector<std::pair<OperationId, uint64_t>> m_messageBytes;
    PackedRows<2> m_edges;   //!< earlier and later operation
    bool m_hasFaults{false}; //!< CheckOperations has something to name
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_BUILDER_H
