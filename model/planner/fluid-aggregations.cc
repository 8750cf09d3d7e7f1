// SPDX-License-Identifier: GPL-2.0-only
// What FluidExecution does for groups of which switches aggregate.
#include "ns3/fluid-execution.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// A path and a connection for each group, behind those of transfers.
void
FluidExecution::PrepareGroups()
{
    m_firstGroup = static_cast<uint32_t>(m_connections.size());
    m_series.resize(m_paces.size());
    for (const auto& pace : m_paces)
    {
        m_connections.push_back({m_served.Add(pace.GetUses(), std::nullopt), {}});
        m_pathOf.push_back(NONE);
    }
    const auto operations = m_placed.plan.GetOperations();
    for (OperationId id = 0; id < operations.size() && !m_paces.empty(); ++id)
    {
        if (operations[id].IsAggregate())
        {
            m_connectionOf[id] = m_firstGroup + operations[id].stream;
        }
    }
}

/// \returns whether the window of a group is empty: what begins comes behind a pause
bool
FluidExecution::BeginSeries(uint32_t group)
{
    auto& series = m_series[group];
    if (series.until > m_now + GetTolerance())
    {
        return false;
    }
    series.since = m_now;
    series.until = m_now;
    series.all = {};
    series.busy = 0.0;
    return true;
}

/// Endpoints send the windows of several groups one after the other.
double
FluidExecution::TakeWindow(uint32_t connection)
{
    const auto group = connection - m_firstGroup;
    const auto& pace = m_paces[group];
    auto turn = m_now;
    for (const auto link : pace.GetFirstLinks())
    {
        turn = std::max(turn, m_nextTurn[link]);
    }
    const auto bytes = m_placed.plan.GetBytes(m_connections[connection].waiting.front());
    for (const auto link : pace.GetFirstLinks())
    {
        m_nextTurn[link] = turn + pace.GetFirstWindow(bytes);
    }
    m_series[group].since = turn;
    return turn;
}

/// Its links are through with it. \returns when its members have what comes of it
double
FluidExecution::FinishAggregation(OperationId id)
{
    const auto group = m_placed.plan.GetOperations()[id].stream;
    const auto bytes = m_placed.plan.GetBytes(id);
    const auto& pace = m_paces[group];
    auto& series = m_series[group];
    series.all.Add(pace, bytes);
    series.busy += m_now - series.served;
    Queue(id, -1.0);
    series.until =
        std::max(m_now + pace.GetTail(bytes), series.since + pace.GetUnloadedSeconds(series.all));
    if (pace.IsRequested())
    {
        // Windows that share links: between the longer of the two times and their sum.
        const auto windows = static_cast<double>(series.all.packets) * pace.GetWindowSeconds();
        series.until = std::max(series.until + GetQueueing(group),
                                series.since + std::hypot(windows, series.busy));
    }
    return series.until;
}

/// An aggregation begins or ends: what its group has under way on its links. \param sign -1: ends
void
FluidExecution::Queue(OperationId id, double sign)
{
    const auto group = m_placed.plan.GetOperations()[id].stream;
    const auto& pace = m_paces[group];
    if (!pace.IsRequested())
    {
        return;
    }
    auto& series = m_series[group];
    series.queued += sign * pace.GetBytes(m_placed.plan.GetBytes(id));
    const auto before =
        std::exchange(series.underWay, std::min(series.queued, pace.GetWindowBytes()));
    for (const auto& use : pace.GetUses())
    {
        m_windowBytes[use.link] += use.weight * (series.underWay - before);
    }
}

/// How long packets of a group wait behind those of others that are under way.
double
FluidExecution::GetQueueing(uint32_t group) const
{
    double longest = 0.0;
    for (const auto& use : m_paces[group].GetUses())
    {
        longest = std::max(longest, m_windowBytes[use.link] / m_capacities[use.link]);
    }
    return std::max(0.0, longest - m_paces[group].GetRoundTrip());
}

/// All members of an aggregation, which its first one stands for.
std::vector<OperationId>
FluidExecution::ListEnding(OperationId id) const
{
    if (!m_placed.plan.GetOperations()[id].IsAggregate())
    {
        return {id};
    }
    const auto members = m_placed.plan.GetMembers(id);
    std::vector<OperationId> ending(members.last - members.first);
    std::iota(ending.begin(), ending.end(), members.first);
    return ending;
}

} // namespace ns3::gradsync
