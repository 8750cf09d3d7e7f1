// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_LONGEST_PATH_H
#define GRADSYNC_LONGEST_PATH_H

#include "ns3/congestion-control.h"
#include "ns3/topology.h"

#include <cstdint>

namespace ns3::gradsync
{

/**
 * The longest of the shortest paths from the first endpoint, by round trip: what congestion control
 * has to expect there. Of symmetric networks it is the longest of all.
 *
 * \param dataWireBytes of a full packet \param ackWireBytes of its acknowledgement
 */
CongestionPath FindLongestPath(const Topology& topology,
                               uint32_t dataWireBytes,
                               uint32_t ackWireBytes);

} // namespace ns3::gradsync

#endif // GRADSYNC_LONGEST_PATH_H
