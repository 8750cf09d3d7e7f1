// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-roster.h"

#include "ns3/plan-builder.h"
#include "ns3/plan-part.h"
#include "ns3/plan-verifier.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

PlanRoster::PlanRoster(const Job& job)
    : m_job(job)
{
    Ranks ranks(job.plan->GetRankCount());
    std::iota(ranks.begin(), ranks.end(), 0U);
    m_wholes.emplace(ranks, 0);
    m_plans.push_back({job.plan, std::move(ranks), true});
}

void
PlanRoster::BeginIteration(uint32_t iteration)
{
    m_iteration = iteration;
    const auto later = m_job.laterPlans.find(iteration);
    if (later == m_job.laterPlans.end())
    {
        return;
    }
    auto ranks = m_plans.front().ranks;
    m_wholes.clear(); // survivors, too, exchange otherwise from now on
    m_fallbacks.clear();
    m_wholes.emplace(ranks, static_cast<uint32_t>(m_plans.size()));
    m_plans.push_back({later->second, std::move(ranks), true});
}

uint32_t
PlanRoster::Find(std::map<Ranks, uint32_t>& known,
                 const Ranks& ranks,
                 const SurvivorPlanner& planner)
{
    const auto found = known.find(ranks);
    if (found != known.end())
    {
        return found->second;
    }
    const auto index = Add(ranks, std::nullopt, planner);
    known.emplace(ranks, index);
    return index;
}

uint32_t
PlanRoster::FindWhole(const std::vector<uint32_t>& ranks)
{
    return Find(m_wholes, ranks, m_job.planSurvivors);
}

uint32_t
PlanRoster::FindWholeFallback(const std::vector<uint32_t>& ranks)
{
    return Find(m_fallbacks, DropServers(ranks), m_job.planFallback);
}

uint32_t
PlanRoster::FindRest(const std::vector<uint32_t>& ranks, std::optional<uint64_t> bytes)
{
    return bytes ? Add(ranks, bytes, m_job.planSurvivors) : FindWhole(ranks);
}

uint32_t
PlanRoster::FindRestFallback(const std::vector<uint32_t>& ranks, std::optional<uint64_t> bytes)
{
    return bytes ? Add(DropServers(ranks), bytes, m_job.planFallback) : FindWholeFallback(ranks);
}

/// Dedicated servers help switches; without these the workers do all.
PlanRoster::Ranks
PlanRoster::DropServers(Ranks ranks) const
{
    std::erase_if(ranks, [this](uint32_t rank) { return rank >= m_job.plan->GetWorkerCount(); });
    return ranks;
}

uint32_t
PlanRoster::Add(const Ranks& ranks, std::optional<uint64_t> bytes, const SurvivorPlanner& planner)
{
    const auto workers = m_job.plan->GetWorkerCount();
    if (ranks.empty() || ranks.front() >= workers)
    {
        throw std::runtime_error("no worker is left");
    }
    std::shared_ptr<const Plan> plan;
    if (bytes == 0)
    {
        // Every survivor has all: a plan of nothing ends the iteration.
        const auto left = std::lower_bound(ranks.begin(), ranks.end(), workers) - ranks.begin();
        PlanBuilder nothing(static_cast<uint32_t>(ranks.size()),
                            static_cast<uint32_t>(left),
                            ChunkLayout::Even(0, 1));
        plan = std::make_shared<const Plan>(nothing.Build());
    }
    else
    {
        plan = planner(ranks, bytes, m_iteration);
    }
    m_plans.push_back({std::move(plan), ranks, !bytes.has_value()});
    return static_cast<uint32_t>(m_plans.size() - 1);
}

uint32_t
PlanRoster::FindPart(uint32_t index, const std::vector<bool>& isLost)
{
    Ranks ranks;
    for (uint32_t rank = 0; rank < isLost.size(); ++rank)
    {
        if (!isLost[rank])
        {
            ranks.push_back(m_plans[index].ranks[rank]);
        }
    }
    if (ranks.size() == isLost.size())
    {
        return index;
    }
    const std::pair key{index, ranks};
    const auto known = m_parts.find(key);
    if (known != m_parts.end())
    {
        return known->second;
    }
    auto part = MakePart(index, isLost, std::move(ranks));
    const auto added = static_cast<uint32_t>(m_plans.size());
    m_parts.emplace(key, added);
    m_plans.push_back(std::move(part));
    return added;
}

ExecutedPlan
PlanRoster::MakePart(uint32_t index, const std::vector<bool>& isLost, Ranks ranks) const
{
    auto made = MakePlanPart(*m_plans[index].plan, isLost);
    const auto verification = PlanVerifier().Verify(made.plan);
    if (!verification.ok)
    {
        throw std::logic_error(fmt::format("job \"{}\", iteration {}: the exchange of those that "
                                           "are left is not whole: {}",
                                           m_job.name,
                                           m_iteration,
                                           verification.violations.front()));
    }
    return {std::make_shared<const Plan>(std::move(made.plan)),
            std::move(ranks),
            false,
            index,
            std::move(made.operations)};
}

} // namespace ns3::gradsync
