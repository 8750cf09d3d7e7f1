// SPDX-License-Identifier: GPL-2.0-only
// The part of JobExecution that lives with the loss of ranks.
#include "ns3/job-execution.h"
#include "ns3/log.h"
#include "ns3/plan-builder.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncJobSurvivors");

std::optional<uint32_t>
JobExecution::FindRank(uint32_t endpoint) const
{
    const auto& endpoints = m_job.endpointOf;
    const auto found = std::find(endpoints.begin(), endpoints.end(), endpoint);
    return found == endpoints.end()
               ? std::nullopt
               : std::make_optional(static_cast<uint32_t>(found - endpoints.begin()));
}

void
JobExecution::OnCrash(uint32_t endpoint)
{
    if (const auto rank = FindRank(endpoint))
    {
        m_applications[*rank]->Crash();
    }
}

void
JobExecution::OnRestart(uint32_t endpoint)
{
    if (const auto rank = FindRank(endpoint))
    {
        m_applications[*rank]->Restart();
        m_down.erase(*rank);
    }
}

void
JobExecution::OnNotice(uint32_t rank)
{
    if (m_finished || m_failure)
    {
        return;
    }
    const auto* application = PeekPointer(m_applications[rank]);
    // Without a reaction the controller of rounds goes on to call those that do not answer.
    if (application->IsCrashed() && (m_job.planSurvivors || !CanDoWithout(rank)))
    {
        m_down.insert(rank);
    }
    // One that is back since before this iteration, or was left out of it, is not missed.
    const bool isMember =
        std::find(m_members.begin(), m_members.end(), application) != m_members.end();
    if (m_running && isMember && !application->HasBegun())
    {
        if (CanDoWithout(rank))
        {
            TraceLoss(rank);
            LoseWorker(rank);
            return;
        }
        m_lost.insert(rank);
        GoOnWithout(rank);
    }
}

/// A round goes on without a worker; nothing is planned anew.
void
JobExecution::TraceLoss(uint32_t rank)
{
    if (m_job.planSurvivors && !m_lost.contains(rank))
    {
        const auto left = m_plan->GetRankCount() - m_lost.size() - 1;
        m_engine.TraceReaction({Simulator::Now(),
                                m_index,
                                m_iteration,
                                m_planIndex,
                                rank,
                                static_cast<uint32_t>(left),
                                0});
    }
}

void
JobExecution::GoOnWithout(uint32_t rank)
{
    if (!m_job.planSurvivors)
    {
        Fail(fmt::format("rank {} has crashed", rank));
        return;
    }
    const auto survivors = FindSurvivors();
    const auto bytes = FindMissingBytes();
    NS_LOG_LOGIC("job " << m_job.name << " goes on without rank " << rank);
    m_engine.TraceReaction({Simulator::Now(),
                            m_index,
                            m_iteration,
                            m_planIndex,
                            rank,
                            static_cast<uint32_t>(survivors.size()),
                            bytes.value_or(m_plan->GetLayout().GetTotalBytes())});
    m_engine.Abandon(m_applications);
    try
    {
        RestartOrFallBack(survivors, bytes);
    }
    catch (const std::runtime_error& error)
    {
        Fail(fmt::format("rank {} has crashed, and the others cannot go on: {}",
                         rank,
                         error.what()));
    }
}

/// Of the gradient; nothing: all of it.
std::optional<uint64_t>
JobExecution::FindMissingBytes() const
{
    const auto missing = FindMissingChunks();
    const bool isWhole = m_plans[m_planIndex].isWhole &&
                         std::find(missing.begin(), missing.end(), false) == missing.end();
    return isWhole ? std::nullopt : std::make_optional(CountBytes(missing));
}

/// With a new plan of the scheme, or, where no switches would add up for it, without.
void
JobExecution::RestartOrFallBack(const std::vector<uint32_t>& ranks, std::optional<uint64_t> bytes)
{
    try
    {
        Restart(bytes ? AddPlan(ranks, bytes, m_job.planSurvivors) : FindWholePlan(ranks));
    }
    catch (const std::runtime_error&)
    {
        if (!m_job.planFallback)
        {
            throw;
        }
        TraceFallback(bytes.value_or(m_job.plan->GetLayout().GetTotalBytes()));
        RestartWithFallback(ranks, bytes);
    }
}

void
JobExecution::RestartWithFallback(const std::vector<uint32_t>& ranks, std::optional<uint64_t> bytes)
{
    const auto workers = DropServers(ranks);
    Restart(bytes ? AddPlan(workers, bytes, m_job.planFallback) : FindWholeFallback(workers));
}

/// Dedicated servers help switches; without these the workers do all.
std::vector<uint32_t>
JobExecution::DropServers(std::vector<uint32_t> ranks) const
{
    std::erase_if(ranks, [this](uint32_t rank) { return rank >= m_job.plan->GetWorkerCount(); });
    return ranks;
}

void
JobExecution::OnAggregationLost(uint32_t attempt)
{
    if (m_finished || m_failure || !m_running || attempt != m_attempt)
    {
        return;
    }
    NS_LOG_LOGIC("job " << m_job.name << " falls back");
    const auto bytes = FindMissingBytes();
    TraceFallback(bytes.value_or(m_plan->GetLayout().GetTotalBytes()));
    m_engine.Abandon(m_applications);
    try
    {
        RestartWithFallback(FindSurvivors(), bytes);
    }
    catch (const std::runtime_error& error)
    {
        Fail(fmt::format("no switches add up, and there is no other way: {}", error.what()));
    }
}

void
JobExecution::OnRebuilt(uint32_t group)
{
    if (m_running && std::ranges::find(m_aggregations, group) != m_aggregations.end())
    {
        m_engine.TraceReaction({Simulator::Now(),
                                m_index,
                                m_iteration,
                                m_planIndex,
                                ReactionRecord::NO_RANK,
                                m_plan->GetRankCount(),
                                0,
                                ReactionKind::Rebuild});
    }
}

void
JobExecution::TraceFallback(uint64_t bytes)
{
    m_engine.TraceReaction({Simulator::Now(),
                            m_index,
                            m_iteration,
                            m_planIndex,
                            ReactionRecord::NO_RANK,
                            m_plan->GetRankCount() - static_cast<uint32_t>(m_lost.size()),
                            bytes,
                            ReactionKind::Fallback});
}

std::vector<uint32_t>
JobExecution::FindSurvivors() const
{
    std::vector<uint32_t> ranks;
    for (const auto rank : m_plans[m_planIndex].ranks)
    {
        if (!m_lost.contains(rank))
        {
            ranks.push_back(rank);
        }
    }
    return ranks;
}

/// [chunk] of the plan in use: some survivor does not hold its result yet.
std::vector<bool>
JobExecution::FindMissingChunks() const
{
    const auto& plan = *m_plan;
    std::vector<bool> missing(plan.GetLayout().GetChunkCount());
    for (uint32_t chunk = 0; chunk < missing.size(); ++chunk)
    {
        // What other collectives have done is no part of what they would do for fewer ranks.
        const auto& collective = plan.GetCollective();
        missing[chunk] = collective.GetSource(chunk) != Collective::ALL ||
                         collective.GetTarget(chunk) != Collective::ALL;
    }
    for (OperationId id = 0; id < m_waiting.size(); ++id)
    {
        const auto& operation = plan.GetOperations()[id];
        if (IsDone(id) || m_lost.contains(m_members[operation.dst]->GetRank()))
        {
            continue;
        }
        for (uint32_t i = 0; i < operation.chunkCount; ++i)
        {
            missing[operation.firstChunk + i] = true;
        }
    }
    return missing;
}

uint64_t
JobExecution::CountBytes(const std::vector<bool>& missing) const
{
    uint64_t bytes = 0;
    for (uint32_t chunk = 0; chunk < missing.size(); ++chunk)
    {
        bytes += missing[chunk] ? m_plan->GetLayout().GetBytes(chunk, 1) : 0;
    }
    return bytes;
}

/// The index of the plan by which these ranks exchange a whole gradient.
uint32_t
JobExecution::FindWholePlan(const std::vector<uint32_t>& ranks)
{
    const auto known = m_planOf.find(ranks);
    if (known != m_planOf.end())
    {
        return known->second;
    }
    const auto index = AddPlan(ranks, std::nullopt, m_job.planSurvivors);
    m_planOf.emplace(ranks, index);
    return index;
}

/// Likewise, without switches that add up.
uint32_t
JobExecution::FindWholeFallback(const std::vector<uint32_t>& ranks)
{
    const auto known = m_fallbackOf.find(ranks);
    if (known != m_fallbackOf.end())
    {
        return known->second;
    }
    const auto index = AddPlan(ranks, std::nullopt, m_job.planFallback);
    m_fallbackOf.emplace(ranks, index);
    return index;
}

/// The index of a new plan. \param bytes that are missing of the gradient; nothing: all of it
uint32_t
JobExecution::AddPlan(const std::vector<uint32_t>& ranks,
                      std::optional<uint64_t> bytes,
                      const SurvivorPlanner& planner)
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

void
JobExecution::UsePlan(uint32_t index)
{
    if (index != m_planIndex)
    {
        CloseAggregations();
    }
    m_planIndex = index;
    m_plan = m_plans[index].plan.get();
    OpenAggregations();
    m_members.clear();
    m_members.reserve(m_plans[index].ranks.size());
    for (const auto rank : m_plans[index].ranks)
    {
        m_members.push_back(PeekPointer(m_applications[rank]));
    }
    m_compress = Time();
    m_decompress = Time();
    if (m_plan->IsCompressed())
    {
        SumComputeTimes();
    }
}

/// Uses a plan, or another one if no switches would add up for it.
bool
JobExecution::UseOrFallBack(uint32_t plan, const std::vector<uint32_t>& ranks)
{
    try
    {
        UsePlan(plan);
    }
    catch (const std::runtime_error&)
    {
        const auto fallback = FindWholeFallback(DropServers(ranks));
        TraceFallback(m_job.plan->GetLayout().GetTotalBytes());
        UsePlan(fallback);
    }
    return true;
}

/// Takes up what the job has for its iterations from this one on.
void
JobExecution::TakeLaterPlan()
{
    const auto later = m_job.laterPlans.find(m_iteration);
    if (later == m_job.laterPlans.end())
    {
        return;
    }
    const auto ranks = m_plans.front().ranks;
    m_planOf.clear(); // survivors, too, exchange otherwise from now on
    m_fallbackOf.clear();
    m_planOf.emplace(ranks, static_cast<uint32_t>(m_plans.size()));
    m_plans.push_back({later->second, ranks, true});
}

/// False when the job cannot go on.
bool
JobExecution::ChoosePlan()
{
    TakeLaterPlan();
    std::vector<uint32_t> ranks;
    for (const auto rank : m_plans.front().ranks)
    {
        if (!m_down.contains(rank))
        {
            ranks.push_back(rank);
        }
    }
    try
    {
        if (!m_down.empty() && !m_job.planSurvivors)
        {
            throw std::runtime_error("the job cannot go on without them");
        }
        const auto whole = FindWholePlan(ranks);
        if (m_job.planFallback && m_plans[whole].plan->HasAggregations())
        {
            return UseOrFallBack(whole, ranks);
        }
        UsePlan(whole);
        return true;
    }
    catch (const std::runtime_error& error)
    {
        Fail(fmt::format("{} ranks are down: {}", m_down.size(), error.what()));
        return false;
    }
}

void
JobExecution::AbandonPlans()
{
    for (const auto& application : m_applications)
    {
        application->AbandonPlan();
    }
}

void
JobExecution::Restart(uint32_t plan)
{
    CountInFlight(-static_cast<int>(m_inFlight));
    ++m_attempt;
    m_ready.clear();
    CloseAggregations(); // with all that is under way
    m_waiting = {};      // the old ones go first: a plan may have millions
    m_waiting = m_plans[plan].plan->CountPredecessors(); // before UsePlan, which may fail
    UsePlan(plan);
    m_record.plan = plan;
    m_record.compress = m_compress;
    m_record.decompress = m_decompress;
    m_workersExchanging = 0;
    AbandonPlans();
    for (uint32_t rank = 0; rank < m_members.size(); ++rank)
    {
        const bool isReady = rank < m_plan->GetWorkerCount() && m_members[rank]->IsExchanging();
        m_workersExchanging += isReady ? 1 : 0;
    }
    m_left = static_cast<uint32_t>(m_waiting.size());
    OpenGate();
    m_sentAt.resize(m_engine.IsTransferTraced() ? m_waiting.size() : 0);
    // Listed first: what is done at once makes others ready.
    std::vector<OperationId> ready;
    for (OperationId id = 0; id < m_waiting.size(); ++id)
    {
        if (m_waiting[id] == 0)
        {
            ready.push_back(id);
        }
    }
    for (const auto id : ready)
    {
        MakeReady(id);
    }
    FinishIterationIfDone();
}

} // namespace ns3::gradsync
