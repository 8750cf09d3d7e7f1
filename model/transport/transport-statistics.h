// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRANSPORT_STATISTICS_H
#define GRADSYNC_TRANSPORT_STATISTICS_H

#include "ns3/nstime.h"

#include <cstdint>

namespace ns3::gradsync
{

/// What one direction of one link carried.
struct LinkStatistics
{
    uint64_t packets{0};      //!< data, acknowledgements and control
    uint64_t payloadBytes{0}; //!< message bytes, retransmissions included
    uint64_t wireBytes{0};    //!< with all headers, preamble and inter-frame gap
    uint64_t droppedPackets{0};
    uint64_t ecnMarkedPackets{0};
    uint64_t maxQueueBytes{0};
    Time pfcPause; //!< time for which the sending end was paused
    uint64_t pfcPauses{0};
    uint64_t blockedBytes{0}; //!< on the wire, that waited for nothing but the end of a pause
};

/// Totals of a transport.
struct TransportStatistics
{
    uint64_t goodputBytes{0}; //!< message bytes delivered, each once
    uint64_t lostBytes{0};    //!< of messages delivered, that were lost as they may (Message)
    uint64_t wireBytes{0};    //!< sum over links
    uint64_t dataPacketHops{0};
    uint64_t controlPacketHops{0}; //!< acknowledgements, CNPs, PFC frames
    uint64_t droppedPackets{0};
    uint64_t ecnMarkedPackets{0};
    uint64_t retransmittedPackets{0};
    uint64_t retransmittedBytes{0}; //!< of messages
    uint64_t timerLooks{0};         //!< events of timers but those that found a timeout over
    uint64_t savedEvents{0};        //!< of what was not simulated (NetworkPart)
    uint64_t switchPackets{0};      //!< that switches took without an event (SwitchRounds)
    uint64_t switchRounds{0};       //!< events for that
    Time pfcPause;                  //!< sum over links
};

/// Events that a run is said to have beyond those that the simulator counts, modulo 2^64: those
/// that are left out, or done without an event, less those that depend on how that is done.
inline uint64_t
CountBeyondSimulator(const TransportStatistics& statistics)
{
    return statistics.savedEvents + statistics.switchPackets - statistics.switchRounds -
           statistics.timerLooks;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_TRANSPORT_STATISTICS_H
