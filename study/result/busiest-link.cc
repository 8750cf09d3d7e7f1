// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/busiest-link.h"

#include <set>

namespace ns3::gradsync
{

BusiestLink::BusiestLink(const RunResult& result, const TrainingResult& training)
    : m_result(result),
      m_training(training)
{
    const auto links = result.topology->GetLinks();
    for (size_t port = 0; port < result.links.size(); ++port)
    {
        m_busy.push_back(static_cast<double>(result.links[port].wireBytes) /
                         static_cast<double>(links[port / 2].rate.GetBitRate()));
    }
}

std::optional<uint32_t>
BusiestLink::Find(CommunicationId id)
{
    if (m_busy.empty())
    {
        return std::nullopt;
    }
    if (!m_routes)
    {
        m_routes.emplace(*m_result.topology);
    }
    const auto& communication = m_training.workload->GetCommunications()[id];
    const auto [found, isNew] =
        m_known.try_emplace({communication.group, communication.plan}, std::nullopt);
    if (isNew)
    {
        found->second =
            Search(*m_training.workload->GetPlan(id), m_training.workload->GetGroup(id));
    }
    return found->second;
}

std::optional<uint32_t>
BusiestLink::Search(const Plan& plan, std::span<const uint32_t> group) const
{
    const auto& endpointOf = m_result.jobs[m_training.job].endpointOf;
    std::set<std::pair<uint32_t, uint32_t>> pairs;
    for (const auto operation : plan.GetOperations())
    {
        if (operation.IsTransfer() && !operation.IsAggregate())
        {
            pairs.emplace(operation.src, operation.dst);
        }
    }
    std::optional<uint32_t> busiest;
    const auto consider = [this, &busiest](uint32_t port) {
        if (m_busy[port] > (busiest ? m_busy[*busiest] : 0.0))
        {
            busiest = port;
        }
    };
    if (plan.HasAggregations())
    {
        // Which switches add is up to the protocol; what a rank gives and gets is not.
        for (const auto rank : group)
        {
            const auto node = m_result.topology->GetEndpoints()[endpointOf[rank]];
            for (const auto& port : m_result.topology->GetPorts(node))
            {
                consider(2 * port.link);
                consider(2 * port.link + 1);
            }
        }
    }
    for (const auto& [src, dst] : pairs)
    {
        for (const auto& share : m_routes->GetEvenSplit(endpointOf[m_training.GetRank(group[src])],
                                                        endpointOf[m_training.GetRank(group[dst])]))
        {
            consider(2 * share.link + (share.forward ? 0 : 1));
        }
    }
    return busiest;
}

} // namespace ns3::gradsync
