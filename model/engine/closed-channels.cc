// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/closed-channels.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace ns3::gradsync
{

std::vector<ClosedChannel>
FindClosedChannels(std::span<const ChannelPlaces> channels, TransportParts& parts)
{
    std::map<uint32_t, uint32_t> users; // of each place: how many
    for (const auto& channel : channels)
    {
        for (const auto place : channel.places)
        {
            ++users[place];
        }
    }
    std::vector<ClosedChannel> closed;
    for (const auto& channel : channels)
    {
        const bool isAlone = std::ranges::all_of(channel.places, [&users](uint32_t place) {
            return users[place] == 1;
        });
        if (!isAlone)
        {
            continue;
        }
        if (auto part = parts.MakePart(channel.endpoints, channel.pairs))
        {
            closed.push_back({channel.communications, std::move(part)});
        }
    }
    return closed;
}

} // namespace ns3::gradsync
