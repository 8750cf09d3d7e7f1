// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/bandwidth-bound.h"

#include "ns3/all-reduce-bound.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

BandwidthBound
ComputeBandwidthBound(const Plan& plan,
                      std::span<const uint32_t> endpointOf,
                      const Topology& topology,
                      const RoutingTables& routes)
{
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> bytesOf;
    const auto operations = plan.GetOperations();
    for (OperationId id = 0; id < operations.size(); ++id)
    {
        if (operations[id].IsTransfer())
        {
            bytesOf[{operations[id].src, operations[id].dst}] += plan.GetBytes(id);
        }
    }
    const auto links = topology.GetLinks();
    std::vector<double> load(2 * links.size(), 0.0);
    for (const auto& [ranks, bytes] : bytesOf)
    {
        for (const auto& share :
             routes.GetEvenSplit(endpointOf[ranks.first], endpointOf[ranks.second]))
        {
            load[2 * share.link + (share.forward ? 0 : 1)] +=
                share.share * static_cast<double>(bytes);
        }
    }
    BandwidthBound bound;
    for (size_t i = 0; i < load.size(); ++i)
    {
        const auto& link = links[i / 2];
        const double seconds = load[i] * 8.0 / static_cast<double>(link.rate.GetBitRate());
        if (seconds > bound.seconds)
        {
            const auto& a = topology.GetNodes()[link.a].name;
            const auto& b = topology.GetNodes()[link.b].name;
            bound = {seconds, i % 2 == 0 ? a : b, i % 2 == 0 ? b : a};
        }
    }
    return bound;
}

double
ComputeCollectiveBound(const Plan& plan,
                       std::span<const uint32_t> endpointOf,
                       const Topology& topology)
{
    const auto& collective = plan.GetCollective();
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> bytesOf;
    for (uint32_t chunk = 0; chunk < plan.GetLayout().GetChunkCount(); ++chunk)
    {
        bytesOf[{collective.GetSource(chunk), collective.GetTarget(chunk)}] +=
            plan.GetLayout().GetBytes(chunk, 1);
    }
    const auto toRank = [](uint32_t rank) {
        return rank == Collective::ALL ? std::nullopt : std::optional(rank);
    };
    std::vector<ExchangeDemand> demands;
    demands.reserve(bytesOf.size());
    for (const auto& [ranks, bytes] : bytesOf)
    {
        demands.push_back({toRank(ranks.first), toRank(ranks.second), bytes});
    }
    return ComputeExchangeBound(topology,
                                endpointOf,
                                plan.GetWorkerCount(),
                                demands,
                                plan.HasAggregations() ? SwitchSums::Yes : SwitchSums::No);
}

} // namespace ns3::gradsync
