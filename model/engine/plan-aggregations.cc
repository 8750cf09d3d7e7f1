// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-aggregations.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

void
PlanAggregations::Open(const Plan& plan,
                       std::span<const uint32_t> endpoints,
                       const Ptr<Transport>& transport)
{
    if (!plan.HasAggregations() || !m_groups.empty())
    {
        return;
    }
    m_transport = transport;
    m_round = 0;
    NumberOperations(plan);
    try
    {
        for (const auto& group : plan.GetAggregationGroups())
        {
            OpenGroup(plan, group, endpoints);
        }
    }
    catch (const std::invalid_argument& error)
    {
        Close();
        throw std::runtime_error(error.what());
    }
    catch (const std::runtime_error&)
    {
        Close();
        throw;
    }
}

void
PlanAggregations::OpenGroup(const Plan& plan,
                            std::span<const uint32_t> ranks,
                            std::span<const uint32_t> endpoints)
{
    // Dedicated servers of a plan that lets switches aggregate are there to help them, in turn.
    const auto workers = plan.GetWorkerCount();
    const auto servers = plan.GetRankCount() - workers;
    const auto turn = static_cast<uint32_t>(m_groups.size());
    const auto server =
        servers > 0 ? std::optional(endpoints[workers + turn % servers]) : std::nullopt;
    std::vector<uint32_t> members;
    members.reserve(ranks.size());
    for (const auto rank : ranks)
    {
        members.push_back(endpoints[rank]);
    }
    m_groups.push_back(m_transport->RequireAggregation().OpenAggregation(
        {std::move(members), server, plan.GetAggregationProtocol().name, plan.SharesExponents()}));
}

void
PlanAggregations::NumberOperations(const Plan& plan)
{
    m_count.assign(plan.GetAggregationGroups().size(), 0);
    const auto operations = plan.GetOperations();
    m_index.assign(operations.size(), 0);
    for (OperationId id = 0; id < operations.size(); ++id)
    {
        if (operations[id].IsAggregate() && plan.GetMembers(id).last == id + 1)
        {
            const auto members = plan.GetMembers(id);
            std::fill(m_index.begin() + members.first,
                      m_index.begin() + members.last,
                      m_count[operations[id].stream]++);
        }
    }
}

void
PlanAggregations::Close()
{
    for (const auto group : m_groups)
    {
        m_transport->RequireAggregation().CloseAggregation(group);
    }
    m_groups.clear();
}

bool
PlanAggregations::Contains(uint32_t group) const
{
    return std::ranges::find(m_groups, group) != m_groups.end();
}

AggregationMessage
PlanAggregations::MakeMessage(const Plan& plan, OperationId id) const
{
    const auto group = plan.GetOperations()[id].stream;
    return {.group = m_groups[group],
            .member = id - plan.GetMembers(id).first,
            .index = m_round * m_count[group] + m_index[id],
            .bytes = plan.GetBytes(id),
            .tag = 0,
            .handler = nullptr};
}

} // namespace ns3::gradsync
