// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/asynchronous-execution.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncAsynchronousExecution");

AsynchronousExecution::AsynchronousExecution(const JobSite& site,
                                             uint32_t index,
                                             AsynchronousJob job,
                                             std::vector<Ptr<ExchangeApplication>> applications)
    : m_site(site),
      m_index(index),
      m_job(std::move(job)),
      m_applications(std::move(applications)),
      m_number(m_executions.Add(*this)),
      m_transfers(m_job, m_applications, m_executions, *this),
      m_progress(m_job),
      m_servers(m_job, *this),
      m_workers(m_job.workers)
{
    const auto none = std::make_shared<const OthersUpdates>(CountShards(m_job), 0);
    for (auto& worker : m_workers)
    {
        worker.parameters = none;
    }
    for (uint32_t rank = 0; rank < m_applications.size(); ++rank)
    {
        m_applications[rank]->Attach(
            {rank, m_job.endpointOf[rank], m_site.transport, &m_executions, m_site.slowdowns},
            this);
    }
}

AsynchronousExecution::~AsynchronousExecution()
{
    // Nodes may outlive the engine.
    for (const auto& application : m_applications)
    {
        application->Detach();
    }
}

const std::string&
AsynchronousExecution::GetName() const
{
    return m_job.name;
}

Ptr<ExchangeApplication>
AsynchronousExecution::GetApplication(uint32_t rank) const
{
    return m_applications.at(rank);
}

bool
AsynchronousExecution::IsFinished() const
{
    return m_progress.IsFinished();
}

bool
AsynchronousExecution::HasFailed() const
{
    return m_failure.has_value();
}

uint64_t
AsynchronousExecution::CountDoneOperations() const
{
    return m_transfers.CountMessages();
}

std::optional<uint32_t>
AsynchronousExecution::FindRank(uint32_t endpoint) const
{
    const auto found = std::ranges::find(m_job.endpointOf, endpoint);
    return found == m_job.endpointOf.end()
               ? std::nullopt
               : std::optional(static_cast<uint32_t>(found - m_job.endpointOf.begin()));
}

bool
AsynchronousExecution::IsRunning() const
{
    return m_hasBegun && !IsFinished() && !m_failure;
}

void
AsynchronousExecution::OnRankStarted()
{
    if (m_hasBegun)
    {
        return;
    }
    m_hasBegun = true;
    m_toldUntil = Simulator::Now();
    StartTimeout();
    for (const auto& application : m_applications)
    {
        application->BeginIteration();
    }
    BeginStage();
}

/// Computations are told to begin one by one.
bool
AsynchronousExecution::ComputesFirst() const
{
    return false;
}

void
AsynchronousExecution::OnRankExchanging(uint32_t rank, const Time& /* since */)
{
    if (rank < m_job.workers && IsRunning())
    {
        m_workers[rank].hasStarted = true;
        if (m_progress.IsWorking(rank))
        {
            BeginWorker(rank);
        }
    }
}

void
AsynchronousExecution::BeginStage()
{
    NS_LOG_LOGIC("job " << m_job.name << " begins stage " << m_progress.GetNumber());
    m_told = 0;
    m_progress.Begin();
    m_servers.Begin(m_progress.GetActive());
    if (m_progress.GetActive().empty())
    {
        FailWithoutWorkers();
        return;
    }
    // A copy: who has nothing to fetch may end the stage.
    const auto active = m_progress.GetActive();
    for (const auto worker : active)
    {
        m_workers[worker].slowest = 0;
        if (m_workers[worker].hasStarted)
        {
            BeginWorker(worker);
        }
    }
}

/// Parameters are at the workers when the job begins; later others have changed them.
void
AsynchronousExecution::BeginWorker(uint32_t worker)
{
    auto& record = m_workers[worker].record;
    record = {m_index, m_progress.GetNumber(), worker, 0, Simulator::Now(), {}, {}, {}, 0, 0};
    if (m_progress.GetNumber() == 0)
    {
        Compute(worker);
    }
    else
    {
        Fetch(worker, true, true);
    }
}

void
AsynchronousExecution::OnArrived(ShardTransfer& transfer, uint32_t shard)
{
    m_servers.Take(transfer, shard);
}

void
AsynchronousExecution::OnApplied(const ShardTransfer& push, uint32_t slowest)
{
    m_site.listener->OnUpdate({m_index,
                               m_progress.GetNumber(),
                               push.worker,
                               push.clock,
                               push.staleness,
                               push.clock > slowest ? push.clock - slowest : 0,
                               Simulator::Now()});
}

void
AsynchronousExecution::OnAnswer(uint32_t pull, uint32_t shard)
{
    m_transfers.Answer(pull, shard);
}

void
AsynchronousExecution::OnDone(const ShardTransfer& transfer)
{
    if (!IsRunning())
    {
        return;
    }
    if (transfer.kind == ShardTransferKind::Pull)
    {
        TakeParameters(transfer.worker);
    }
    EndStageIfDone();
}

void
AsynchronousExecution::TellIterations(uint32_t completed)
{
    for (; m_told < completed; ++m_told)
    {
        IterationRecord record{};
        record.job = m_index;
        record.iteration = m_progress.GetStepsBefore() + m_told;
        record.start = std::exchange(m_toldUntil, Simulator::Now());
        record.exchangeStart = record.start;
        record.end = m_toldUntil;
        m_site.listener->OnIteration(record);
        StartTimeout();
    }
}

/// Of the iteration that is the next to be done.
void
AsynchronousExecution::StartTimeout()
{
    if (m_job.timeout.IsStrictlyPositive())
    {
        m_timeoutEvent.Schedule(m_job.timeout, &AsynchronousExecution::OnTimeout, this);
    }
}

void
AsynchronousExecution::EndStageIfDone()
{
    if (!m_transfers.IsIdle() || !m_progress.IsDone())
    {
        return;
    }
    TellIterations(m_progress.GetStage().steps);
    m_progress.End();
    if (IsFinished())
    {
        m_timeoutEvent.Cancel();
        m_site.listener->OnJobFinished();
        return;
    }
    BeginStage();
}

void
AsynchronousExecution::OnMessage(uint64_t bytes)
{
    m_site.listener->OnDelivered(bytes);
}

} // namespace ns3::gradsync
