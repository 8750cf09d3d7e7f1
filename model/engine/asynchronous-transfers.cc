// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/asynchronous-transfers.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ns3::gradsync
{

AsynchronousTransfers::AsynchronousTransfers(const AsynchronousJob& job,
                                             std::span<const Ptr<ExchangeApplication>> applications,
                                             ExecutionTable& executions,
                                             Observer& observer)
    : m_plans(job),
      m_applications(applications),
      m_executions(executions),
      m_observer(observer)
{
}

PlanExecution&
AsynchronousTransfers::Add(const ShardTransfer& transfer)
{
    const auto kind = transfer.kind;
    const auto& plans = m_plans.Get(transfer.worker);
    PlanExecution::Setup setup;
    setup.plan = kind == ShardTransferKind::Push   ? plans.push
                 : kind == ShardTransferKind::Pull ? plans.pull
                                                   : plans.request;
    for (const auto rank : m_plans.ListRanks(transfer.worker))
    {
        setup.ranks.push_back(PeekPointer(m_applications[rank]));
    }
    // Each kind has connections of its own: answers do not queue behind updates.
    setup.firstStream = static_cast<uint32_t>(kind) * m_plans.GetShardCount();
    setup.tellsRanks = true;
    PlanExecution::Listener& listener = *this;
    auto execution = std::make_unique<PlanExecution>(m_executions, listener, std::move(setup));
    auto& added = *execution;
    m_runs.emplace(added.GetNumber(), Run{transfer, std::move(execution)});
    return added;
}

void
AsynchronousTransfers::Send(const ShardTransfer& transfer)
{
    auto& execution = Add(transfer);
    if (const auto own = m_plans.FindOwnShard(transfer.worker))
    {
        m_observer.OnArrived(m_runs.at(execution.GetNumber()).transfer, *own);
    }
    std::vector<uint32_t> all(execution.GetRankCount());
    std::iota(all.begin(), all.end(), 0);
    execution.StartTogether(all);
}

uint32_t
AsynchronousTransfers::OpenPull(uint32_t worker, uint32_t clock)
{
    auto& pull = Add({ShardTransferKind::Pull, worker, clock, {}});
    const auto number = pull.GetNumber();
    pull.Start(0);
    return number;
}

void
AsynchronousTransfers::Answer(uint32_t pull, uint32_t shard)
{
    auto& run = m_runs.at(pull);
    const auto worker = run.transfer.worker;
    if (m_plans.FindOwnShard(worker) == shard)
    {
        run.hasOwn = true;
        EndIfDone(pull);
        return;
    }
    run.execution->Start(m_plans.GetMember(worker, shard));
}

void
AsynchronousTransfers::Drop(uint32_t worker)
{
    std::erase_if(m_runs,
                  [worker](const auto& run) { return run.second.transfer.worker == worker; });
}

void
AsynchronousTransfers::Halt()
{
    for (auto& [number, run] : m_runs)
    {
        run.execution->Halt();
    }
}

bool
AsynchronousTransfers::IsIdle() const
{
    return m_runs.empty();
}

uint64_t
AsynchronousTransfers::CountMessages() const
{
    return m_messages;
}

void
AsynchronousTransfers::OnRankEnded(PlanExecution& execution, uint32_t member)
{
    auto& transfer = m_runs.at(execution.GetNumber()).transfer;
    if (member > 0 && transfer.kind != ShardTransferKind::Pull)
    {
        m_observer.OnArrived(transfer, m_plans.GetShard(transfer.worker, member));
    }
}

void
AsynchronousTransfers::OnEnded(PlanExecution& execution)
{
    const auto number = execution.GetNumber();
    m_runs.at(number).isDelivered = true;
    EndIfDone(number);
}

void
AsynchronousTransfers::EndIfDone(uint32_t number)
{
    const auto found = m_runs.find(number);
    const auto transfer = found->second.transfer;
    const bool waitsForOwn = transfer.kind == ShardTransferKind::Pull &&
                             m_plans.FindOwnShard(transfer.worker) && !found->second.hasOwn;
    if (found->second.isDelivered && !waitsForOwn)
    {
        m_runs.erase(found);
        m_observer.OnDone(transfer);
    }
}

void
AsynchronousTransfers::OnTransferDelivered(PlanExecution& /* execution */,
                                           OperationId /* id */,
                                           uint64_t bytes)
{
    ++m_messages;
    m_observer.OnMessage(bytes);
}

void
AsynchronousTransfers::OnTransferFailed(PlanExecution& execution,
                                        OperationId id,
                                        const std::string& reason)
{
    const auto worker = m_runs.at(execution.GetNumber()).transfer.worker;
    const auto& operation = execution.GetPlan().GetOperations()[id];
    const auto member = std::max<uint32_t>(operation.src, operation.dst);
    m_observer.OnLost(worker, m_plans.GetShard(worker, member), reason);
}

void
AsynchronousTransfers::OnSumWrong(PlanExecution& execution,
                                  OperationId id,
                                  const std::string& reason)
{
    OnTransferFailed(execution, id, reason);
}

} // namespace ns3::gradsync
