// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SWITCH_PROGRAM_H
#define GRADSYNC_SWITCH_PROGRAM_H

#include "ns3/byte-batch.h"
#include "ns3/fabric-packet.h"

#include <cstdint>

namespace ns3::gradsync
{

/// What a programmable switch does with the packets that are meant for programs
/// (PacketFlag::PROGRAM).
class SwitchProgram
{
  public:
    /**
     * \param port by which the packet came in
     * \returns true when the program took the packet, which it owns then; false: the switch
     * forwards it to its destination
     */
    virtual bool Process(FabricPacket* packet, uint16_t port, TimeStepCount now) = 0;

    /**
     * A packet with PacketFlag::DEPARTURE has left its queue and starts now, with whatever the
     * program makes of it. At the ports of FabricSwitch::WatchDepartures.
     * \returns false when the program has dropped it, and given it to the pool
     */
    virtual bool Depart(FabricPacket* /* packet */, TimeStepCount /* start */)
    {
        return true;
    }

  protected:
    ~SwitchProgram() = default;
};

/// Keeps what packets for programs carry beyond a FabricPacket, by their `feedback`.
class PacketContents
{
  public:
    /// Nobody uses the packet any more.
    virtual void Release(uint32_t contents) = 0;

    /// Appends them to a batch for another process, which has the same network.
    virtual void Write(uint32_t contents, ByteBatch& batch) const = 0;

    /// Keeps what Write has appended in another process. \returns the new contents
    virtual uint32_t Read(BatchReader& batch) = 0;

  protected:
    ~PacketContents() = default;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SWITCH_PROGRAM_H
