// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PACKET_SOURCE_H
#define GRADSYNC_PACKET_SOURCE_H

#include "ns3/fabric-packet.h"

#include <cstdint>

namespace ns3::gradsync
{

/// Where a host's port takes its data packets from: the transport's scheduler.
class PacketSource
{
  public:
    /**
     * The next data packet, or nullptr when none may start up to `now`; the source then calls
     * LazySender::SourceReady when one may.
     * \param[in,out] start when its first bit may leave; may lie in the past (see LazySender). A
     * source that paces raises it to when it does leave, never beyond `now`.
     */
    virtual FabricPacket* Pull(TimeStepCount& start, TimeStepCount now) = 0;

    /// Fetches what the next Pull will touch; rounds as of FabricNode::PrefetchFor.
    virtual void PrefetchPull(uint32_t /* round */) const
    {
    }

  protected:
    ~PacketSource() = default;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PACKET_SOURCE_H
