// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/network-planes.h"

#include "ns3/state-words.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Channels of one plane.
using Members = std::vector<const ChannelPlaces*>;

/// Those that use the network, by planes: channels that have a place in common are of one.
std::vector<Members>
DivideByPlaces(std::span<const ChannelPlaces> channels)
{
    std::vector<uint32_t> planeOf(channels.size()); // of the channel, or one before it
    std::iota(planeOf.begin(), planeOf.end(), 0);
    const auto find = [&planeOf](uint32_t channel) {
        while (planeOf[channel] != channel)
        {
            channel = planeOf[channel] = planeOf[planeOf[channel]];
        }
        return channel;
    };
    std::map<uint32_t, uint32_t> users; // of each place: one of them
    for (uint32_t i = 0; i < channels.size(); ++i)
    {
        for (const auto place : channels[i].places)
        {
            const auto user = find(users.emplace(place, i).first->second);
            const auto own = find(i);
            planeOf[std::max(own, user)] = std::min(own, user);
        }
    }
    std::map<uint32_t, Members> planes;
    for (uint32_t i = 0; i < channels.size(); ++i)
    {
        if (!channels[i].places.empty())
        {
            planes[find(i)].push_back(&channels[i]);
        }
    }
    std::vector<Members> list;
    std::ranges::transform(planes, std::back_inserter(list), [](auto& plane) {
        return std::move(plane.second);
    });
    return list;
}

/// A plane, and all by which it is equal to another one or not.
struct NamedPlane
{
    NetworkPlane plane;
    std::vector<uint64_t> name;
};

/// Endpoints are named by their places among those of the plane.
class PlaneMaker
{
  public:
    PlaneMaker(const Workload& workload, const Members& channels)
        : m_workload(workload),
          m_channels(channels)
    {
        std::set<uint32_t> endpoints;
        for (const auto* channel : channels)
        {
            endpoints.insert(channel->endpoints.begin(), channel->endpoints.end());
        }
        m_endpoints.assign(endpoints.begin(), endpoints.end());
    }

    /// Without a part where there is none.
    NamedPlane Make(TransportParts& parts) const
    {
        std::set<std::pair<uint32_t, uint32_t>> pairs;
        std::map<CommunicationId, uint32_t> channelOf;
        for (uint32_t i = 0; i < m_channels.size(); ++i)
        {
            const auto& channel = *m_channels[i];
            for (const auto& [from, to] : channel.pairs)
            {
                pairs.emplace(GetPlace(channel.endpoints[from]), GetPlace(channel.endpoints[to]));
            }
            for (const auto id : channel.communications)
            {
                channelOf.emplace(id, i);
            }
        }
        NamedPlane named{{{}, parts.MakePart(m_endpoints, pairs)}, {}};
        if (named.plane.part)
        {
            Name(channelOf, named);
        }
        return named;
    }

  private:
    void Name(const std::map<CommunicationId, uint32_t>& channelOf, NamedPlane& named) const
    {
        StateWords words(0);
        std::map<uint32_t, uint64_t> numbers; // channels in the order of their first communications
        for (const auto& [id, channel] : channelOf)
        {
            named.plane.communications.push_back(id);
            words.Add(m_workload.GetCommunications()[id].plan);
            words.Add(numbers.emplace(channel, numbers.size()).first->second);
            for (const auto endpoint : m_channels[channel]->endpoints)
            {
                words.Add(GetPlace(endpoint));
            }
            words.EndList();
        }
        named.name = named.plane.part->GetShape();
        named.name.insert(named.name.end(), words.Get().begin(), words.Get().end());
    }

    uint32_t GetPlace(uint32_t endpoint) const
    {
        return static_cast<uint32_t>(std::ranges::lower_bound(m_endpoints, endpoint) -
                                     m_endpoints.begin());
    }

    const Workload& m_workload;
    const Members& m_channels;
    std::vector<uint32_t> m_endpoints; //!< ascending
};

/// Whether simultaneous events of the first one come before those of the others.
bool
IsFirst(const PlaneTwins& twins)
{
    const auto ports = twins.front().part->GetPorts();
    return std::ranges::all_of(twins.begin() + 1, twins.end(), [&ports](const auto& twin) {
        return std::ranges::equal(ports, twin.part->GetPorts(), std::less<>());
    });
}

/// Of each kind of planes, in sets as large as is possible for all kinds.
std::vector<PlaneTwins>
MakeSets(std::map<std::vector<uint64_t>, std::vector<NetworkPlane>> kinds)
{
    size_t count = 0;
    for (const auto& [name, planes] : kinds)
    {
        count = std::gcd(count, planes.size());
    }
    std::vector<PlaneTwins> sets;
    for (auto& [name, planes] : kinds)
    {
        std::ranges::sort(planes, {}, [](const auto& plane) {
            return plane.part->GetPorts().front();
        });
        for (size_t i = 0; count > 1 && i < planes.size(); ++i)
        {
            if (i % count == 0)
            {
                sets.emplace_back();
            }
            sets.back().push_back(std::move(planes[i]));
        }
    }
    return std::ranges::all_of(sets, IsFirst) ? std::move(sets) : std::vector<PlaneTwins>{};
}

} // namespace

std::vector<PlaneTwins>
FindPlaneTwins(const Workload& workload,
               std::span<const ChannelPlaces> channels,
               TransportParts& parts)
{
    const auto planes = DivideByPlaces(channels);
    if (planes.size() < 2)
    {
        return {};
    }
    std::map<std::vector<uint64_t>, std::vector<NetworkPlane>> kinds;
    for (const auto& members : planes)
    {
        auto named = PlaneMaker(workload, members).Make(parts);
        if (!named.plane.part)
        {
            return {};
        }
        kinds[std::move(named.name)].push_back(std::move(named.plane));
    }
    return MakeSets(std::move(kinds));
}

} // namespace ns3::gradsync
