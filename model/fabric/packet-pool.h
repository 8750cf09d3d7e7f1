// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PACKET_POOL_H
#define GRADSYNC_PACKET_POOL_H

#include "ns3/fabric-packet.h"
#include "ns3/object-pool.h"
#include "ns3/switch-program.h"
#include "ns3/telemetry-record.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// All packets of a network that nobody uses, and the telemetry that packets may carry.
class PacketPool
{
  public:
    /// A packet with anything in it.
    FabricPacket* Take()
    {
        return m_packets.Take();
    }

    void Give(FabricPacket* packet)
    {
        if ((packet->flags & (PacketFlag::TELEMETRY | PacketFlag::PROGRAM)) != 0) [[unlikely]]
        {
            GiveRecord(*packet);
        }
        m_packets.Give(packet);
    }

    size_t GetCapacity() const
    {
        return m_packets.GetCapacity();
    }

    /// Calls this whenever there have come to be more packets.
    void SetGrowthCallback(std::function<void()> onGrowth)
    {
        m_packets.SetGrowthCallback(std::move(onGrowth));
    }

    /// Whoever keeps the contents of packets for programs; must outlive them.
    void SetContents(PacketContents* contents)
    {
        m_contents = contents;
    }

    /// Where there are packets for programs.
    PacketContents& GetContents() const
    {
        return *m_contents;
    }

    /// Gives a packet an empty record, which returns to the pool with it.
    void AttachTelemetry(FabricPacket& packet)
    {
        if (m_unusedRecords.empty())
        {
            m_unusedRecords.push_back(static_cast<uint32_t>(m_records.size()));
            m_records.emplace_back();
        }
        packet.feedback = m_unusedRecords.back();
        m_unusedRecords.pop_back();
        packet.flags |= PacketFlag::TELEMETRY;
        m_records[packet.feedback].hopCount = 0;
        m_records[packet.feedback].path = 0;
    }

    /// Of a packet that carries telemetry.
    TelemetryRecord& GetTelemetry(const FabricPacket& packet)
    {
        return m_records[packet.feedback];
    }

    /// Moves the record of one packet to another.
    static void MoveTelemetry(FabricPacket& from, FabricPacket& to)
    {
        to.feedback = from.feedback;
        to.flags |= PacketFlag::TELEMETRY;
        from.flags &= static_cast<uint8_t>(~PacketFlag::TELEMETRY);
    }

  private:
    void GiveRecord(const FabricPacket& packet)
    {
        if ((packet.flags & PacketFlag::PROGRAM) != 0)
        {
            m_contents->Release(packet.feedback);
            return;
        }
        m_unusedRecords.push_back(packet.feedback);
    }

    ObjectPool<FabricPacket> m_packets;
    PacketContents* m_contents{nullptr};
    std::vector<TelemetryRecord> m_records;
    std::vector<uint32_t> m_unusedRecords;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PACKET_POOL_H
