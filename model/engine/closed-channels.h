// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CLOSED_CHANNELS_H
#define GRADSYNC_CLOSED_CHANNELS_H

#include "ns3/channel-places.h"
#include "ns3/network-part.h"
#include "ns3/workload.h"

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

/// Those among all channels that use the network.
std::vector<ClosedChannel> FindClosedChannels(std::span<const ChannelPlaces> channels,
                                              TransportParts& parts);

} // namespace ns3::gradsync

#endif // GRADSYNC_CLOSED_CHANNELS_H
