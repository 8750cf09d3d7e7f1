// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/closed-channels.h"

#include "ns3/workload-channels.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Who sends to whom, as places in some list.
using Pairs = std::set<std::pair<uint32_t, uint32_t>>;

struct Channel
{
    std::vector<CommunicationId> communications;
    std::set<const Plan*> plans;
    Pairs pairs; //!< of members
    std::set<uint32_t> places;
};

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

std::vector<uint32_t>
GetEndpoints(const Workload& workload,
             std::span<const uint32_t> endpoints,
             CommunicationId communication)
{
    std::vector<uint32_t> members;
    for (const auto rank : workload.GetGroup(communication))
    {
        members.push_back(endpoints[rank]);
    }
    return members;
}

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

std::vector<ClosedChannel>
FindClosedChannels(const Workload& workload,
                   std::span<const uint32_t> endpoints,
                   TransportParts& parts)
{
    auto channels = ListChannels(workload);
    std::map<uint32_t, uint32_t> users; // of each place: how many
    for (auto& [name, channel] : channels)
    {
        const auto members = GetEndpoints(workload, endpoints, channel.communications.front());
        for (const auto& [from, to] : channel.pairs)
        {
            parts.AddPlaces(members[from], members[to], channel.places);
            parts.AddPlaces(members[to], members[from], channel.places); // acknowledgements
        }
        for (const auto place : channel.places)
        {
            ++users[place];
        }
    }
    std::vector<ClosedChannel> closed;
    for (auto& [name, channel] : channels)
    {
        const bool isAlone = std::ranges::all_of(channel.places, [&users](uint32_t place) {
            return users[place] == 1;
        });
        if (!isAlone || channel.pairs.empty())
        {
            continue;
        }
        const auto members = GetEndpoints(workload, endpoints, channel.communications.front());
        if (auto part = parts.MakePart(members, channel.pairs))
        {
            closed.push_back({std::move(channel.communications), std::move(part)});
        }
    }
    return closed;
}

} // namespace ns3::gradsync
