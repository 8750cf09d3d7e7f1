// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan.h"

namespace ns3::gradsync
{

static_assert(sizeof(Operation) == 24, "a plan holds millions of operations");

const char*
ToString(OperationKind kind)
{
    switch (kind)
    {
    case OperationKind::TransferReduce:
        return "reduce";
    case OperationKind::TransferCopy:
        return "copy";
    case OperationKind::Encode:
        return "encode";
    case OperationKind::Decode:
        return "decode";
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

uint64_t
Plan::GetMemoryBytes() const
{
    return m_layout.GetMemoryBytes() + m_collective.GetMemoryBytes() +
           m_operations.capacity() * sizeof(Operation) +
           m_successorOffsets.capacity() * sizeof(uint32_t) +
           m_successors.capacity() * sizeof(OperationId) +
           m_predecessorCounts.capacity() * sizeof(uint32_t) +
           (m_messageBytes.capacity() + m_durations.capacity()) * sizeof(uint64_t) +
           (m_gate ? m_gate->answers.capacity() * sizeof(PlanGate::Answer) : 0);
}

} // namespace ns3::gradsync
