// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-queue-pairs.h"

#include "ns3/prefetch.h"

#include <algorithm>

namespace ns3::gradsync
{

RoceQueuePair&
RoceQueuePairs::Take()
{
    ++m_usedCount;
    if (!m_unused.empty())
    {
        auto& queuePair = At(m_unused.back());
        m_unused.pop_back();
        if (m_unused.size() > AHEAD)
        {
            // One that comes soon: where they are many it has left the cache.
            Prefetch(&At(m_unused[m_unused.size() - 1 - AHEAD]));
        }
        return queuePair;
    }
    const auto block = m_count / BLOCK_SIZE * m_blockStride + m_ownBlock;
    const auto index = block * BLOCK_SIZE + m_count % BLOCK_SIZE;
    if (m_count++ % BLOCK_SIZE == 0)
    {
        ProvideBlock(block);
    }
    m_end = std::max(m_end, index + 1);
    auto& queuePair = At(index);
    queuePair.index = index;
    return queuePair;
}

RoceQueuePair&
RoceQueuePairs::Provide(uint32_t index)
{
    ProvideBlock(index / BLOCK_SIZE);
    m_end = std::max(m_end, index + 1);
    return At(index);
}

void
RoceQueuePairs::ProvideBlock(size_t block)
{
    if (block >= m_blocks.size())
    {
        m_blocks.resize(block + 1);
    }
    if (!m_blocks[block])
    {
        m_blocks[block] = std::make_unique<RoceQueuePair[]>(BLOCK_SIZE);
    }
}

} // namespace ns3::gradsync
