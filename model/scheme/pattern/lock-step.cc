// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/lock-step.h"

#include <utility>

namespace ns3::gradsync
{

LockStep::LockStep(PlanBuilder& builder, uint32_t ranks)
    : m_builder(builder),
      m_before(ranks),
      m_joins(ranks)
{
}

void
LockStep::Begin()
{
    std::swap(m_before, m_joins);
    ++m_step;
    for (uint32_t rank = 0; rank < m_joins.size(); ++rank)
    {
        m_joins[rank] = m_builder.AddJoin(rank);
        if (m_step > 1)
        {
            m_builder.AddEdge(m_before[rank], m_joins[rank]);
        }
    }
}

void
LockStep::AddCopy(uint32_t src, uint32_t dst, uint32_t firstChunk, uint32_t chunkCount)
{
    const auto copy = m_builder.AddCopy(src, dst, firstChunk, chunkCount);
    m_builder.AddEdge(copy, m_joins[src]);
    m_builder.AddEdge(copy, m_joins[dst]);
    if (m_step > 1)
    {
        m_builder.AddEdge(m_before[src], copy);
    }
}

} // namespace ns3::gradsync
