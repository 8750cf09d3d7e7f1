// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/workload-roster.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

WorkloadRoster::WorkloadRoster(const TrainingJob& job, const Ptr<Transport>& transport)
    : m_job(job),
      m_transport(transport),
      m_ranks(job.endpointOf.size()),
      m_workload(job.workload)
{
    std::iota(m_ranks.begin(), m_ranks.end(), 0);
    try
    {
        OpenAggregations();
    }
    catch (const AggregationDenied& denied)
    {
        DoWithout(denied);
    }
}

/// It has another way, and asks for switches again when it begins an iteration.
void
WorkloadRoster::DoWithout(const AggregationDenied& denied)
{
    if (!m_job.planFallback)
    {
        throw denied;
    }
    try
    {
        m_aggregating = std::exchange(m_workload, m_job.planFallback(m_ranks));
    }
    catch (const std::runtime_error&)
    {
        throw denied; // there is no other way
    }
}

bool
WorkloadRoster::Contains(uint32_t rank) const
{
    return std::ranges::binary_search(m_ranks, rank);
}

bool
WorkloadRoster::IsPlain() const
{
    return !m_aggregating && m_ranks.size() == m_job.endpointOf.size() && m_aggregations.IsEmpty();
}

/// Of the workload in hand, for the ranks that are left.
void
WorkloadRoster::OpenAggregations()
{
    std::vector<uint32_t> endpoints;
    for (const auto rank : m_ranks)
    {
        endpoints.push_back(m_job.endpointOf[rank]);
    }
    m_aggregations.Open(*m_workload, endpoints, m_transport);
}

void
WorkloadRoster::Drop(uint32_t rank)
{
    std::erase(m_ranks, rank);
}

std::shared_ptr<const Workload>
WorkloadRoster::PlanSurvivors()
{
    if (m_ranks.empty())
    {
        throw std::runtime_error("there are none");
    }
    m_aggregating.reset();
    return m_job.planSurvivors(m_ranks);
}

std::shared_ptr<const Workload>
WorkloadRoster::PlanFallback()
{
    m_aggregating = m_workload;
    return m_job.planFallback(m_ranks);
}

void
WorkloadRoster::Take(std::shared_ptr<const Workload> workload)
{
    m_aggregations.Close();
    m_workload = std::move(workload);
    OpenAggregations();
}

bool
WorkloadRoster::AskForSwitches()
{
    if (!m_aggregating)
    {
        return true;
    }
    auto fallback = std::exchange(m_workload, m_aggregating);
    try
    {
        OpenAggregations();
        m_aggregating.reset();
        return true;
    }
    catch (const std::runtime_error&)
    {
        m_workload = std::move(fallback);
        return false;
    }
}

} // namespace ns3::gradsync
