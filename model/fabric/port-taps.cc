// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/port-taps.h"

#include "ns3/port-observer.h"

namespace ns3::gradsync
{

bool
PortTaps::IsTaken(FabricPacket* packet, uint32_t portIndex, TimeStepCount start)
{
    if (m_tap)
    {
        m_tap->OnPacket(portIndex, *packet, start);
    }
    if (m_taker)
    {
        m_lastArrival = packet->arrival;
        m_taker->TakeOver(portIndex, packet);
    }
    return m_taker != nullptr;
}

} // namespace ns3::gradsync
