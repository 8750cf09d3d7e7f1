// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-builder.h"

#include "ns3/aggregation-gate.h"
#include "ns3/edge-sorter.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <stdexcept>

namespace ns3::gradsync
{

PlanBuilder::PlanBuilder(uint32_t rankCount,
                         uint32_t workerCount,
                         ChunkLayout layout,
                         Collective collective)
{
    if (workerCount > rankCount)
    {
        throw std::logic_error(
            fmt::format("plan: {} workers among {} ranks", workerCount, rankCount));
    }
    m_plan.m_rankCount = rankCount;
    m_plan.m_workerCount = workerCount;
    m_plan.m_layout = std::move(layout);
    m_plan.m_collective = std::move(collective);
}

void
PlanBuilder::SetLimit(size_t limit)
{
    m_limit = std::min(limit, MAX_INDEX);
}

OperationId
PlanBuilder::Add(const Operation& operation)
{
    if (m_plan.m_operations.GetSize() >= m_limit)
    {
        throw std::length_error(fmt::format("plan: more than {} operations", m_limit));
    }
    m_hasFaults = m_hasFaults || !IsFaultless(operation);
    const uint32_t lastBuffer = std::max(operation.buffers.src, operation.buffers.dst);
    m_plan.m_bufferCount = std::max(m_plan.m_bufferCount, lastBuffer + 1);
    m_plan.m_operations.Append(operation);
    return static_cast<OperationId>(m_plan.m_operations.GetSize() - 1);
}

OperationId
PlanBuilder::AddReduce(uint32_t src,
                       uint32_t dst,
                       uint32_t firstChunk,
                       uint32_t chunkCount,
                       uint32_t stream,
                       BufferPair buffers)
{
    return Add({OperationKind::TransferReduce, buffers, src, dst, firstChunk, chunkCount, stream});
}

OperationId
PlanBuilder::AddCopy(uint32_t src,
                     uint32_t dst,
                     uint32_t firstChunk,
                     uint32_t chunkCount,
                     uint32_t stream,
                     BufferPair buffers)
{
    return Add({OperationKind::TransferCopy, buffers, src, dst, firstChunk, chunkCount, stream});
}

OperationId
PlanBuilder::AddJoin(uint32_t rank)
{
    return Add({OperationKind::Join, {}, rank, rank, 0, 0, 0});
}

uint32_t
PlanBuilder::AddAggregationGroup(std::vector<uint32_t> ranks,
                                 AggregationProtocol protocol,
                                 GroupFlow flow)
{
    m_plan.m_aggregationProtocol = std::move(protocol);
    m_plan.m_aggregationFlows.push_back(flow);
    m_plan.m_aggregationGroups.push_back(std::move(ranks));
    return static_cast<uint32_t>(m_plan.m_aggregationGroups.size() - 1);
}

OperationId
PlanBuilder::AddAggregate(uint32_t group, uint32_t firstChunk, uint32_t chunkCount)
{
    const auto first = static_cast<OperationId>(m_plan.m_operations.GetSize());
    for (const auto rank : m_plan.m_aggregationGroups.at(group))
    {
        Add({OperationKind::Aggregate, {}, rank, rank, firstChunk, chunkCount, group});
    }
    return first;
}

OperationId
PlanBuilder::AddLike(const Operation& operation)
{
    return Add(operation);
}

OperationId
PlanBuilder::AddCompute(OperationKind kind, uint32_t rank, uint64_t picoseconds, uint32_t processor)
{
    const auto [entry, isNew] =
        m_durations.try_emplace(picoseconds, static_cast<uint32_t>(m_durations.size()));
    if (isNew)
    {
        m_plan.m_durations.push_back(picoseconds);
    }
    return Add({kind, {}, rank, rank, processor, 0, entry->second});
}

OperationId
PlanBuilder::AddSignal(uint32_t src, uint32_t dst, uint32_t bytes, uint32_t stream)
{
    return Add({OperationKind::Signal, {}, src, dst, bytes, 0, stream});
}

OperationId
PlanBuilder::AddTrain(uint32_t worker)
{
    return Add({OperationKind::Train, {}, worker, worker, 0, 0, 0});
}

OperationId
PlanBuilder::AddGate(uint32_t rank, uint32_t quorum, uint64_t timeoutPicoseconds)
{
    if (m_plan.m_gate)
    {
        throw std::logic_error("plan: a second gate");
    }
    const auto id = Add({OperationKind::Gate, {}, rank, rank, 0, 0, 0});
    m_plan.m_gate = PlanGate{id, quorum, timeoutPicoseconds, {}};
    return id;
}

void
PlanBuilder::AddAnswer(OperationId operation, uint32_t worker)
{
    if (!m_plan.m_gate)
    {
        throw std::logic_error("plan: an answer without a gate");
    }
    m_plan.m_gate->answers.push_back({operation, worker});
    AddEdge(operation, m_plan.m_gate->operation);
}

void
PlanBuilder::CheckGate() const
{
    const auto& gate = m_plan.m_gate;
    if (gate &&
        (gate->quorum == 0 || gate->quorum > gate->answers.size() || gate->timeoutPicoseconds == 0))
    {
        throw std::logic_error(
            fmt::format("plan: a gate that {} of {} answers open, after {} ps at the latest",
                        gate->quorum,
                        gate->answers.size(),
                        gate->timeoutPicoseconds));
    }
}

void
PlanBuilder::SetMessageBytes(OperationId transfer, uint64_t bytes)
{
    m_messageBytes.emplace_back(transfer, bytes);
}

void
PlanBuilder::FinishMessageBytes()
{
    if (m_messageBytes.empty())
    {
        return;
    }
    std::vector<uint64_t> bytes(m_plan.m_operations.GetSize(), 0);
    for (OperationId id = 0; id < bytes.size(); ++id)
    {
        const auto operation = m_plan.m_operations.MakeItem(id);
        const bool isMessage = operation.IsMove() || operation.kind == OperationKind::Signal;
        bytes[id] = isMessage ? m_plan.GetBytes(id) : 0;
    }
    for (const auto& [id, size] : m_messageBytes)
    {
        bytes.at(id) = size;
    }
    m_plan.m_messageBytes = std::move(bytes);
    m_plan.m_isCompressed = true;
    m_messageBytes.clear();
}

void
PlanBuilder::SetSelectsSums()
{
    m_plan.m_selectsSums = true;
}

void
PlanBuilder::SetSharesExponents()
{
    m_plan.m_sharesExponents = true;
}

void
PlanBuilder::AddEdge(OperationId earlier, OperationId later)
{
    m_edges.Append({earlier, later});
}

/// Rows of operations that all move chunks, or none of which does. \throws std::logic_error
std::vector<PlanBuilder::Stretch>
PlanBuilder::FindStretches(uint32_t farthest)
{
    std::vector<Stretch> stretches;
    bool mayBeCopied = m_messageBytes.empty();
    const auto visit = [&](size_t id, Operation operation) {
        const bool isMove = operation.IsMove();
        mayBeCopied = mayBeCopied && (isMove || operation.kind == OperationKind::Join);
        if (stretches.empty() || stretches.back().areMoves != isMove)
        {
            stretches.push_back({id, id, isMove});
        }
        stretches.back().end = id + 1;
        operation.firstChunk += farthest;
        m_hasFaults = m_hasFaults || !IsFaultless(operation);
    };
    m_plan.m_operations.ForEachItem(0, m_plan.m_operations.GetSize(), visit);
    if (!mayBeCopied)
    {
        throw std::logic_error("plan: copies of what is neither a join nor a move of the size of "
                               "its chunks");
    }
    return stretches;
}

/// The operations; TakeEdges copies the edges.
void
PlanBuilder::CopyOperations(const PlanCopies& copies)
{
    auto& operations = m_plan.m_operations;
    const auto most = std::max(operations.GetSize(), m_edges.GetSize());
    if (copies.count == 0 || most > m_limit / copies.count)
    {
        throw std::length_error(fmt::format("plan: {} times {} operations or edges, more than {}",
                                            copies.count,
                                            most,
                                            m_limit));
    }
    const auto farthest = uint64_t{copies.count - 1} * copies.chunks;
    if (farthest > m_plan.m_layout.GetChunkCount()) // sums of chunks stay below 2^32, too
    {
        throw std::logic_error(fmt::format("plan: copies move chunks {} further, but there are {}",
                                           farthest,
                                           m_plan.m_layout.GetChunkCount()));
    }
    const auto stretches = FindStretches(static_cast<uint32_t>(farthest));
    for (uint32_t copy = 1; copy < copies.count; ++copy)
    {
        for (const auto& [first, end, areMoves] : stretches)
        {
            operations.AppendAgain(first, end, areMoves ? copy * copies.chunks : 0);
        }
    }
}

Plan
PlanBuilder::Build(const PlanCopies& copies)
{
    if (copies.count != 1)
    {
        CopyOperations(copies);
    }
    CheckOperations();
    CheckGate();
    m_plan.m_copies = copies;
    TakeEdges();
    FinishMessageBytes();
    m_durations.clear();
    m_hasFaults = false;
    m_plan.m_operations.Trim();
    return std::exchange(m_plan, Plan());
}

void
PlanBuilder::CheckGroups() const
{
    for (size_t i = 0; i < m_plan.m_aggregationGroups.size(); ++i)
    {
        const auto& group = m_plan.m_aggregationGroups[i];
        if (group.size() < 2 ||
            std::adjacent_find(group.begin(), group.end(), std::greater_equal<>()) != group.end())
        {
            throw std::logic_error("plan: the ranks of an aggregation must be at least two, and "
                                   "ascending");
        }
        const auto& [flow, root] = m_plan.m_aggregationFlows[i];
        if (flow != AggregationFlow::AllReduce && !std::ranges::binary_search(group, root))
        {
            throw std::logic_error(
                fmt::format("plan: rank {} is the root of an aggregation of which it is no rank",
                            root));
        }
    }
}

/// What CheckOperations names at the end, where not.
bool
PlanBuilder::IsFaultless(const Operation& operation) const
{
    if (std::max(operation.src, operation.dst) >= m_plan.m_rankCount)
    {
        return false;
    }
    if (!operation.IsMove())
    {
        return operation.kind != OperationKind::Signal || operation.IsTransfer();
    }
    const uint64_t end = uint64_t{operation.firstChunk} + operation.chunkCount;
    return (operation.IsTransfer() || operation.buffers.src != operation.buffers.dst) &&
           operation.chunkCount > 0 && end <= m_plan.m_layout.GetChunkCount();
}

void
PlanBuilder::CheckOperations() const
{
    CheckGroups();
    const uint32_t chunks = m_plan.m_layout.GetChunkCount();
    if (!m_plan.m_collective.Fits(m_plan.m_workerCount, chunks))
    {
        throw std::logic_error(
            fmt::format("plan: the sources and targets of {} do not fit {} workers and {} chunks",
                        m_plan.m_collective.GetTitle(),
                        m_plan.m_workerCount,
                        chunks));
    }
    for (size_t id = 0; m_hasFaults && id < m_plan.m_operations.GetSize(); ++id)
    {
        const auto operation = m_plan.m_operations.MakeItem(id);
        if (std::max(operation.src, operation.dst) >= m_plan.m_rankCount)
        {
            throw std::logic_error(
                fmt::format("plan: operation {} from rank {} to rank {}, but there are {} ranks",
                            id,
                            operation.src,
                            operation.dst,
                            m_plan.m_rankCount));
        }
        if (operation.kind == OperationKind::Signal && !operation.IsTransfer())
        {
            throw std::logic_error(
                fmt::format("plan: operation {} sends from rank {} to itself", id, operation.src));
        }
        if (!operation.IsMove())
        {
            continue;
        }
        if (!operation.IsTransfer() && operation.buffers.src == operation.buffers.dst)
        {
            throw std::logic_error(
                fmt::format("plan: operation {} sends from rank {} to itself", id, operation.src));
        }
        const uint64_t end = uint64_t{operation.firstChunk} + operation.chunkCount;
        if (operation.chunkCount == 0 || end > chunks)
        {
            throw std::logic_error(
                fmt::format("plan: operation {} moves {} chunks from chunk {}, but there are {}",
                            id,
                            operation.chunkCount,
                            operation.firstChunk,
                            chunks));
        }
    }
}

void
PlanBuilder::TakeEdges()
{
    if (m_edges.GetSize() > m_limit)
    {
        throw std::length_error(fmt::format("plan: more than {} edges", m_limit));
    }
    auto sorted = SortEdges(m_edges, m_plan.GetCopySize(), m_plan.m_copies.count);
    m_edges = {};
    m_plan.m_successorOffsets = std::move(sorted.offsets);
    m_plan.m_successors = std::move(sorted.successors);
    m_plan.m_predecessors = std::move(sorted.predecessors);
    m_plan.m_isForward = sorted.areForward;
    if (!sorted.areForward || m_plan.HasAggregations())
    {
        CheckAcyclic();
    }
}

/// Passes all in ascending order. What had to wait when its turn came is passed as soon as it need
/// not.
void
PlanBuilder::CheckAcyclic() const
{
    const auto count = m_plan.GetCopySize();
    auto waitsFor = m_plan.CountPredecessors();
    std::vector<OperationId> ready;
    AggregationGate gate(m_plan);
    const auto append = [&ready](OperationId id) { ready.push_back(id); };
    size_t done = 0;
    OperationId turn = 0;
    const auto pass = [&](const auto& successors) {
        ++done;
        for (const OperationId successor : successors)
        {
            if (--waitsFor[successor] == 0 && successor <= turn)
            {
                gate.Reach(successor, append);
            }
        }
    };
    const auto visit = [&](OperationId id, const Operation&, const auto& successors) {
        turn = id;
        if (waitsFor[id] == 0)
        {
            gate.Reach(id, append);
        }
        while (!ready.empty())
        {
            const auto next = ready.back();
            ready.pop_back();
            next == id ? pass(successors) : pass(m_plan.GetSuccessors(next));
        }
    };
    m_plan.ForEachWithSuccessors(count, visit);
    if (done != count)
    {
        const auto stuck =
            std::find_if(waitsFor.begin(), waitsFor.end(), [](auto n) { return n > 0; });
        throw std::logic_error(fmt::format("plan: a cycle of edges keeps {} operations from "
                                           "starting, among them operation {}",
                                           (count - done) * m_plan.m_copies.count,
                                           stuck - waitsFor.begin()));
    }
}

} // namespace ns3::gradsync
