// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-execution.h"

#include "ns3/failure-text.h"
#include "ns3/iteration-breakdown.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncTrainingExecution");

TrainingExecution::TrainingExecution(const JobSite& site,
                                     uint32_t index,
                                     TrainingJob job,
                                     std::vector<Ptr<ExchangeApplication>> applications)
    : m_site(site),
      m_index(index),
      m_job(std::move(job)),
      m_applications(std::move(applications))
{
    for (uint32_t rank = 0; rank < m_applications.size(); ++rank)
    {
        m_applications[rank]->Attach(
            {rank, m_job.endpointOf[rank], m_site.transport, &m_executions, m_site.slowdowns},
            this);
        m_ranks.push_back(rank);
    }
}

TrainingExecution::~TrainingExecution()
{
    // Nodes may outlive the engine.
    for (const auto& application : m_applications)
    {
        application->Detach();
    }
}

const std::string&
TrainingExecution::GetName() const
{
    return m_job.name;
}

Ptr<ExchangeApplication>
TrainingExecution::GetApplication(uint32_t rank) const
{
    return m_applications.at(rank);
}

bool
TrainingExecution::IsFinished() const
{
    return m_iteration == m_job.iterations;
}

bool
TrainingExecution::HasFailed() const
{
    return m_failure.has_value();
}

uint64_t
TrainingExecution::CountDoneOperations() const
{
    const auto tasks = m_job.workload->GetTasks().size();
    return m_delivered + m_doneTasks + (m_execution ? tasks - m_execution->GetLeft() : 0);
}

std::optional<uint32_t>
TrainingExecution::FindRank(uint32_t endpoint) const
{
    const auto found = std::ranges::find(m_job.endpointOf, endpoint);
    return found == m_job.endpointOf.end()
               ? std::nullopt
               : std::optional(static_cast<uint32_t>(found - m_job.endpointOf.begin()));
}

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
    if (m_applications[rank]->HasBegun() || !std::ranges::binary_search(m_ranks, rank))
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
TrainingExecution::GoOnWithout(uint32_t rank)
{
    std::erase(m_ranks, rank);
    m_site.listener->OnReaction({Simulator::Now(),
                                 m_index,
                                 m_iteration,
                                 0,
                                 rank,
                                 static_cast<uint32_t>(m_ranks.size()),
                                 0,
                                 ReactionKind::Replan});
    try
    {
        if (m_ranks.empty())
        {
            throw std::runtime_error("there are none");
        }
        auto workload = m_job.planSurvivors(m_ranks);
        m_execution.reset(); // with all that is under way
        m_site.transport->Abandon([this](uint32_t /* src */, uint32_t /* dst */, const auto* to) {
            return std::ranges::any_of(m_applications, [to](const auto& application) {
                return static_cast<const MessageHandler*>(PeekPointer(application)) == to;
            });
        });
        for (const auto& application : m_applications)
        {
            application->DropWork();
        }
        m_job.workload = std::move(workload);
        BeginRun();
    }
    catch (const std::runtime_error& error)
    {
        Fail(fmt::format("rank {} has crashed, and the others cannot go on: {}",
                         rank,
                         error.what()));
    }
}

void
TrainingExecution::OnRankStarted()
{
    if (!m_execution && !IsFinished() && !m_failure)
    {
        BeginIteration();
    }
}

/// Computations are tasks.
bool
TrainingExecution::ComputesFirst() const
{
    return false;
}

void
TrainingExecution::BeginIteration()
{
    NS_LOG_LOGIC("job " << m_job.name << " begins iteration " << m_iteration);
    m_begin = Simulator::Now();
    if (m_job.timeout.IsStrictlyPositive())
    {
        m_timeoutEvent.Schedule(m_job.timeout, &TrainingExecution::OnTimeout, this);
    }
    BeginRun();
}

void
TrainingExecution::BeginRun()
{
    std::vector<ExchangeApplication*> ranks;
    for (const auto rank : m_ranks)
    {
        ranks.push_back(PeekPointer(m_applications[rank]));
    }
    WorkloadExecution::Owner& owner = *this;
    m_execution =
        std::make_unique<WorkloadExecution>(m_executions, owner, m_job.workload, std::move(ranks));
    for (const auto rank : m_ranks)
    {
        m_applications[rank]->BeginIteration();
    }
}

void
TrainingExecution::OnRankExchanging(uint32_t rank, const Time& /* since */)
{
    const auto found = std::ranges::lower_bound(m_ranks, rank);
    if (m_execution && found != m_ranks.end() && *found == rank)
    {
        m_execution->Start(static_cast<uint32_t>(found - m_ranks.begin()));
    }
}

void
TrainingExecution::OnWorkloadDelivered(WorkloadExecution& /* execution */, uint64_t bytes)
{
    ++m_delivered;
    m_site.listener->OnDelivered(bytes);
}

/// Of each iteration: from the end of the one before to its last task.
std::vector<IterationRecord>
TrainingExecution::MakeRecords() const
{
    const auto& log = m_execution->GetLog();
    const auto& workload = *m_job.workload;
    std::vector<IterationRecord> records;
    for (const auto& span : SplitIterations(workload, log, {m_begin, Simulator::Now()}))
    {
        IterationRecord record{};
        record.job = m_index;
        record.iteration = m_iteration + static_cast<uint32_t>(records.size());
        record.start = span.start;
        record.end = span.end;
        record.exchangeStart = span.end;
        records.push_back(record);
    }
    for (TaskId id = 0; id < workload.GetTasks().size(); ++id)
    {
        const auto& task = workload.GetTasks()[id];
        auto& record = records[task.iteration];
        if (!task.IsCompute())
        {
            record.exchangeStart =
                std::max(record.start, std::min(record.exchangeStart, log.GetBegin(id)));
        }
    }
    return records;
}

void
TrainingExecution::OnWorkloadEnded(WorkloadExecution& execution)
{
    if (m_failure)
    {
        return;
    }
    m_timeoutEvent.Cancel();
    const auto records = MakeRecords();
    m_site.listener->OnTraining({m_index,
                                 m_iteration,
                                 m_begin,
                                 Simulator::Now(),
                                 m_job.workload.get(),
                                 &execution.GetLog()});
    m_iteration += m_job.workload->GetIterationCount();
    m_doneTasks += m_job.workload->GetTasks().size();
    m_execution.reset();
    for (const auto& record : records)
    {
        m_site.listener->OnIteration(record);
    }
    if (IsFinished())
    {
        m_site.listener->OnJobFinished();
    }
    else
    {
        BeginIteration();
    }
}

void
TrainingExecution::OnWorkloadFailed(WorkloadExecution& /* execution */, const std::string& reason)
{
    // A peer that has crashed is found out by its silence.
    const auto lost = std::ranges::find_if(m_ranks, [this](uint32_t rank) {
        return !m_applications[rank]->HasBegun();
    });
    if (m_job.planSurvivors && lost != m_ranks.end())
    {
        m_noticeEvent.Schedule(Time(0), &TrainingExecution::OnNotice, this, *lost);
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
    m_timeoutEvent.Cancel();
    if (m_execution)
    {
        m_execution->Halt();
    }
    m_failure = std::move(cause);
    NS_LOG_WARN("job " << m_job.name << ": " << *m_failure);
    m_site.listener->OnJobFailed();
}

ExchangeFailure
TrainingExecution::DescribeFailure() const
{
    ExchangeFailure failure{"", m_index, m_iteration, {}, {}};
    const auto tasks = m_job.workload->GetTasks();
    const auto left = m_execution ? m_execution->GetLeft() : tasks.size();
    std::string waiting;
    for (TaskId id = 0; m_execution && id < tasks.size() && waiting.empty(); ++id)
    {
        const auto& log = m_execution->GetLog();
        if (log.HasBegun(id) && !log.HasEnded(id))
        {
            waiting = fmt::format("; rank {} is in {}",
                                  tasks[id].rank,
                                  m_job.workload->GetLabel(tasks[id].label));
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
