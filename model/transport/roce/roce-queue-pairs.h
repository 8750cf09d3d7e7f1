// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_QUEUE_PAIRS_H
#define GRADSYNC_ROCE_QUEUE_PAIRS_H

#include "ns3/roce-queue-pair.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::gradsync
{

/// Queue pairs by their index; those given back serve again.
class RoceQueuePairs
{
  public:
    /**
     * Several processes have queue pairs of their own each, and know those of the others by the
     * same indices: those of one process are in every so manieth block. Before the first is taken.
     */
    void Divide(uint32_t own, uint32_t processes)
    {
        m_ownBlock = own;
        m_blockStride = processes;
    }

    /// One with its index, and whatever its last user left in it.
    RoceQueuePair& Take();

    /// It may serve another connection.
    void Give(RoceQueuePair& queuePair)
    {
        m_unused.push_back(queuePair.index);
        --m_usedCount;
    }

    /// The one that has this index, made if need be: of another process.
    RoceQueuePair& Provide(uint32_t index);

    RoceQueuePair& At(uint32_t index) const
    {
        return m_blocks[index / BLOCK_SIZE][index % BLOCK_SIZE];
    }

    /// True when At knows this index.
    bool Has(uint32_t index) const
    {
        return index < m_end && m_blocks[index / BLOCK_SIZE];
    }

    /// Of its own, ever taken.
    uint32_t GetCount() const
    {
        return m_count;
    }

    /// Of its own, in use.
    uint32_t GetUsedCount() const
    {
        return m_usedCount;
    }

  private:
    static constexpr uint32_t BLOCK_SIZE = 256;
    static constexpr size_t AHEAD = 2; //!< that Take fetches

    void ProvideBlock(size_t block);

    std::vector<std::unique_ptr<RoceQueuePair[]>> m_blocks; //!< all, by their index; may be null
    uint32_t m_count{0};                                    //!< of its own
    uint32_t m_usedCount{0};                                //!< of these, in use
    uint32_t m_end{0};                                      //!< indices are below
    uint32_t m_ownBlock{0};                                 //!< the first one
    uint32_t m_blockStride{1};                              //!< from one to the next
    std::vector<uint32_t> m_unused; //!< indices of its own, apart: taking one waits for no other
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_QUEUE_PAIRS_H
