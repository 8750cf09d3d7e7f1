// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan.h"

#include <algorithm>

namespace ns3::gradsync
{

const char*
ToString(OperationKind kind)
{
    switch (kind)
    {
    case OperationKind::TransferReduce:
        return "reduce";
    case OperationKind::TransferCopy:
        return "copy";
    case OperationKind::Aggregate:
        return "aggregate";
    case OperationKind::Encode:
        return "encode";
    case OperationKind::Decode:
        return "decode";
    case OperationKind::Compute:
        return "compute";
    case OperationKind::Signal:
        return "signal";
    case OperationKind::Train:
        return "train";
    case OperationKind::Gate:
        return "gate";
    case OperationKind::Join:
        break;
    }
    return "join";
}

IdRange
Plan::GetMembers(OperationId id) const
{
    const auto operation = m_operations.MakeItem(id);
    if (!operation.IsAggregate())
    {
        return {id, id + 1};
    }
    const auto& group = m_aggregationGroups[operation.stream];
    const auto member = std::lower_bound(group.begin(), group.end(), operation.src) - group.begin();
    const auto first = id - static_cast<OperationId>(member);
    return {first, first + static_cast<OperationId>(group.size())};
}

uint64_t
Plan::GetBytesOfCopies(OperationId id, const Operation& operation) const
{
    if (m_copies.count == 1)
    {
        return GetBytes(id, operation);
    }
    if (operation.chunkCount == m_copies.chunks) // they lie in a row
    {
        return m_layout.GetBytes(operation.firstChunk, operation.chunkCount * m_copies.count);
    }
    uint64_t bytes = 0;
    for (uint32_t copy = 0; copy < m_copies.count; ++copy)
    {
        const auto chunk = operation.firstChunk + copy * m_copies.chunks;
        bytes += m_layout.GetBytes(chunk, operation.chunkCount);
    }
    return bytes;
}

std::vector<uint32_t>
Plan::CountPredecessors() const
{
    std::vector<uint32_t> counts(m_operations.GetSize());
    m_predecessors.ForEachRow(0, counts.size(), [&counts](size_t id, const auto& row) {
        counts[id] = row[0];
    });
    return counts;
}

uint64_t
Plan::GetMemoryBytes() const
{
    uint64_t groupBytes = m_aggregationFlows.capacity() * sizeof(GroupFlow);
    for (const auto& group : m_aggregationGroups)
    {
        groupBytes += sizeof(std::vector<uint32_t>) + group.capacity() * sizeof(uint32_t);
    }
    return groupBytes + m_layout.GetMemoryBytes() + m_collective.GetMemoryBytes() +
           m_operations.GetMemoryBytes() + m_successorOffsets.GetMemoryBytes() +
           m_successors.GetMemoryBytes() + m_predecessors.GetMemoryBytes() +
           (m_messageBytes.capacity() + m_durations.capacity()) * sizeof(uint64_t) +
           m_serverOf.capacity() * sizeof(uint32_t) +
           (m_gate ? m_gate->answers.capacity() * sizeof(PlanGate::Answer) : 0);
}

} // namespace ns3::gradsync
