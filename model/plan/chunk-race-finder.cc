// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/chunk-race-finder.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t NO_NODE = std::numeric_limits<uint32_t>::max();

} // namespace

ChunkRaceFinder::ChunkRaceFinder(const Plan& plan, const ChunkTransfers& transfers)
    : m_plan(plan),
      m_transfers(transfers)
{
    const auto operations = plan.GetOperations();
    for (OperationId id = 0; id < operations.size(); ++id)
    {
        if (operations[id].IsMove())
        {
            continue;
        }
        m_hasJoins = true;
        for (const auto successor : plan.GetSuccessors(id))
        {
            if (!operations[successor].IsMove())
            {
                m_joinEdges.emplace(id, successor);
            }
        }
    }
    if (m_hasJoins)
    {
        GetGraph(); // while there is little else: it takes twice its room to make it
    }
    m_nodeOf.resize(operations.size(), NO_NODE);
}

const PlanGraph&
ChunkRaceFinder::GetGraph()
{
    return m_graph ? *m_graph : m_graph.emplace(m_plan);
}

std::vector<ChunkRace>
ChunkRaceFinder::Find(uint32_t chunk, size_t limit)
{
    m_races.clear();
    m_limit = limit;
    const auto transfers = m_transfers.Get(chunk);
    for (uint32_t node = 0; node < transfers.size(); ++node)
    {
        m_nodeOf[transfers[node]] = node;
    }
    CollectAccesses(chunk);
    for (uint32_t source = 0; source < transfers.size() && m_races.size() < limit; source += BLOCK)
    {
        PropagateBlock(chunk, source);
        CheckRuns(chunk, source);
    }
    for (const auto id : transfers)
    {
        m_nodeOf[id] = NO_NODE;
    }
    return m_races;
}

void
ChunkRaceFinder::CollectAccesses(uint32_t chunk)
{
    const auto transfers = m_transfers.Get(chunk);
    m_accesses.clear();
    for (uint32_t node = 0; node < transfers.size(); ++node)
    {
        const auto& operation = m_plan.GetOperations()[transfers[node]];
        const bool isCopy = operation.kind != OperationKind::TransferReduce;
        const auto buffers = m_plan.GetBufferCount();
        const bool gives = !operation.IsAggregate() || m_plan.GivesToAggregation(operation);
        const bool isWritten = !operation.IsAggregate() || m_plan.WritesByAggregation(operation);
        if (gives)
        {
            m_accesses.push_back(
                {operation.src * buffers + operation.buffers.src, node, Access::Kind::Read});
        }
        if (isWritten)
        {
            m_accesses.push_back({operation.dst * buffers + operation.buffers.dst,
                                  node,
                                  isCopy ? Access::Kind::Copy : Access::Kind::Reduce});
        }
    }
    std::stable_sort(m_accesses.begin(), m_accesses.end(), [](const Access& a, const Access& b) {
        return a.place < b.place;
    });
}

void
ChunkRaceFinder::PropagateBlock(uint32_t chunk, uint32_t firstSource)
{
    const auto transfers = m_transfers.Get(chunk);
    const auto sources = std::min(BLOCK, static_cast<uint32_t>(transfers.size()) - firstSource);
    m_firstJoin = static_cast<uint32_t>(transfers.size());
    m_rowWords = (sources + 63) / 64;
    m_rows.assign(transfers.size() * m_rowWords, 0);
    for (uint32_t node = 0; node < transfers.size(); ++node)
    {
        if (m_hasJoins)
        {
            VisitJoins(GetGraph().GetPosition(transfers[node]));
        }
        PropagateTransfer(transfers[node], node, firstSource);
    }
    for (const auto join : m_entered)
    {
        m_nodeOf[join] = NO_NODE;
    }
    m_entered.clear();
    m_openJoins.clear();
}

/// Joins and transfers are visited together in topological order, so that a row is complete when it
/// is passed on.
void
ChunkRaceFinder::VisitJoins(uint32_t beforePosition)
{
    while (!m_openJoins.empty() && m_openJoins.front().first < beforePosition)
    {
        std::pop_heap(m_openJoins.begin(), m_openJoins.end(), std::greater<>());
        const auto join = m_openJoins.back().second;
        m_openJoins.pop_back();
        const auto [begin, end] = m_joinEdges.equal_range(join);
        for (auto edge = begin; edge != end; ++edge)
        {
            MergeRow(m_nodeOf[join], EnterJoin(edge->second));
        }
    }
}

void
ChunkRaceFinder::PropagateTransfer(OperationId id, uint32_t node, uint32_t firstSource)
{
    // A row holds what lies before a node, and the node itself, so that it can be passed on as it
    // is. No check asks whether a node precedes itself. A join does not pass its own on to
    // transfers, which may be all of the plan: those of the chunk fetch it.
    if (m_hasJoins)
    {
        for (const auto predecessor : GetGraph().GetPredecessors(id))
        {
            const auto before = m_nodeOf[predecessor];
            if (before != NO_NODE && before >= m_firstJoin)
            {
                MergeRow(before, node);
            }
        }
    }
    if (node >= firstSource && node - firstSource < BLOCK)
    {
        const uint32_t bit = node - firstSource;
        m_rows[size_t{node} * m_rowWords + bit / 64] |= uint64_t{1} << (bit % 64);
    }
    for (const auto successor : m_plan.GetSuccessors(id))
    {
        if (m_nodeOf[successor] != NO_NODE)
        {
            MergeRow(node, m_nodeOf[successor]);
        }
        else if (m_hasJoins && !m_plan.GetOperations()[successor].IsMove())
        {
            MergeRow(node, EnterJoin(successor));
        }
    }
}

uint32_t
ChunkRaceFinder::EnterJoin(OperationId join)
{
    if (m_nodeOf[join] == NO_NODE)
    {
        m_nodeOf[join] = static_cast<uint32_t>(m_rows.size() / m_rowWords);
        m_rows.resize(m_rows.size() + m_rowWords, 0);
        m_entered.push_back(join);
        m_openJoins.emplace_back(GetGraph().GetPosition(join), join);
        std::push_heap(m_openJoins.begin(), m_openJoins.end(), std::greater<>());
    }
    return m_nodeOf[join];
}

void
ChunkRaceFinder::MergeRow(uint32_t from, uint32_t into)
{
    const uint64_t* source = m_rows.data() + size_t{from} * m_rowWords;
    uint64_t* target = m_rows.data() + size_t{into} * m_rowWords;
    for (uint32_t word = 0; word < m_rowWords; ++word)
    {
        target[word] |= source[word];
    }
}

void
ChunkRaceFinder::CheckRuns(uint32_t chunk, uint32_t firstSource)
{
    const auto isSameRun = [](const Access& a, const Access& b) {
        return a.place == b.place && a.kind == b.kind && a.kind != Access::Kind::Copy;
    };
    const std::span<const Access> all(m_accesses);
    std::span<const Access> previous;
    for (size_t begin = 0; begin < all.size() && m_races.size() < m_limit;)
    {
        size_t end = begin + 1;
        while (end < all.size() && isSameRun(all[begin], all[end]))
        {
            ++end;
        }
        const auto run = all.subspan(begin, end - begin);
        if (!previous.empty() && previous.front().place == run.front().place)
        {
            CheckPair(previous, run, chunk, firstSource);
        }
        previous = run;
        begin = end;
    }
}

void
ChunkRaceFinder::CheckPair(std::span<const Access> earlier,
                           std::span<const Access> later,
                           uint32_t chunk,
                           uint32_t firstSource)
{
    std::vector<uint64_t> wanted(m_rowWords, 0);
    for (const auto& access : earlier)
    {
        if (access.node >= firstSource && access.node - firstSource < BLOCK)
        {
            const uint32_t bit = access.node - firstSource;
            wanted[bit / 64] |= uint64_t{1} << (bit % 64);
        }
    }
    const auto transfers = m_transfers.Get(chunk);
    for (const auto& access : later)
    {
        const uint64_t* row = m_rows.data() + size_t{access.node} * m_rowWords;
        std::vector<OperationId> missing;
        for (uint32_t word = 0; word < m_rowWords; ++word)
        {
            for (uint64_t left = wanted[word] & ~row[word]; left != 0; left &= left - 1)
            {
                missing.push_back(transfers[firstSource + word * 64 + std::countr_zero(left)]);
            }
        }
        if (missing.empty())
        {
            continue;
        }
        // Perhaps a path through transfers of other chunks orders them.
        const auto unordered = GetGraph().FindUnordered(missing, transfers[access.node]);
        if (!unordered.empty())
        {
            const auto buffers = m_plan.GetBufferCount();
            m_races.push_back({access.place / buffers,
                               access.place % buffers,
                               chunk,
                               unordered.front(),
                               transfers[access.node]});
            if (m_races.size() >= m_limit)
            {
                return;
            }
        }
    }
}

} // namespace ns3::gradsync
