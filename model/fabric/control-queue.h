// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CONTROL_QUEUE_H
#define GRADSYNC_CONTROL_QUEUE_H

#include "ns3/fabric-packet.h"

namespace ns3::gradsync
{

/// The packets at a port that go before all data: frames of PFC before the others.
class ControlQueue
{
  public:
    bool IsEmpty() const
    {
        return m_pfc.IsEmpty() && m_others.IsEmpty();
    }

    void Push(FabricPacket* packet)
    {
        const bool isPfc = packet->kind == PacketKind::Pause || packet->kind == PacketKind::Resume;
        (isPfc ? m_pfc : m_others).Push(packet);
    }

    /// Must not be empty.
    FabricPacket* Pop()
    {
        return m_pfc.IsEmpty() ? m_others.Pop() : m_pfc.Pop();
    }

    /// The first frame of PFC; nullptr: there is none.
    const FabricPacket* GetFirstPfc() const
    {
        return m_pfc.Front();
    }

    /// The first one of the others; nullptr: there is none.
    const FabricPacket* GetFirstOther() const
    {
        return m_others.Front();
    }

  private:
    PacketFifo m_others;
    PacketFifo m_pfc; //!< the last: of it mostly the head is looked at, which says that it is empty
};

} // namespace ns3::gradsync

#endif // GRADSYNC_CONTROL_QUEUE_H
