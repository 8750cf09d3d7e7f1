// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_CONNECTION_TABLE_H
#define GRADSYNC_ROCE_CONNECTION_TABLE_H

#include "ns3/prefetch.h"
#include "ns3/roce-queue-pair.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// What names a connection: see Message.
struct RoceConnection
{
    uint32_t src;
    uint32_t dst;
    uint32_t stream;
    bool operator==(const RoceConnection&) const = default;

    /// Same for the same connection in every run; ECMP uses its low half.
    uint64_t GetHash() const;

    /// Where a hash table may keep it: eight destinations of one source stand in a row, as sources
    /// open connections in that order, and the row is one line of the cache.
    uint32_t GetPlace() const
    {
        constexpr uint32_t ROW = 8;
        constexpr uint64_t MIX = 0x9e3779b97f4a7c15; // 2^64 / golden ratio: Knuth, TAOCP 3, 6.4
        auto mixed = (uint64_t{src} << 32 | stream / ROW) * MIX;
        mixed = ((mixed ^ mixed >> 32) + dst / ROW) * MIX;
        const auto row = static_cast<uint32_t>(mixed >> 32) / ROW * ROW;
        return row + (dst + 2 * stream) % ROW; // a stream may count with its destinations
    }
};

/// The queue pairs of open connections, by connection and by index. Closed ones serve again.
class RoceConnectionTable
{
  public:
    /// The queue pair of a connection. \returns it and whether it was opened just now, ports still
    /// unset
    std::pair<RoceQueuePair&, bool> Open(const RoceConnection& connection);

    /**
     * Ends a connection: packets of it that are still under way find another generation. While the
     * queue pair stands in its NIC's ring (isReady) it is not used again; the NIC then calls
     * Recycle.
     */
    void Close(RoceQueuePair& queuePair);

    /**
     * Several processes have a table of their own each, and know the queue pairs of the others by
     * the same indices: those of one process are in every so manieth block. Before the first
     * connection.
     */
    void Divide(uint32_t own, uint32_t processes)
    {
        m_ownBlock = own;
        m_blockStride = processes;
    }

    /**
     * The receiving half of a connection that another process has opened. \param index,generation
     * of its queue pair there \returns it and whether the connection is new, its port still unset
     */
    std::pair<RoceQueuePair&, bool> Mirror(uint32_t index,
                                           uint32_t generation,
                                           const RoceConnection& connection);

    /// A closed queue pair may serve another connection.
    void Recycle(RoceQueuePair& queuePair);

    /// The queue pair that a packet belongs to, or nullptr when that connection is closed.
    RoceQueuePair* Find(uint32_t index, uint32_t generation) const
    {
        auto& queuePair = At(index);
        return queuePair.generation == generation ? &queuePair : nullptr;
    }

    /// Fetches what Close looks at first, but for the queue pair itself.
    void PrefetchSlot(const RoceQueuePair& queuePair) const
    {
        const RoceConnection connection{queuePair.src, queuePair.dst, queuePair.stream};
        Prefetch(&m_slots[GetHome(connection.GetPlace())]);
    }

    /// The open connections, in the order of their indices.
    std::vector<RoceQueuePair*> ListOpen() const;

    /// True when Peek knows this index.
    bool Has(uint32_t index) const
    {
        return index < m_end && m_blocks[index / BLOCK_SIZE];
    }

    /// The queue pair of an index, whatever connection it serves or served last.
    const RoceQueuePair& Peek(uint32_t index) const
    {
        return At(index);
    }

  private:
    static constexpr uint32_t BLOCK_SIZE = 256;
    static constexpr uint32_t NONE = UINT32_MAX;

    /// Of a hash table with linear probing. It tells most connections apart without a look at their
    /// queue pairs, which are not in any cache.
    struct Slot
    {
        uint32_t place;
        uint32_t index{NONE};
    };

    size_t GetNextSlot(size_t slot) const
    {
        return (slot + 1) & (m_slots.size() - 1);
    }

    /// Where the search for a place begins.
    size_t GetHome(uint32_t place) const
    {
        return place & (m_slots.size() - 1);
    }

    RoceQueuePair& At(uint32_t index) const
    {
        return m_blocks[index / BLOCK_SIZE][index % BLOCK_SIZE];
    }

    RoceQueuePair& TakeUnused();
    void ProvideBlock(size_t block);
    static void Begin(RoceQueuePair& queuePair,
                      uint32_t index,
                      uint32_t generation,
                      const RoceConnection& connection);
    void Grow();

    std::vector<Slot> m_slots; //!< of open ones, at most half of them taken; a power of two
    size_t m_openCount{0};
    std::vector<std::unique_ptr<RoceQueuePair[]>> m_blocks; //!< all, by their index; may be null
    uint32_t m_count{0};                                    //!< of its own
    uint32_t m_end{0};                                      //!< indices are below
    uint32_t m_ownBlock{0};                                 //!< the first one
    uint32_t m_blockStride{1};                              //!< from one to the next
    RoceQueuePair* m_unused{nullptr};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_CONNECTION_TABLE_H
