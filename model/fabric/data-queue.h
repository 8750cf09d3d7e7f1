// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DATA_QUEUE_H
#define GRADSYNC_DATA_QUEUE_H

#include "ns3/fabric-packet.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ns3::gradsync
{

/// The data packets that wait at a port, and how long their queue is and was. In bytes, with all
/// headers.
class DataQueue
{
  public:
    bool IsEmpty() const
    {
        return m_packets.IsEmpty();
    }

    void Push(FabricPacket* packet)
    {
        m_packets.Push(packet);
        m_bytes += packet->wireBytes;
        m_longest = std::max(m_longest, m_bytes);
    }

    /// Must not be empty.
    FabricPacket* Pop()
    {
        auto* packet = m_packets.Pop();
        m_bytes -= packet->wireBytes;
        return packet;
    }

    /// nullptr: it is empty.
    const FabricPacket* Front() const
    {
        return m_packets.Front();
    }

    /// Must not be empty.
    const FabricPacket* Back() const
    {
        return m_packets.Back();
    }

    /// How many they are, one by one.
    uint32_t CountPackets() const
    {
        uint32_t count = 0;
        for (const auto* packet = m_packets.Front(); packet; packet = packet->next)
        {
            ++count;
        }
        return count;
    }

    uint64_t GetBytes() const
    {
        return m_bytes;
    }

    /// How long it was at most.
    uint64_t GetLongest() const
    {
        return m_longest;
    }

    /// The longest is measured anew. \returns that of before
    uint64_t Measure()
    {
        return std::exchange(m_longest, m_bytes);
    }

    /// It was so long when nobody simulated it.
    void CountLength(uint64_t bytes)
    {
        m_longest = std::max(m_longest, bytes);
    }

    /// Packets may be marked in queues that are longer than this.
    void SetMarking(uint64_t aboveBytes)
    {
        m_markAboveBytes = aboveBytes;
    }

    /// Whether a packet that has just joined it may be marked.
    bool MayMark(const FabricPacket& packet) const
    {
        return m_bytes > m_markAboveBytes && (packet.flags & PacketFlag::ECN_CAPABLE) != 0;
    }

    /// Whether it was so long that packets may have been.
    bool MayHaveMarked() const
    {
        return m_longest > m_markAboveBytes;
    }

  private:
    PacketFifo m_packets;
    uint64_t m_longest{0};
    uint64_t m_bytes{0};
    uint64_t m_markAboveBytes{UINT64_MAX};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_DATA_QUEUE_H
