// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CHANNEL_PLACES_H
#define GRADSYNC_CHANNEL_PLACES_H

#include "ns3/network-part.h"
#include "ns3/workload.h"

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// A channel (WorkloadChannel) that sends, and what its messages may touch.
struct ChannelPlaces
{
    std::vector<CommunicationId> communications;   //!< ascending
    std::vector<uint32_t> endpoints;               //!< [member]
    std::set<std::pair<uint32_t, uint32_t>> pairs; //!< members: who sends to whom
    /// As of TransportParts::AddPlaces, acknowledgements included; none: no network is between.
    std::set<uint32_t> places;
};

/// Those of a workload, in the order of their names. \param endpoints [rank]
std::vector<ChannelPlaces> ListChannelPlaces(const Workload& workload,
                                             std::span<const uint32_t> endpoints,
                                             const TransportParts& parts);

/// Channels each of which has a place in common with another one of them.
using ChannelGroup = std::vector<const ChannelPlaces*>;

/// Those that use the network: no place is of two groups. In the order of their first channels.
/// \param channels outlive the groups
std::vector<ChannelGroup> GroupByPlaces(std::span<const ChannelPlaces> channels);

} // namespace ns3::gradsync

#endif // GRADSYNC_CHANNEL_PLACES_H
