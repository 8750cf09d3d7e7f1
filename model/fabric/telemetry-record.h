// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TELEMETRY_RECORD_H
#define GRADSYNC_TELEMETRY_RECORD_H

#include "ns3/fabric-packet.h"

#include <array>
#include <cstdint>

namespace ns3::gradsync
{

/// What one switch port writes into a passing packet (HPCC, SIGCOMM 2019, section 4.1).
struct TelemetryHop
{
    double bitRate;         //!< B
    uint64_t sentWireBytes; //!< txBytes, this packet included
    uint64_t queueBytes;    //!< qlen, when this packet starts
    TimeStepCount at;       //!< ts, when it starts
};

/// In-band telemetry of a packet, hop by hop.
struct TelemetryRecord
{
    static constexpr uint32_t MAX_HOPS = 8; //!< later ones do not write

    uint32_t hopCount;
    /// A hash of the ports that wrote: pathID (section 4.1). There it is the XOR of their switches,
    /// which is the same for parallel paths if switches are numbered regularly.
    uint32_t path;
    std::array<TelemetryHop, MAX_HOPS> hops;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TELEMETRY_RECORD_H
