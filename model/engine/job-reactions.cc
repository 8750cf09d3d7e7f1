// SPDX-License-Identifier: GPL-2.0-only
// The part of JobExecution that lives with the loss of ranks and switches, and with late answers.
#include "ns3/failure-text.h"
#include "ns3/job-execution.h"
#include "ns3/log.h"
#include "ns3/missing-chunks.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncJobReactions");

void
JobExecution::OnCrash(uint32_t endpoint)
{
    const auto rank = FindRank(endpoint);
    if (!rank)
    {
        return;
    }
    m_applications[*rank]->Crash();
    const auto planRank = FindPlanRank(*rank);
    if (m_execution && planRank)
    {
        m_execution->Withdraw(*planRank);
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
    const auto& application = *m_applications[rank];
    // Without a reaction the controller of rounds goes on to call those that do not answer.
    if (application.IsCrashed() && (m_job.planSurvivors || !CanDoWithout(rank)))
    {
        m_down.insert(rank);
    }
    // One that is back since before this iteration, or was left out of it, is not missed.
    if (!m_running || !FindPlanRank(rank) || application.HasBegun())
    {
        return;
    }
    if (!CanDoWithout(rank))
    {
        m_lost.insert(rank);
        GoOnWithout(rank);
        return;
    }
    if (m_job.planSurvivors && !m_lost.contains(rank))
    {
        // The round goes on without it; nothing is planned anew.
        React(rank, FindSurvivors().size() - 1, 0, ReactionKind::Replan);
    }
    LoseWorker(rank);
}

/// Once whoever calls has told all that it is about to tell; unless the job is gone by then.
template <typename F>
void
JobExecution::Soon(F action)
{
    Simulator::ScheduleNow([job = weak_from_this(), action] {
        if (const auto alive = job.lock())
        {
            action(*alive);
        }
    });
}

void
JobExecution::OnTransferFailed(PlanExecution& execution, OperationId id, const std::string& reason)
{
    // A peer that has crashed is found out by its silence.
    const auto operation = execution.GetPlan().GetOperations()[id];
    for (const auto* peer : {&execution.GetRank(operation.src), &execution.GetRank(operation.dst)})
    {
        const auto rank = peer->GetRank();
        if (CanDoWithout(rank))
        {
            Soon([rank](auto& job) { job.LoseWorker(rank); });
            return;
        }
        if (m_job.planSurvivors && !peer->HasBegun())
        {
            Soon([rank](auto& job) { job.OnNotice(rank); });
            return;
        }
    }
    if (operation.IsAggregate() && m_job.planFallback)
    {
        if (m_site.share)
        {
            throw std::runtime_error(
                fmt::format("job {} would go on without switches that aggregate, which cannot go "
                            "with --ranks, as all ranks would have to know it at once: {}",
                            m_job.name,
                            reason));
        }
        Soon([number = execution.GetNumber()](auto& job) { job.FallBack(number); });
        return;
    }
    Fail(fmt::format("{}: {}", DescribeOperation(execution.GetPlan(), id), reason));
}

void
JobExecution::OnSumWrong(PlanExecution& execution, OperationId id, const std::string& reason)
{
    Fail(fmt::format("{}: {}", DescribeOperation(execution.GetPlan(), id), reason));
}

/// False when the job cannot go on.
bool
JobExecution::ChoosePlan()
{
    m_roster.BeginIteration(m_iteration);
    auto ranks = m_roster.Get(0).ranks;
    std::erase_if(ranks, [this](uint32_t rank) { return m_down.contains(rank); });
    try
    {
        if (!m_down.empty() && !m_job.planSurvivors)
        {
            throw std::runtime_error("the job cannot go on without them");
        }
        const auto whole = m_roster.FindWhole(ranks);
        try
        {
            Use(whole);
        }
        catch (const std::runtime_error&)
        {
            if (!m_job.planFallback)
            {
                throw;
            }
            // No switches would aggregate for it.
            const auto fallback = m_roster.FindWholeFallback(ranks);
            TraceFallback(m_roster.Get(fallback).ranks, m_job.plan->GetLayout().GetTotalBytes());
            Use(fallback);
        }
        return true;
    }
    catch (const std::runtime_error& error)
    {
        Fail(fmt::format("{} ranks are down: {}", m_down.size(), error.what()));
        return false;
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
    React(rank,
          survivors.size(),
          bytes.value_or(GetPlan().plan->GetLayout().GetTotalBytes()),
          ReactionKind::Replan);
    AbandonMessages();
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

/// With a new plan of the scheme, or, where no switches would aggregate for it, without.
void
JobExecution::RestartOrFallBack(const std::vector<uint32_t>& ranks, std::optional<uint64_t> bytes)
{
    try
    {
        Restart(m_roster.FindRest(ranks, bytes));
    }
    catch (const std::runtime_error&)
    {
        if (!m_job.planFallback)
        {
            throw;
        }
        const auto rest = m_roster.FindRestFallback(ranks, bytes);
        TraceFallback(m_roster.Get(rest).ranks,
                      bytes.value_or(m_job.plan->GetLayout().GetTotalBytes()));
        Restart(rest);
    }
}

/// The network does not aggregate any more, as it was to do for that execution.
void
JobExecution::FallBack(uint32_t execution)
{
    if (m_finished || m_failure || !m_running || execution != m_execution->GetNumber())
    {
        return;
    }
    NS_LOG_LOGIC("job " << m_job.name << " falls back");
    const auto survivors = FindSurvivors();
    const auto bytes = FindMissingBytes();
    const auto total = GetPlan().plan->GetLayout().GetTotalBytes();
    try
    {
        const auto rest = m_roster.FindRestFallback(survivors, bytes);
        TraceFallback(m_roster.Get(rest).ranks, bytes.value_or(total));
        AbandonMessages();
        Restart(rest);
    }
    catch (const std::runtime_error& error)
    {
        Fail(fmt::format("no switches aggregate, and there is no other way: {}", error.what()));
    }
}

void
JobExecution::OnRebuilt(uint32_t group)
{
    if (m_running && m_aggregations.Contains(group))
    {
        React(ReactionRecord::NO_RANK, FindSurvivors().size(), 0, ReactionKind::Rebuild);
    }
}

void
JobExecution::TraceFallback(const std::vector<uint32_t>& ranks, uint64_t bytes)
{
    React(ReactionRecord::NO_RANK, ranks.size(), bytes, ReactionKind::Fallback);
}

void
JobExecution::React(uint32_t rank, size_t survivors, uint64_t bytes, ReactionKind kind)
{
    m_site.listener->OnReaction({Simulator::Now(),
                                 m_index,
                                 m_iteration,
                                 m_planIndex,
                                 rank,
                                 static_cast<uint32_t>(survivors),
                                 bytes,
                                 kind});
}

/// Of the iteration in hand, with another plan.
void
JobExecution::Restart(uint32_t plan)
{
    if (m_execution)
    {
        m_record.network += m_execution->GetNetworkTime();
        m_gate.Cancel();
        DropExecution(); // with all that is under way
    }
    m_aggregations.Close();
    Use(plan);
    std::vector<uint32_t> exchanging;
    for (const auto& application : m_applications)
    {
        application->DropWork();
        const auto planRank = FindPlanRank(application->GetRank());
        if (application->IsExchanging() && planRank)
        {
            exchanging.push_back(*planRank);
        }
    }
    BeginExecution();
    m_execution->StartTogether(exchanging);
}

std::vector<uint32_t>
JobExecution::FindSurvivors() const
{
    auto ranks = GetPlan().ranks;
    std::erase_if(ranks, [this](uint32_t rank) { return m_lost.contains(rank); });
    return ranks;
}

/// Of the gradient; nothing: all of it.
std::optional<uint64_t>
JobExecution::FindMissingBytes() const
{
    const auto& plan = *GetPlan().plan;
    std::vector<bool> isLost;
    for (const auto rank : GetPlan().ranks)
    {
        isLost.push_back(m_lost.contains(rank));
    }
    const auto missing = FindMissingChunks(plan, m_execution->GetLedger(), isLost);
    const bool isAll = std::find(missing.begin(), missing.end(), false) == missing.end();
    return GetPlan().isWhole && isAll ? std::nullopt
                                      : std::make_optional(CountBytes(plan.GetLayout(), missing));
}

bool
JobExecution::CanDoWithout(uint32_t rank) const
{
    return GetPlan().plan->GetGate() && rank < m_job.plan->GetWorkerCount();
}

void
JobExecution::OnAnswer(PlanExecution& /* execution */)
{
    m_gate.OnAnswer();
}

bool
JobExecution::HasLost() const
{
    return !m_lost.empty();
}

bool
JobExecution::IsGivenUp(uint32_t rank) const
{
    return m_job.planSurvivors && m_lost.contains(rank);
}

void
JobExecution::OnNobodyAnswered(const Time& timeout)
{
    Fail(fmt::format("nobody answered within {} s", timeout.ToDouble(Time::S)));
}

void
JobExecution::OnGateClosing()
{
    auto isLost = m_gate.Close({m_iteration, m_planIndex});
    for (uint32_t rank = 0; rank < isLost.size(); ++rank)
    {
        // Answered, and gone before this instant.
        isLost[rank] = isLost[rank] || m_lost.contains(GetPlan().ranks[rank]);
    }
    m_execution->LeaveOut(isLost);
    if (UsePart(isLost))
    {
        m_gate.Pass();
        m_execution->EndIfDone();
    }
}

/**
 * The iteration ends as one of those that are left: the plan without the others is proved to be
 * whole, and named by the records. \returns false when the job has failed
 */
bool
JobExecution::UsePart(const std::vector<bool>& isLost)
{
    const auto workers = isLost.begin() + GetPlan().plan->GetWorkerCount();
    if (std::find(isLost.begin(), workers, false) == workers)
    {
        Fail("all that answered are lost");
        return false;
    }
    m_record.plan = m_roster.FindPart(m_planIndex, isLost);
    return true;
}

/// A worker of a plan with a gate is gone.
void
JobExecution::LoseWorker(uint32_t rank)
{
    if (!m_running || m_failure || !m_lost.insert(rank).second)
    {
        return;
    }
    m_gate.ForgetLateAt(rank);
    if (!m_gate.IsClosed())
    {
        m_gate.CloseIfEnough();
        return;
    }
    // Nobody waits for the model to reach it.
    const auto& left = m_roster.Get(m_record.plan).ranks;
    std::vector<bool> isLost;
    for (const auto member : GetPlan().ranks)
    {
        isLost.push_back(member == rank || !std::binary_search(left.begin(), left.end(), member));
    }
    m_execution->LeaveOut(isLost);
    if (UsePart(isLost))
    {
        m_execution->EndIfDone();
    }
}

void
JobExecution::OnLateDelivered(const LateOperations& late, OperationId id, const Time& sentAt)
{
    const auto& [iteration, planIndex] = late.GetOrigin();
    m_site.listener->OnDelivered(late.GetPlan().GetBytes(id));
    m_site.listener->OnTransfer({m_index, iteration, id, planIndex, sentAt, Simulator::Now()});
}

void
JobExecution::OnLateTrained(const LateOperations& late, uint32_t rank, const Time& since)
{
    m_site.listener->OnComputation(
        {m_index, late.GetOrigin().iteration, rank, since, Simulator::Now()});
}

void
JobExecution::OnLateAnswer(const LateOperations& late)
{
    ++m_lateAnswers;
    NS_LOG_LOGIC("job " << m_job.name << " drops a late answer of iteration "
                        << late.GetOrigin().iteration);
}

} // namespace ns3::gradsync
