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
      m_fetches(m_job.workers, m_job.servers),
      m_clocks(m_job.workers, m_job.servers),
      m_hasStarted(m_job.workers, false),
      m_slowest(m_job.workers, 0)
{
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
        m_hasStarted[rank] = true;
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
    m_clocks.ResetClocks();
    m_told = 0;
    m_progress.Begin();
    if (m_progress.GetActive().empty())
    {
        FailWithoutWorkers();
        return;
    }
    // A copy: who has nothing to fetch may end the stage.
    const auto active = m_progress.GetActive();
    for (const auto worker : active)
    {
        m_slowest[worker] = 0;
        if (m_hasStarted[worker])
        {
            BeginWorker(worker);
        }
    }
}

/// Parameters are at the workers when the job begins; later others have changed them.
void
AsynchronousExecution::BeginWorker(uint32_t worker)
{
    if (m_progress.GetNumber() == 0)
    {
        Compute(worker);
    }
    else
    {
        Fetch(worker, true);
    }
}

void
AsynchronousExecution::Compute(uint32_t worker)
{
    m_applications[worker]->StartTask(ExecutionTable::MakeTag(m_number, worker),
                                      m_progress.GetStage().compute,
                                      0);
}

void
AsynchronousExecution::OnComputed(OperationId id)
{
    if (!IsRunning() || m_progress.IsLost(id))
    {
        return;
    }
    const auto step = m_progress.CountStep(id);
    const bool isLast = step == m_progress.GetStage().steps;
    const bool pushes = step % m_job.pushEvery == 0 || isLast;
    const bool isTooFar = m_job.bound && !isLast && m_slowest[id] + *m_job.bound < step;
    const bool fetches = step % m_job.fetchEvery == 0 || isTooFar;
    if (fetches)
    {
        Fetch(id, !pushes); // before the push, whose arrival may be what it waits for
    }
    if (pushes)
    {
        m_transfers.Send({ShardTransferKind::Push, id, step, m_fetches.Find(id)});
    }
    if (!fetches)
    {
        Complete(id);
    }
}

/// \param asks else a push does
void
AsynchronousExecution::Fetch(uint32_t worker, bool asks)
{
    const auto step = m_progress.GetStep(worker);
    const auto pull = m_transfers.OpenPull(worker, step);
    m_fetches.Open(worker, pull);
    m_slowest[worker] = UINT32_MAX;
    if (asks)
    {
        m_transfers.Send({ShardTransferKind::Request, worker, step, pull});
    }
}

void
AsynchronousExecution::OnArrived(ShardTransfer& transfer, uint32_t shard)
{
    const auto worker = transfer.worker;
    const auto asks = transfer.asks;
    if (transfer.kind == ShardTransferKind::Push)
    {
        Apply(transfer, shard);
    }
    if (asks && m_fetches.Find(worker) == asks)
    {
        m_fetches.Ask(worker, shard);
    }
    Answer(shard);
}

void
AsynchronousExecution::Apply(ShardTransfer& push, uint32_t shard)
{
    push.staleness = std::max(push.staleness, m_clocks.Apply(shard, push.worker, push.clock));
    if (++push.applied == m_job.servers)
    {
        const auto slowest = GetSlowest(shard);
        m_site.listener->OnUpdate({m_index,
                                   m_progress.GetNumber(),
                                   push.worker,
                                   push.clock,
                                   push.staleness,
                                   push.clock > slowest ? push.clock - slowest : 0,
                                   Simulator::Now()});
    }
}

/// Whom the shard may answer now.
void
AsynchronousExecution::Answer(uint32_t shard)
{
    for (const auto worker : m_fetches.ListWaiting(shard))
    {
        const auto slowest = GetSlowest(shard);
        const bool isWithin = !m_job.bound || slowest + *m_job.bound >= m_progress.GetStep(worker);
        if (isWithin && m_fetches.IsWaiting(worker, shard))
        {
            m_fetches.Answer(worker, shard);
            m_slowest[worker] = std::min(m_slowest[worker], slowest);
            m_clocks.Fetch(shard, worker);
            m_transfers.Answer(*m_fetches.Find(worker), shard);
        }
    }
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
        m_fetches.Close(transfer.worker);
        Complete(transfer.worker);
    }
    EndStageIfDone();
}

/// The worker waits for nothing more of its step.
void
AsynchronousExecution::Complete(uint32_t worker)
{
    m_progress.Complete(worker);
    TellIterations(m_progress.CountCompleted());
    if (m_progress.IsWorking(worker))
    {
        Compute(worker);
    }
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
        m_site.listener->OnJobFinished();
        return;
    }
    BeginStage();
}

uint32_t
AsynchronousExecution::GetSlowest(uint32_t shard) const
{
    return m_clocks.GetSlowest(shard, m_progress.GetActive());
}

void
AsynchronousExecution::OnMessage(uint64_t bytes)
{
    m_site.listener->OnDelivered(bytes);
}

} // namespace ns3::gradsync
