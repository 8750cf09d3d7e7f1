// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_LINK_SAMPLE_H
#define GRADSYNC_LINK_SAMPLE_H

#include "ns3/nstime.h"

#include <cstdint>

namespace ns3::gradsync
{

/// What one direction of a link did in an interval, and what waits there at its end.
struct LinkSample
{
    Time time;           //!< end of the interval
    uint32_t port;       //!< as the index of FabricNetwork::GetCounters
    uint64_t wireBytes;  //!< sent in the interval
    uint64_t queueBytes; //!< waiting at its end
    Time paused;         //!< of the interval
};

} // namespace ns3::gradsync

#endif // GRADSYNC_LINK_SAMPLE_H
