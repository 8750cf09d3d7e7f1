// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/dataflow-builder.h"

#include <algorithm>

namespace ns3::gradsync
{

DataflowBuilder::DataflowBuilder(uint32_t rankCount,
                                 uint32_t workerCount,
                                 const ChunkLayout& layout)
    : m_builder(rankCount, workerCount, layout),
      m_rankCount(rankCount),
      m_chunkCount(layout.GetChunkCount()),
      m_places(size_t{rankCount} * m_chunkCount)
{
}

void
DataflowBuilder::AddReduce(uint32_t src,
                           uint32_t dst,
                           uint32_t firstChunk,
                           uint32_t chunkCount,
                           uint32_t stream)
{
    AddTransfer(AccessKind::Reduce,
                {OperationKind::TransferReduce, src, dst, firstChunk, chunkCount, stream});
}

void
DataflowBuilder::AddCopy(uint32_t src,
                         uint32_t dst,
                         uint32_t firstChunk,
                         uint32_t chunkCount,
                         uint32_t stream)
{
    AddTransfer(AccessKind::Copy,
                {OperationKind::TransferCopy, src, dst, firstChunk, chunkCount, stream});
}

void
DataflowBuilder::AddTransfer(AccessKind kind, const Operation& transfer)
{
    const auto [operation, src, dst, firstChunk, chunkCount, stream] = transfer;
    // Build reports these with their numbers; here they only must not lead out of m_places.
    const bool isInRange =
        std::max(src, dst) < m_rankCount && uint64_t{firstChunk} + chunkCount <= m_chunkCount;
    const auto id = operation == OperationKind::TransferReduce
                        ? m_builder.AddReduce(src, dst, firstChunk, chunkCount, stream)
                        : m_builder.AddCopy(src, dst, firstChunk, chunkCount, stream);
    m_stage.push_back(id);
    m_ordered = false;
    for (uint32_t chunk = firstChunk; isInRange && chunk < firstChunk + chunkCount; ++chunk)
    {
        Access(src, chunk, AccessKind::Read, id);
        Access(dst, chunk, kind, id);
    }
    if (m_barrier && !m_ordered)
    {
        m_builder.AddEdge(*m_barrier, id);
    }
}

void
DataflowBuilder::Access(uint32_t rank, uint32_t chunk, AccessKind kind, OperationId id)
{
    auto& place = m_places[size_t{rank} * m_chunkCount + chunk];
    const bool conflicts = kind != place.kind || kind == AccessKind::Copy;
    if (conflicts && place.run != NONE)
    {
        place.before = JoinRun(place.run, rank);
        place.run = NONE;
    }
    place.kind = kind;
    if (place.before != NONE)
    {
        m_builder.AddEdge(place.before, id);
        m_ordered = true;
    }
    m_nodes.push_back({id, place.run});
    place.run = static_cast<uint32_t>(m_nodes.size() - 1);
}

OperationId
DataflowBuilder::JoinRun(uint32_t run, uint32_t rank)
{
    if (m_nodes[run].next == NONE)
    {
        return m_nodes[run].operation;
    }
    // One join in place of an edge from each to each.
    const auto join = m_builder.AddJoin(rank);
    for (uint32_t node = run; node != NONE; node = m_nodes[node].next)
    {
        m_builder.AddEdge(m_nodes[node].operation, join);
    }
    return join;
}

void
DataflowBuilder::AddBarrier()
{
    if (m_stage.empty())
    {
        return;
    }
    const auto barrier = m_builder.AddJoin(0);
    for (const auto id : m_stage)
    {
        m_builder.AddEdge(id, barrier);
    }
    m_barrier = barrier;
    m_stage.clear();
    m_places.assign(m_places.size(), Place());
    m_nodes.clear();
}

Plan
DataflowBuilder::Build()
{
    m_barrier.reset();
    m_stage.clear();
    m_places.clear();
    m_nodes.clear();
    return m_builder.Build();
}

} // namespace ns3::gradsync
