// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/channel-places.h"

#include "ns3/workload-channels.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ns3::gradsync
{

namespace
{

/// Who sends to whom, as places in some list.
using Pairs = std::set<std::pair<uint32_t, uint32_t>>;

Pairs
FindPairs(const Plan& plan)
{
    Pairs pairs;
    for (const auto& operation : plan.GetOperations())
    {
        if (operation.src != operation.dst)
        {
            pairs.emplace(operation.src, operation.dst);
        }
    }
    return pairs;
}

struct Channel
{
    std::vector<CommunicationId> communications;
    std::set<const Plan*> plans;
    Pairs pairs; //!< of members
};

std::map<WorkloadChannel, Channel>
ListChannels(const Workload& workload)
{
    std::map<WorkloadChannel, Channel> channels;
    std::map<const Plan*, Pairs> pairsOf; // plans are shared by many groups
    for (CommunicationId id = 0; id < workload.GetCommunications().size(); ++id)
    {
        auto& channel = channels[GetChannel(workload, id)];
        channel.communications.push_back(id);
        const auto* plan = workload.GetPlan(id).get();
        if (channel.plans.insert(plan).second)
        {
            const auto [found, isNew] = pairsOf.try_emplace(plan);
            if (isNew)
            {
                found->second = FindPairs(*plan);
            }
            channel.pairs.insert(found->second.begin(), found->second.end());
        }
    }
    return channels;
}

} // namespace

std::vector<ChannelPlaces>
ListChannelPlaces(const Workload& workload,
                  std::span<const uint32_t> endpoints,
                  const TransportParts& parts)
{
    std::vector<ChannelPlaces> list;
    for (auto& [name, channel] : ListChannels(workload))
    {
        if (channel.pairs.empty())
        {
            continue;
        }
        ChannelPlaces own{std::move(channel.communications), {}, std::move(channel.pairs), {}};
        for (const auto rank : workload.GetGroup(own.communications.front()))
        {
            own.endpoints.push_back(endpoints[rank]);
        }
        for (const auto& [from, to] : own.pairs)
        {
            parts.AddPlaces(own.endpoints[from], own.endpoints[to], own.places);
            parts.AddPlaces(own.endpoints[to], own.endpoints[from], own.places);
        }
        list.push_back(std::move(own));
    }
    return list;
}

std::vector<ChannelGroup>
GroupByPlaces(std::span<const ChannelPlaces> channels)
{
    std::vector<uint32_t> firstOf(channels.size()); // of the channel's group, or one before it
    std::iota(firstOf.begin(), firstOf.end(), 0);
    const auto find = [&firstOf](uint32_t channel) {
        while (firstOf[channel] != channel)
        {
            channel = firstOf[channel] = firstOf[firstOf[channel]];
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
            firstOf[std::max(own, user)] = std::min(own, user);
        }
    }
    std::map<uint32_t, ChannelGroup> groups;
    for (uint32_t i = 0; i < channels.size(); ++i)
    {
        if (!channels[i].places.empty())
        {
            groups[find(i)].push_back(&channels[i]);
        }
    }
    std::vector<ChannelGroup> list;
    list.reserve(groups.size());
    for (auto& [first, group] : groups)
    {
        list.push_back(std::move(group));
    }
    return list;
}

} // namespace ns3::gradsync
