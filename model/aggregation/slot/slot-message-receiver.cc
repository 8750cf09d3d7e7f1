// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-message-receiver.h"

#include "ns3/slot-header.h"
#include "ns3/switchml-roce-frame.h"

namespace ns3::gradsync
{

bool
SlotMessageReceiver::Receive(const SlotWire& wire, const AggregationPacket& packet)
{
    const auto& header = packet.As<SlotHeader>();
    if (wire.IsFirst(header.slot))
    {
        m_isOpen = true;
        m_pieces.clear();
    }
    else if (!m_isOpen || header.sequence != m_next)
    {
        m_isOpen = false;
        return false;
    }
    m_next = FollowSequence(header.sequence);
    m_pieces.push_back({.values = packet.values,
                        .hasOverflowed = (header.flags & SlotFlag::OVERFLOWED) != 0,
                        .exponent = header.exponentA});
    const bool isWhole = m_pieces.size() == wire.messagePackets;
    const bool isLast = wire.IsLast(header.slot);
    m_isOpen = !isWhole && !isLast;
    return isWhole && isLast;
}

} // namespace ns3::gradsync
