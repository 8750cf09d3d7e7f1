// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WORKLOAD_CHANNELS_H
#define GRADSYNC_WORKLOAD_CHANNELS_H

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

class Workload;

/**
 * Gives communications streams of the transport: those of one group on one stream of its ranks
 * share connections, as those of a communicator of NCCL do, and no others do.
 *
 * \returns [communication] the first of its plan's streams
 * \throws std::invalid_argument when a plan has aggregations of the network or a gate, which
 * workloads do not have
 */
std::vector<uint32_t> NumberChannels(const Workload& workload);

} // namespace ns3::gradsync

#endif // GRADSYNC_WORKLOAD_CHANNELS_H
