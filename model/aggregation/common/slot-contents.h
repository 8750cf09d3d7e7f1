// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_CONTENTS_H
#define GRADSYNC_SLOT_CONTENTS_H

#include "ns3/atp-header.h"
#include "ns3/fabric-packet.h"
#include "ns3/netreduce-header.h"
#include "ns3/slot-header.h"
#include "ns3/switch-program.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace ns3::gradsync
{

/// By which protocol a packet goes.
enum class ProgramProtocol : uint8_t
{
    Slots,
    Atp,
    NetReduce,
    Other //!< of a P4 program: none of ours
};

/// What a packet of an aggregation carries.
struct SlotPacket
{
    ProgramProtocol protocol{ProgramProtocol::Slots};
    SlotHeader header;           //!< of Slots
    AtpHeader atp;               //!< of Atp
    NetReduceHeader ring;        //!< of NetReduce
    std::vector<int32_t> values; //!< empty where only sizes matter
    /// Of a P4 program: the packet as it left the switch `framedBy`, without FCS; else empty.
    std::vector<uint8_t> frame;
    uint32_t framedBy{0};
};

/// The contents of all packets of aggregations that are in a fabric.
class SlotContents final : public PacketContents
{
  public:
    /// Gives a packet contents, with whatever their last user left in them, but no frame.
    SlotPacket& Attach(FabricPacket& packet)
    {
        if (m_unused.empty())
        {
            m_unused.push_back(static_cast<uint32_t>(m_packets.size()));
            m_packets.emplace_back();
        }
        packet.feedback = m_unused.back();
        packet.flags = PacketFlag::PROGRAM;
        m_unused.pop_back();
        m_packets[packet.feedback].frame.clear();
        return m_packets[packet.feedback];
    }

    SlotPacket& Get(const FabricPacket& packet)
    {
        return m_packets[packet.feedback];
    }

    void Release(uint32_t contents) override
    {
        m_unused.push_back(contents);
    }

  private:
    std::deque<SlotPacket> m_packets; //!< a deque: references stay valid
    std::vector<uint32_t> m_unused;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_CONTENTS_H
