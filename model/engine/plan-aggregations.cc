// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-aggregations.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// What a group of a plan asks the transport for.
AggregationGroup
MakeGroup(const Plan& plan, uint32_t group, std::span<const uint32_t> endpoints)
{
    // Dedicated servers of a plan that lets switches aggregate are there to help them, in turn.
    const auto workers = plan.GetWorkerCount();
    const auto servers = plan.GetRankCount() - workers;
    const auto server =
        servers > 0 ? std::optional(endpoints[workers + group % servers]) : std::nullopt;
    const auto& ranks = plan.GetAggregationGroups()[group];
    std::vector<uint32_t> members;
    members.reserve(ranks.size());
    for (const auto rank : ranks)
    {
        members.push_back(endpoints[rank]);
    }
    const auto& [flow, root] = plan.GetAggregationFlow(group);
    const auto place = std::ranges::find(ranks, root) - ranks.begin();
    const bool hasRoot = flow != AggregationFlow::AllReduce;
    return {std::move(members),
            server,
            plan.GetAggregationProtocol().name,
            plan.SharesExponents(),
            flow,
            hasRoot ? static_cast<uint32_t>(place) : 0};
}

bool
IsSame(const AggregationGroup& a, const AggregationGroup& b)
{
    return a.endpoints == b.endpoints && a.server == b.server && a.protocol == b.protocol &&
           a.sharesExponents == b.sharesExponents && a.flow == b.flow && a.root == b.root &&
           a.rootSwitch == b.rootSwitch;
}

/// [operation] which aggregation of its group it is; and how many each group has.
std::pair<std::vector<uint32_t>, std::vector<uint32_t>>
NumberOperations(const Plan& plan)
{
    std::vector<uint32_t> count(plan.GetAggregationGroups().size(), 0);
    const auto operations = plan.GetOperations();
    std::vector<uint32_t> index(operations.size(), 0);
    for (OperationId id = 0; id < operations.size(); ++id)
    {
        if (operations[id].IsAggregate() && plan.GetMembers(id).last == id + 1)
        {
            const auto members = plan.GetMembers(id);
            std::fill(index.begin() + members.first,
                      index.begin() + members.last,
                      count[operations[id].stream]++);
        }
    }
    return {std::move(index), std::move(count)};
}

} // namespace

AggregationMessage
AggregationTurn::MakeMessage(const Plan& plan, OperationId id) const
{
    const auto group = plan.GetOperations()[id].stream;
    return {.group = m_groups[group],
            .member = id - plan.GetMembers(id).first,
            .index = m_first[group] + (*m_index)[id],
            .bytes = plan.GetBytes(id),
            .tag = 0,
            .handler = nullptr};
}

void
PlanAggregations::Open(const Plan& plan,
                       std::span<const uint32_t> endpoints,
                       const Ptr<Transport>& transport,
                       std::span<const NodeId> roots)
{
    if (!plan.HasAggregations() || m_uses.contains(&plan))
    {
        return;
    }
    m_transport = transport;
    try
    {
        Use use;
        for (uint32_t group = 0; group < plan.GetAggregationGroups().size(); ++group)
        {
            auto asked = MakeGroup(plan, group, endpoints);
            if (!roots.empty())
            {
                asked.rootSwitch = roots[group % roots.size()];
            }
            use.sessions.push_back(FindSession(asked, use.sessions));
        }
        auto [index, count] = NumberOperations(plan);
        use.index = std::make_shared<const std::vector<uint32_t>>(std::move(index));
        use.count = std::move(count);
        m_uses.emplace(&plan, std::move(use));
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

/// One that is asked for, opened unless it is there. \param taken by other groups of the plan
size_t
PlanAggregations::FindSession(const AggregationGroup& asked, const std::vector<size_t>& taken)
{
    for (size_t i = 0; i < m_sessions.size(); ++i)
    {
        if (IsSame(m_sessions[i].asked, asked) && std::ranges::find(taken, i) == taken.end())
        {
            return i;
        }
    }
    const auto group = m_transport->RequireAggregation().OpenAggregation(asked);
    m_sessions.push_back({asked, group});
    return m_sessions.size() - 1;
}

void
PlanAggregations::Close()
{
    for (const auto& session : m_sessions)
    {
        m_transport->RequireAggregation().CloseAggregation(session.group);
    }
    m_sessions.clear();
    m_uses.clear();
}

AggregationTurn
PlanAggregations::TakeTurn(const Plan& plan)
{
    AggregationTurn turn;
    if (!plan.HasAggregations())
    {
        return turn;
    }
    const auto& use = m_uses.at(&plan);
    for (size_t group = 0; group < use.sessions.size(); ++group)
    {
        auto& session = m_sessions[use.sessions[group]];
        turn.m_groups.push_back(session.group);
        turn.m_first.push_back(session.next);
        session.next += use.count[group];
    }
    turn.m_index = use.index;
    return turn;
}

std::vector<uint32_t>
PlanAggregations::ListGroups(const Plan& plan) const
{
    std::vector<uint32_t> groups;
    for (const auto session : m_uses.at(&plan).sessions)
    {
        groups.push_back(m_sessions[session].group);
    }
    return groups;
}

bool
PlanAggregations::Contains(uint32_t group) const
{
    return std::ranges::find(m_sessions, group, &Session::group) != m_sessions.end();
}

} // namespace ns3::gradsync
