// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/hypercube-fold.h"

#include <bit>

namespace ns3::gradsync
{

HypercubeFold::HypercubeFold(uint32_t workers)
    : m_dimensions(static_cast<uint32_t>(std::bit_width(workers) - 1)),
      m_folded(workers - std::bit_floor(workers))
{
    m_members.reserve(std::bit_floor(workers));
    for (uint32_t rank = 0; rank < workers; ++rank)
    {
        if (rank >= 2 * m_folded || rank % 2 == 0)
        {
            m_members.push_back(rank);
        }
    }
}

void
HypercubeFold::AddBefore(DataflowBuilder& builder, uint32_t firstChunk, uint32_t chunkCount) const
{
    for (uint32_t pair = 0; pair < m_folded; ++pair)
    {
        builder.AddReduce(2 * pair + 1, 2 * pair, firstChunk, chunkCount);
    }
}

void
HypercubeFold::AddAfter(DataflowBuilder& builder, uint32_t firstChunk, uint32_t chunkCount) const
{
    for (uint32_t pair = 0; pair < m_folded; ++pair)
    {
        builder.AddCopy(2 * pair, 2 * pair + 1, firstChunk, chunkCount);
    }
}

} // namespace ns3::gradsync
