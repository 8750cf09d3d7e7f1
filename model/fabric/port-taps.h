// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PORT_TAPS_H
#define GRADSYNC_PORT_TAPS_H

#include "ns3/fabric-packet.h"

#include <cstdint>

namespace ns3::gradsync
{

class PacketTap;
class PacketTaker;

/// Who sees the packets that leave by a port, and who takes them. Few ports have either.
class PortTaps
{
  public:
    /// \param tap nullptr: nobody sees them
    void SetTap(PacketTap* tap)
    {
        m_tap = tap;
    }

    /// \param taker nullptr: nobody takes them
    void SetTaker(PacketTaker* taker)
    {
        m_taker = taker;
    }

    bool IsEmpty() const
    {
        return !m_tap && !m_taker;
    }

    /// Shows a packet to those who look, and gives it to who takes it. \returns whether somebody
    /// did
    bool IsTaken(FabricPacket* packet, uint32_t portIndex, TimeStepCount start);

    /// When the last packet that was taken arrives.
    TimeStepCount GetLastArrival() const
    {
        return m_lastArrival;
    }

  private:
    PacketTap* m_tap{nullptr};
    PacketTaker* m_taker{nullptr};
    TimeStepCount m_lastArrival{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PORT_TAPS_H
