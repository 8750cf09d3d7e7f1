// SPDX-License-Identifier: GPL-2.0-only
// The part of TrainingExecution that lives with the loss of ranks and switches, and says what
// failed.
#include "ns3/failure-text.h"
#include "ns3/simulator.h"
#include "ns3/training-execution.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

void
TrainingExecution::OnCrash(uint32_t endpoint)
{
    if (const auto rank = FindRank(endpoint))
    {
        m_applications[*rank]->Crash();
    }
}

void
TrainingExecution::OnRestart(uint32_t endpoint)
{
    if (const auto rank = FindRank(endpoint))
    {
        m_applications[*rank]->Restart();
    }
}

void
TrainingExecution::OnNotice(uint32_t rank)
{
    if (m_applications[rank]->HasBegun() || !m_roster.Contains(rank))
    {
        return;
    }
    if (!m_job.planSurvivors)
    {
        Fail(fmt::format("rank {} has crashed", rank));
    }
    else if (!m_failure && !IsFinished())
    {
        GoOnWithout(rank);
    }
}

void
TrainingExecution::React(uint32_t rank, ReactionKind kind)
{
    m_site.listener->OnReaction({Simulator::Now(),
                                 m_index,
                                 m_iteration,
                                 0,
                                 rank,
                                 static_cast<uint32_t>(m_roster.GetRanks().size()),
                                 0,
                                 kind});
}

void
TrainingExecution::OnRebuilt(uint32_t group)
{
    if (m_execution && m_roster.GetAggregations().Contains(group))
    {
        React(ReactionRecord::NO_RANK, ReactionKind::Rebuild);
    }
}

void
TrainingExecution::GoOnWithout(uint32_t rank)
{
    m_roster.Drop(rank);
    React(rank, ReactionKind::Replan);
    try
    {
        BeginAnew(m_roster.PlanSurvivors());
    }
    catch (const std::runtime_error& error)
    {
        Fail(fmt::format("rank {} has crashed, and the others cannot go on: {}",
                         rank,
                         error.what()));
    }
}

/// The run in hand, by another workload of the ranks that are left.
void
TrainingExecution::BeginAnew(std::shared_ptr<const Workload> workload)
{
    if (m_records && m_records->GetTwins())
    {
        throw std::logic_error("attribute TwinPlanes is for jobs to which nothing happens");
    }
    m_execution.reset(); // with all that is under way
    AbandonMessages();
    for (const auto& application : m_applications)
    {
        application->DropWork();
    }
    m_records.reset();
    m_roster.Take(std::move(workload));
    BeginRun();
}

/// The network does not aggregate any more.
void
TrainingExecution::FallBack()
{
    if (m_failure || IsFinished())
    {
        return;
    }
    React(ReactionRecord::NO_RANK, ReactionKind::Fallback);
    try
    {
        BeginAnew(m_roster.PlanFallback());
    }
    catch (const std::runtime_error& error)
    {
        Fail(fmt::format("no switches aggregate, and there is no other way: {}", error.what()));
    }
}

void
TrainingExecution::OnWorkloadFailed(WorkloadExecution& /* execution */,
                                    const std::string& reason,
                                    bool isOfNetwork)
{
    // A peer that has crashed is found out by its silence.
    const auto& ranks = m_roster.GetRanks();
    const auto lost = std::ranges::find_if(ranks, [this](uint32_t rank) {
        return !m_applications[rank]->HasBegun();
    });
    if (m_job.planSurvivors && lost != ranks.end())
    {
        m_noticeEvent.Schedule(Time(0), &TrainingExecution::OnNotice, this, *lost);
        return;
    }
    if (isOfNetwork && m_job.planFallback)
    {
        m_noticeEvent.Schedule(Time(0), &TrainingExecution::FallBack, this);
        return;
    }
    Fail(reason);
}

void
TrainingExecution::OnTimeout()
{
    Fail(DescribeTimeout(m_job.timeout));
}

void
TrainingExecution::Fail(std::string cause)
{
    if (m_failure || IsFinished())
    {
        return;
    }
    if (m_execution)
    {
        m_execution->Halt();
    }
    EndByFailure(std::move(cause));
}

ExchangeFailure
TrainingExecution::DescribeFailure() const
{
    ExchangeFailure failure{"", m_index, m_iteration, {}, {}};
    const auto tasks = m_roster.GetWorkload()->GetTasks();
    const auto left = m_execution ? m_execution->GetLeft() : tasks.size();
    std::string waiting;
    for (TaskId id = 0; m_execution && id < tasks.size() && waiting.empty(); ++id)
    {
        const auto& log = m_execution->GetLog();
        if (log.HasBegun(id) && !log.HasEnded(id))
        {
            waiting = fmt::format("; rank {} is in {}",
                                  tasks[id].rank,
                                  m_roster.GetWorkload()->GetLabel(tasks[id].label));
        }
    }
    failure.reason = fmt::format("job \"{}\", iteration {}: {}; {} of {} tasks are not done{}",
                                 m_job.name,
                                 m_iteration,
                                 m_failure.value_or(DescribeStall()),
                                 left,
                                 tasks.size(),
                                 waiting);
    return failure;
}

} // namespace ns3::gradsync
