// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WORKLOAD_CHANNELS_H
#define GRADSYNC_WORKLOAD_CHANNELS_H

#include "ns3/workload.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// Group, and stream of its ranks.
using WorkloadChannel = std::pair<uint32_t, uint32_t>;

WorkloadChannel GetChannel(const Workload& workload, CommunicationId id);

/**
 * Gives communications streams of the transport: those of one group on one stream of its ranks
 * share connections, as those of a communicator of NCCL do, and no others do.
 *
 * \returns [communication] the first of its plan's streams
 * \throws std::invalid_argument when a plan has a gate, which workloads do not have
 */
std::vector<uint32_t> NumberChannels(const Workload& workload);

} // namespace ns3::gradsync

#endif // GRADSYNC_WORKLOAD_CHANNELS_H
