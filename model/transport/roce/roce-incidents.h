// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_INCIDENTS_H
#define GRADSYNC_ROCE_INCIDENTS_H

#include "ns3/droppable-packets.h"
#include "ns3/fabric-packet.h"
#include "ns3/packet-set.h"

#include <cstdint>
#include <memory>

namespace ns3::gradsync
{

/**
 * What a connection with gaps knows beyond its cumulative counters, when lost packets are repeated
 * one by one (selective repeat).
 *
 * The sender repeats [nextRepair, endRepair) but for what is acknowledged, each packet once. The
 * oldest packet of all is watched: if a packet that left after its repetition arrives first, the
 * repetition was lost too.
 */
struct RoceGaps
{
    PacketSet received;     //!< by the receiver, out of order
    PacketSet acknowledged; //!< to the sender, out of order
    uint32_t nextRepair{0};
    uint32_t endRepair{0};
    uint32_t oldestMark{0};  //!< packets from here on left after the oldest one was last sent
    uint32_t recoveryEnd{0}; //!< losses before this belong to the episode that is known
    bool repeatOldest{false};

    bool HasRepair() const
    {
        return repeatOldest || nextRepair < endRepair;
    }

    void SkipAcknowledged()
    {
        while (nextRepair < endRepair && acknowledged.Contains(nextRepair))
        {
            ++nextRepair;
        }
    }
};

/// What befalls few connections: marks, losses, packets that may be lost.
struct RoceIncidents
{
    std::unique_ptr<RoceGaps> gaps{};              //!< of both halves; null until the first gap
    std::unique_ptr<DroppablePackets> droppable{}; //!< only where it mayLose
    TimeStepCount nextNotification{0};             //!< no CNP before
    uint32_t markedPackets{0};                     //!< data packets that arrived with CE
    uint32_t marksSeen{0};  //!< receiver's markedPackets in the last acknowledgement
    uint32_t highestPsn{0}; //!< of GoBack: all before it were sent at least once
    uint32_t retries{0};    //!< timeouts since the last progress
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_INCIDENTS_H
