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

/// What a rank does on its streams. Ranks that do something else hardly send at equal times.
uint64_t
HashPrograms(const Workload& workload, uint32_t rank)
{
    uint64_t hash = 0;
    const auto add = [&hash](uint64_t word) {
        hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32;
    };
    for (uint32_t stream = 0; stream < workload.GetStreams().size(); ++stream)
    {
        for (const auto id : workload.GetProgram(rank, stream))
        {
            const auto& task = workload.GetTasks()[id];
            add(task.picoseconds);
            add(task.IsCompute() ? UINT64_MAX
                                 : workload.GetCommunications()[task.communication].plan);
        }
        add(stream);
    }
    return hash;
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
    PlaneMaker(const Workload& workload, const ChannelGroup& channels)
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
        std::map<uint32_t, uint32_t> rankOf;  // of endpoints
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
            const auto group = m_workload.GetGroup(id);
            for (size_t member = 0; member < group.size(); ++member)
            {
                rankOf.emplace(m_channels[channel]->endpoints[member], group[member]);
            }
        }
        for (const auto& [endpoint, rank] : rankOf)
        {
            words.Add(HashPrograms(m_workload, rank));
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
    const ChannelGroup& m_channels;
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

} // namespace

std::vector<PlaneTwins>
FindPlaneTwins(const Workload& workload,
               std::span<const ChannelGroup> groups,
               TransportParts& parts)
{
    if (groups.size() < 2)
    {
        return {};
    }
    std::map<std::vector<uint64_t>, PlaneTwins> kinds;
    for (const auto& channels : groups)
    {
        auto named = PlaneMaker(workload, channels).Make(parts);
        if (named.plane.part)
        {
            kinds[std::move(named.name)].push_back(std::move(named.plane));
        }
    }
    std::vector<PlaneTwins> sets;
    for (auto& [name, twins] : kinds)
    {
        std::ranges::sort(twins, {}, [](const auto& plane) {
            return plane.part->GetPorts().front();
        });
        if (twins.size() > 1 && IsFirst(twins))
        {
            sets.push_back(std::move(twins));
        }
    }
    return sets;
}

} // namespace ns3::gradsync
