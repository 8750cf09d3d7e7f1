// SPDX-License-Identifier: GPL-2.0-only
// The part of JobExecution that lets the network add up.
#include "ns3/job-execution.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

/// Of the plan in use, unless they are open.
void
JobExecution::OpenAggregations()
{
    if (!m_plan->HasAggregations() || !m_aggregations.empty())
    {
        return;
    }
    m_aggregationRounds = 0;
    m_aggregationCount.assign(m_plan->GetAggregationGroups().size(), 0);
    const auto operations = m_plan->GetOperations();
    m_aggregationIndex.assign(operations.size(), 0);
    for (OperationId id = 0; id < operations.size(); ++id)
    {
        if (operations[id].IsAggregate() && m_plan->GetMembers(id).last == id + 1)
        {
            const auto members = m_plan->GetMembers(id);
            std::fill(m_aggregationIndex.begin() + members.first,
                      m_aggregationIndex.begin() + members.last,
                      m_aggregationCount[operations[id].stream]++);
        }
    }
    const auto& ranks = m_plans[m_planIndex].ranks;
    const auto workers = m_plan->GetWorkerCount();
    const auto servers = m_plan->GetRankCount() - workers;
    for (const auto& group : m_plan->GetAggregationGroups())
    {
        // Dedicated servers of a plan that lets switches add up are there to help them, in turn.
        const auto turn = static_cast<uint32_t>(m_aggregations.size());
        const auto server = servers > 0
                                ? std::optional(m_job.endpointOf[ranks[workers + turn % servers]])
                                : std::nullopt;
        std::vector<uint32_t> endpoints;
        endpoints.reserve(group.size());
        for (const auto rank : group)
        {
            endpoints.push_back(m_job.endpointOf[ranks[rank]]);
        }
        try
        {
            m_aggregations.push_back(
                m_engine.OpenAggregation({std::move(endpoints),
                                          server,
                                          m_plan->GetAggregationProtocol().name,
                                          m_plan->SharesExponents()}));
        }
        catch (const std::runtime_error&)
        {
            CloseAggregations();
            throw;
        }
    }
}

void
JobExecution::CloseAggregations()
{
    for (const auto group : m_aggregations)
    {
        m_engine.CloseAggregation(group);
    }
    m_aggregations.clear();
}

void
JobExecution::StartAggregation(OperationId id)
{
    const auto& operation = m_plan->GetOperations()[id];
    const auto group = operation.stream;
    const auto index = m_aggregationRounds * m_aggregationCount[group] + m_aggregationIndex[id];
    m_members[operation.src]->Aggregate(id,
                                        {.group = m_aggregations[group],
                                         .member = id - m_plan->GetMembers(id).first,
                                         .index = index,
                                         .bytes = m_plan->GetBytes(id),
                                         .tag = 0,
                                         .handler = nullptr});
}

} // namespace ns3::gradsync
