// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/collective-records.h"

#include "ns3/channel-places.h"
#include "ns3/log.h"
#include "ns3/nstime.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncCollectiveRecords");

namespace
{

/// Communications of a chain at most: longer ones hardly come again.
constexpr size_t MAX_CHAIN = 64;

/// Whether all that it does is to send and to wait.
bool
OnlySends(const Plan& plan)
{
    if (plan.GetGate() || plan.HasAggregations())
    {
        return false;
    }
    return std::ranges::none_of(plan.GetOperations(), [](const Operation& operation) {
        return operation.IsCompute() || operation.kind == OperationKind::Train;
    });
}

} // namespace

CollectiveRecords::CollectiveRecords(const Workload& workload,
                                     std::span<const uint32_t> endpoints,
                                     TransportParts& parts,
                                     bool mayHaveTwins)
    : m_workload(workload),
      m_places(workload.GetCommunications().size())
{
    // In longer steps, times of computations are rounded, each on its own.
    const auto obstacle = PicoSeconds(1).GetTimeStep() == 1
                              ? parts.FindObstacle()
                              : std::string("time does not count picoseconds");
    if (!obstacle.empty())
    {
        NS_LOG_INFO("no collective is taken from a record: " << obstacle);
        return;
    }
    ChannelTiming timing(workload);
    const auto channels = ListChannelPlaces(workload, endpoints, parts);
    auto groups = GroupByPlaces(channels);
    for (const auto& group : groups)
    {
        if (group.size() == 1)
        {
            AddChannel(*group.front(), timing, parts);
        }
    }
    NS_LOG_INFO(m_channels.size() << " groups have their links to themselves");
    if (mayHaveTwins && parts.MayHaveTwins())
    {
        FindTwins(std::move(groups), parts);
    }
}

void
CollectiveRecords::FindTwins(std::vector<ChannelGroup> groups, TransportParts& parts)
{
    std::erase_if(groups, [this](const auto& group) {
        return m_places[group.front()->communications.front()].channel != NONE;
    });
    auto sets = FindPlaneTwins(m_workload, groups, parts);
    NS_LOG_INFO(sets.size() << " planes of the network stand for others");
    if (!sets.empty())
    {
        m_twins = std::make_unique<TwinPlanes>(m_workload, std::move(sets), parts);
    }
}

/// One that has its places to itself.
void
CollectiveRecords::AddChannel(const ChannelPlaces& channel,
                              ChannelTiming& timing,
                              TransportParts& parts)
{
    auto part = parts.MakePart(channel.endpoints, channel.pairs);
    const auto uses = part ? timing.Find(channel.communications) : std::vector<ChannelUse>{};
    if (uses.empty())
    {
        return;
    }
    auto chains = MakeChains(uses, part->GetShape());
    if (std::ranges::all_of(chains, [](const auto& chain) { return chain.kind == nullptr; }))
    {
        return;
    }
    for (uint32_t place = 0; place < uses.size(); ++place)
    {
        m_places[uses[place].id] = {static_cast<uint32_t>(m_channels.size()), place};
    }
    m_channels.push_back(
        std::make_unique<RecordedChannel>(std::move(part), std::move(chains), m_counts));
}

std::vector<ChannelChain>
CollectiveRecords::MakeChains(std::span<const ChannelUse> uses, const std::vector<uint64_t>& shape)
{
    std::vector<ChannelChain> chains;
    for (size_t first = 0; first < uses.size();)
    {
        size_t last = first;
        while (uses[last].isFollowedAtOnce)
        {
            ++last;
        }
        const auto chain = uses.subspan(first, last + 1 - first);
        const auto idle = chain.back().idlePicoseconds;
        chains.push_back({static_cast<uint32_t>(chain.size()),
                          static_cast<int64_t>(std::min<uint64_t>(idle, NEVER)),
                          idle > 0 ? FindKind(chain, shape) : nullptr});
        first = last + 1;
    }
    return chains;
}

ChainKind*
CollectiveRecords::FindKind(std::span<const ChannelUse> chain, const std::vector<uint64_t>& shape)
{
    KindName name{shape, {}};
    for (const auto& use : chain)
    {
        const auto& plan = *m_workload.GetPlan(use.id);
        if (chain.size() > MAX_CHAIN || !OnlySends(plan))
        {
            return nullptr;
        }
        name.second.push_back(&plan);
    }
    auto& kind = m_kinds[name];
    if (kind.plans.empty())
    {
        for (const auto& use : chain)
        {
            kind.plans.push_back(m_workload.GetPlan(use.id));
        }
    }
    return &kind;
}

std::unique_ptr<TransferCarrier>
CollectiveRecords::MakeCarrier(CommunicationId id)
{
    if (const auto [channel, place] = m_places[id]; channel != NONE)
    {
        return m_channels[channel]->MakeCarrier(place);
    }
    return m_twins ? m_twins->MakeCarrier(id) : nullptr;
}

void
CollectiveRecords::OnRankEnded(CommunicationId id)
{
    if (const auto [channel, place] = m_places[id]; channel != NONE)
    {
        m_channels[channel]->OnRankEnded(place);
    }
}

void
CollectiveRecords::OnEnded(CommunicationId id)
{
    if (const auto [channel, place] = m_places[id]; channel != NONE)
    {
        m_channels[channel]->OnEnded(place);
    }
}

void
CollectiveRecords::EndRun()
{
    if (m_twins)
    {
        m_twins->EndRun();
    }
    for (const auto& channel : m_channels)
    {
        channel->EndRun();
    }
    NS_LOG_INFO(m_counts.taken << " collectives were taken from " << m_counts.recorded
                               << " records; not so where ranks began apart (" << m_counts.apart
                               << " times), the network was busy (" << m_counts.busy
                               << ") or might have been (" << m_counts.brief << ")");
}

} // namespace ns3::gradsync
