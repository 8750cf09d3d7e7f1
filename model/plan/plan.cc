// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan.h"

namespace ns3::gradsync
{

static_assert(sizeof(Operation) == 24, "a plan holds millions of operations");

uint64_t
Plan::GetMemoryBytes() const
{
    return m_layout.GetMemoryBytes() + m_collective.GetMemoryBytes() +
           m_operations.capacity() * sizeof(Operation) +
           m_successorOffsets.capacity() * sizeof(uint32_t) +
           m_successors.capacity() * sizeof(OperationId) +
           m_predecessorCounts.capacity() * sizeof(uint32_t) +
           (m_messageBytes.capacity() + m_durations.capacity()) * sizeof(uint64_t);
}

} // namespace ns3::gradsync
