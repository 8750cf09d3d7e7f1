// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CHUNK_RACE_FINDER_H
#define GRADSYNC_CHUNK_RACE_FINDER_H

#include "ns3/plan-graph.h"
#include "ns3/plan-order.h"
#include "ns3/plan.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// Two moves that touch one chunk in one buffer of one rank in a way that depends on which comes
/// first.
struct ChunkRace
{
    uint32_t rank;
    uint32_t buffer;
    uint32_t chunk;
    OperationId first;  //!< the one that comes first in the order of SortTopologically
    OperationId second; //!< no path of edges leads from first to second
};

/**
 * Finds the races of a plan, chunk by chunk: pairs of accesses to the same chunk in the same
 * buffer of the same rank that conflict and that no path of edges orders. Sound and complete;
 * doc/plan.rst gives the argument.
 *
 * A transfer reads its chunk at `src` when it starts and writes it at `dst` when it is done. Reads
 * do not conflict with reads, nor reduces with reduces (addition commutes); everything else
 * conflicts.
 *
 * In a topological order, the accesses to one place fall into runs that do not conflict inside. The
 * place is free of races if and only if every member of a run is ordered before every member of the
 * next one. Paths that use only transfers of the same chunk and joins are found by bit sets, for
 * all pairs at once; only pairs without such a path are searched for in the whole plan. A PlanGraph
 * is made of plans with joins, and for the first such pair.
 */
class ChunkRaceFinder
{
  public:
    /// Both must outlive the finder.
    ChunkRaceFinder(const Plan& plan, const ChunkTransfers& transfers);

    /// At most `limit` races on a chunk; at most one for a pair of runs and a later transfer.
    std::vector<ChunkRace> Find(uint32_t chunk, size_t limit);

  private:
    /// Sources that one pass of the bit sets covers: bounds memory to 512 bytes a transfer of the
    /// chunk.
    static constexpr uint32_t BLOCK = 4096;

    /// What a move does to the chunk at one place.
    struct Access
    {
        uint32_t place; //!< rank * buffers + buffer
        uint32_t node;  //!< index of the transfer among those of the chunk
        enum class Kind : uint8_t
        {
            Read,
            Reduce,
            Copy
        } kind;
    };

    const PlanGraph& GetGraph();
    void VisitJoins(uint32_t beforePosition);
    void CollectAccesses(uint32_t chunk);
    void PropagateBlock(uint32_t chunk, uint32_t firstSource);
    void PropagateTransfer(OperationId id, uint32_t node, uint32_t firstSource);
    uint32_t EnterJoin(OperationId join);
    void MergeRow(uint32_t from, uint32_t into);
    void CheckRuns(uint32_t chunk, uint32_t firstSource);
    void CheckPair(std::span<const Access> earlier,
                   std::span<const Access> later,
                   uint32_t chunk,
                   uint32_t firstSource);

    const Plan& m_plan;
    const ChunkTransfers& m_transfers;
    std::optional<PlanGraph> m_graph; //!< nothing before somebody asks for it
    bool m_hasJoins{false};
    std::multimap<OperationId, OperationId> m_joinEdges; //!< join -> join
    std::vector<uint32_t> m_nodeOf;     //!< [operation] -> node in the current chunk, or none
    std::vector<OperationId> m_entered; //!< joins that are nodes of the current pass
    std::vector<std::pair<uint32_t, OperationId>> m_openJoins; //!< heap by position
    std::vector<uint64_t> m_rows; //!< [node * m_rowWords ..]: sources of this block before the node
    uint32_t m_rowWords{0};
    uint32_t m_firstJoin{0};        //!< nodes from here on are joins
    std::vector<Access> m_accesses; //!< by place, then in topological order
    std::vector<ChunkRace> m_races;
    size_t m_limit{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_CHUNK_RACE_FINDER_H
