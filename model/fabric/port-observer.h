// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PORT_OBSERVER_H
#define GRADSYNC_PORT_OBSERVER_H

#include "ns3/fabric-packet.h"

#include <cstdint>

namespace ns3::gradsync
{

/// Told of what happens at a port.
class PortObserver
{
  public:
    virtual void OnDrop(uint32_t portIndex, const FabricPacket& packet) = 0;
    virtual void OnPause(uint32_t portIndex, bool paused) = 0;
    /// A packet was marked as it joined the queue. \param queueBytes itself included
    virtual void OnMark(uint32_t portIndex, uint64_t queueBytes) = 0;
    /// The queue became this long at a time that may lie in the past (see LazySender); in the order
    /// of time at one port. Only where LazySender::SetWatched.
    virtual void OnQueue(uint32_t portIndex, uint64_t queueBytes, TimeStepCount at) = 0;

  protected:
    ~PortObserver() = default;
};

/// Sees every packet that leaves by a port.
class PacketTap
{
  public:
    /// \param start when its first bit leaves; in the order of time at one port
    virtual void OnPacket(uint32_t portIndex, const FabricPacket& packet, TimeStepCount start) = 0;

  protected:
    ~PacketTap() = default;
};

/// Takes the packets that leave by a port away from the wire: they arrive elsewhere.
class PacketTaker
{
  public:
    /// \param packet says when it would arrive; the taker owns it now
    virtual void TakeOver(uint32_t portIndex, FabricPacket* packet) = 0;

  protected:
    ~PacketTaker() = default;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PORT_OBSERVER_H
