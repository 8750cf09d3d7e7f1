// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/workload-aggregations.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

std::string
DescribeRefusal(const Workload& workload, CommunicationId id, const std::runtime_error& error)
{
    return fmt::format("{}: {}",
                       workload.GetLabel(workload.GetCommunications()[id].label),
                       error.what());
}

} // namespace

void
WorkloadAggregations::Open(const Workload& workload,
                           std::span<const uint32_t> endpoints,
                           const Ptr<Transport>& transport)
{
    for (CommunicationId id = 0; id < workload.GetCommunications().size(); ++id)
    {
        const auto& plan = *workload.GetPlan(id);
        if (!plan.HasAggregations())
        {
            continue;
        }
        std::vector<uint32_t> own;
        for (const auto rank : workload.GetGroup(id))
        {
            own.push_back(endpoints[rank]);
        }
        try
        {
            m_channels[GetChannel(workload, id)].Open(plan, own, transport);
        }
        catch (const AggregationDenied& denied)
        {
            Close();
            throw AggregationDenied(DescribeRefusal(workload, id, denied));
        }
        catch (const std::runtime_error& error)
        {
            Close();
            throw std::runtime_error(DescribeRefusal(workload, id, error));
        }
    }
}

void
WorkloadAggregations::Close()
{
    for (auto& [channel, aggregations] : m_channels)
    {
        aggregations.Close();
    }
    m_channels.clear();
}

AggregationTurn
WorkloadAggregations::TakeTurn(const Workload& workload, CommunicationId id)
{
    const auto& plan = *workload.GetPlan(id);
    return plan.HasAggregations() ? m_channels.at(GetChannel(workload, id)).TakeTurn(plan)
                                  : AggregationTurn();
}

bool
WorkloadAggregations::Contains(uint32_t group) const
{
    return std::ranges::any_of(m_channels, [group](const auto& channel) {
        return channel.second.Contains(group);
    });
}

} // namespace ns3::gradsync
