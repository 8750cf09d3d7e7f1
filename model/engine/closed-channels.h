// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CLOSED_CHANNELS_H
#define GRADSYNC_CLOSED_CHANNELS_H

#include "ns3/network-part.h"
#include "ns3/workload.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// A channel (WorkloadChannel) whose messages share no link and no switch with any other.
struct ClosedChannel
{
    std::vector<CommunicationId> communications; //!< ascending
    std::unique_ptr<NetworkPart> part;
};

/**
 * Those of a workload that is all that uses the network.
 * \param endpoints [rank]
 */
std::vector<ClosedChannel> FindClosedChannels(const Workload& workload,
                                              std::span<const uint32_t> endpoints,
                                              TransportParts& parts);

} // namespace ns3::gradsync

#endif // GRADSYNC_CLOSED_CHANNELS_H
