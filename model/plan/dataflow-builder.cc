// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/dataflow-builder.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

DataflowBuilder::DataflowBuilder(uint32_t rankCount,
                                 uint32_t workerCount,
                                 const ChunkLayout& layout,
                                 Collective collective,
                                 uint32_t bufferCount)
    : m_builder(rankCount, workerCount, layout, std::move(collective)),
      m_rankCount(rankCount),
      m_bufferCount(bufferCount),
      m_chunkCount(layout.GetChunkCount()),
      m_places(size_t{rankCount} * bufferCount * m_chunkCount)
{
}

OperationId
DataflowBuilder::AddReduce(uint32_t src,
                           uint32_t dst,
                           uint32_t firstChunk,
                           uint32_t chunkCount,
                           uint32_t stream,
                           BufferPair buffers)
{
    return AddMove(
        AccessKind::Reduce,
        {OperationKind::TransferReduce, buffers, src, dst, firstChunk, chunkCount, stream});
}

OperationId
DataflowBuilder::AddCopy(uint32_t src,
                         uint32_t dst,
                         uint32_t firstChunk,
                         uint32_t chunkCount,
                         uint32_t stream,
                         BufferPair buffers)
{
    return AddMove(
        AccessKind::Copy,
        {OperationKind::TransferCopy, buffers, src, dst, firstChunk, chunkCount, stream});
}

OperationId
DataflowBuilder::AddMove(AccessKind kind, const Operation& move)
{
    const auto [operation, buffers, src, dst, firstChunk, chunkCount, stream] = move;
    // Build reports these with their numbers; here they only must not lead out of m_places.
    const bool isInRange =
        std::max(src, dst) < m_rankCount && uint64_t{firstChunk} + chunkCount <= m_chunkCount;
    if (std::max(buffers.src, buffers.dst) >= m_bufferCount)
    {
        throw std::logic_error("plan: a move names a buffer that was not announced");
    }
    const auto id = operation == OperationKind::TransferReduce
                        ? m_builder.AddReduce(src, dst, firstChunk, chunkCount, stream, buffers)
                        : m_builder.AddCopy(src, dst, firstChunk, chunkCount, stream, buffers);
    m_stage.push_back(id);
    m_ordered = false;
    for (uint32_t chunk = firstChunk; isInRange && chunk < firstChunk + chunkCount; ++chunk)
    {
        Access(src, buffers.src, chunk, AccessKind::Read, id);
        Access(dst, buffers.dst, chunk, kind, id);
    }
    if (m_barrier && !m_ordered)
    {
        m_builder.AddEdge(*m_barrier, id);
    }
    return id;
}

uint32_t
DataflowBuilder::AddAggregationGroup(std::vector<uint32_t> ranks,
                                     AggregationProtocol protocol,
                                     GroupFlow flow)
{
    return m_builder.AddAggregationGroup(std::move(ranks), std::move(protocol), flow);
}

OperationId
DataflowBuilder::AddAggregate(uint32_t group, uint32_t firstChunk, uint32_t chunkCount)
{
    const auto first = m_builder.AddAggregate(group, firstChunk, chunkCount);
    const auto end = static_cast<OperationId>(m_builder.GetOperations().size());
    for (auto id = first; id < end; ++id)
    {
        AccessAggregate(id);
    }
    return first;
}

void
DataflowBuilder::AccessAggregate(OperationId id)
{
    const auto operation = m_builder.GetOperations()[id];
    const auto [kind, buffers, rank, dst, firstChunk, chunkCount, group] = operation;
    // One that reads and writes conflicts with all that a copy does.
    const bool isWritten = m_builder.WritesByAggregation(operation);
    const bool isInRange = rank < m_rankCount && uint64_t{firstChunk} + chunkCount <= m_chunkCount;
    m_stage.push_back(id);
    m_ordered = false;
    for (uint32_t chunk = firstChunk; isInRange && chunk < firstChunk + chunkCount; ++chunk)
    {
        Access(rank, buffers.dst, chunk, isWritten ? AccessKind::Copy : AccessKind::Read, id);
    }
    if (m_barrier && !m_ordered)
    {
        m_builder.AddEdge(*m_barrier, id);
    }
}

OperationId
DataflowBuilder::AddJoin(uint32_t rank)
{
    return m_builder.AddJoin(rank);
}

void
DataflowBuilder::AddEdge(OperationId earlier, OperationId later)
{
    m_builder.AddEdge(earlier, later);
}

void
DataflowBuilder::Access(uint32_t rank,
                        uint32_t buffer,
                        uint32_t chunk,
                        AccessKind kind,
                        OperationId id)
{
    auto& place = m_places[(size_t{rank} * m_bufferCount + buffer) * m_chunkCount + chunk];
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
