// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-execution.h"

#include "ns3/exchange-application.h"
#include "ns3/id-order.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

PlanExecution::PlanExecution(ExecutionTable& executions, Listener& listener, Setup setup)
    : m_executions(executions),
      m_listener(listener),
      m_plan(std::move(setup.plan)),
      m_ranks(setup.ranks, m_plan->GetWorkerCount()),
      m_ledger(*m_plan, setup.keepsTimes),
      m_number(setup.number ? executions.Add(*this, *setup.number) : executions.Add(*this)),
      m_sender({*m_plan,
                m_ranks,
                m_ledger,
                m_number,
                std::move(setup.aggregations),
                setup.firstStream,
                setup.carrier,
                setup.share,
                setup.job,
                setup.turns,
                setup.turn,
                setup.timesNetwork}),
      m_share(setup.share)
{
    if (setup.share)
    {
        m_ledger.LeaveToOthers(m_ranks.LeaveToOthers(*m_plan, *setup.share));
        if (setup.distant)
        {
            m_teller = std::make_unique<EndTeller>(*m_plan,
                                                   m_ranks,
                                                   *setup.distant,
                                                   *setup.share,
                                                   setup.job);
        }
    }
    if (setup.hasGate && m_plan->GetGate())
    {
        m_gate = m_plan->GetGate()->operation;
    }
    if (setup.tellsRanks)
    {
        m_ends.Count(*m_plan);
    }
    m_plan->ForEachFirst([this](OperationId id) {
        const auto rank = m_plan->GetSrc(id);
        if (m_ranks.IsHere(rank) || (m_teller && m_teller->IsWaitedForHere(id)))
        {
            m_ranks.KeepUntilStart(rank, id);
        }
    });
}

PlanExecution::~PlanExecution()
{
    m_executions.Remove(m_number);
}

uint64_t
PlanExecution::MakeTag(OperationId id) const
{
    return ExecutionTable::MakeTag(m_number, id);
}

/// The rank has started. \returns what is ready for it
std::vector<OperationId>
PlanExecution::Admit(uint32_t rank)
{
    if (!m_ranks.HasStarted(rank))
    {
        m_ends.OnStarted(rank);
    }
    return m_ranks.Start(rank);
}

void
PlanExecution::Start(uint32_t rank)
{
    StartTogether({&rank, 1});
}

/// They begin when the protocol has taken what it takes before the first message.
void
PlanExecution::StartTogether(std::span<const uint32_t> ranks)
{
    const auto base = m_plan->GetProtocol().basePicoseconds;
    if (base == 0)
    {
        Begin(ranks);
        return;
    }
    m_sender.BeginUnderWay();
    // In the place of its rank: what is sent then leaves when the instant is over.
    m_launches.Add(ranks,
                   ranks.empty() ? Simulator::NO_CONTEXT : m_ranks.Get(ranks.front()).GetOrder(),
                   PicoSeconds(base),
                   [this](const auto& launched) { OnLaunched(launched); });
}

void
PlanExecution::OnLaunched(std::span<const uint32_t> ranks)
{
    m_sender.EndUnderWay();
    Begin(ranks);
}

void
PlanExecution::Begin(std::span<const uint32_t> ranks)
{
    m_sender.Begin();
    std::vector<OperationId> ready;
    for (const auto rank : ranks)
    {
        const auto own = Admit(rank);
        ready.insert(ready.end(), own.begin(), own.end());
    }
    if (ranks.size() > 1)
    {
        SortIds(ready, m_ledger.GetSize());
    }
    MakeReady(ready);
    EndIfDone();
}

void
PlanExecution::StartElsewhere(uint32_t rank)
{
    const auto base = m_plan->GetProtocol().basePicoseconds;
    if (base == 0)
    {
        BeginElsewhere(rank);
        return;
    }
    m_launchesElsewhere.Add({&rank, 1},
                            m_ranks.Get(rank).GetOrder(),
                            PicoSeconds(base),
                            [this](const auto& launched) {
                                m_share->OnForeignEvent();
                                BeginElsewhere(launched.front());
                            });
}

void
PlanExecution::BeginElsewhere(uint32_t rank)
{
    MakeReady(m_ranks.Start(rank));
    EndIfDone();
}

void
PlanExecution::Withdraw(uint32_t rank)
{
    m_ranks.Withdraw(rank);
    m_launches.Withdraw(rank);
}

void
PlanExecution::Halt()
{
    m_sender.Halt();
    while (!m_launches.IsEmpty())
    {
        m_sender.EndUnderWay();
        m_launches.DropFirst();
    }
}

void
PlanExecution::MakeReady(std::span<const OperationId> ids)
{
    for (const auto id : ids)
    {
        if (!m_ledger.IsDone(id))
        {
            MakeReady(id);
        }
    }
}

void
PlanExecution::MakeReady(OperationId id)
{
    const auto operation = m_plan->GetOperations()[id];
    if (m_teller && !m_teller->IsHere(operation.src))
    {
        MakeFollowedReady(id, operation.src);
        return;
    }
    if (!m_ranks.HasStarted(operation.src))
    {
        m_ranks.KeepUntilStart(operation.src, id);
        return;
    }
    if (m_ranks.Get(operation.src).IsHalted())
    {
        return;
    }
    if (operation.IsTransfer())
    {
        m_sender.Add(id);
    }
    else if (!Compute(id, operation))
    {
        MarkDone(id);
    }
    else if (m_teller)
    {
        m_teller->TellWork(MakeTag(id), operation);
    }
}

/// What takes no time: nothing else is followed at a rank of another process.
void
PlanExecution::MakeFollowedReady(OperationId id, uint32_t rank)
{
    if (m_teller->IsStartFollowed(rank) && !m_ranks.HasStarted(rank))
    {
        m_ranks.KeepUntilStart(rank, id);
        return;
    }
    MarkDone(id);
}

/// \returns false when that takes no time: nothing was begun
bool
PlanExecution::Compute(OperationId id, const Operation& operation)
{
    auto& application = m_ranks.Get(operation.src);
    if (operation.IsCompute())
    {
        application.StartCompute(MakeTag(id),
                                 PicoSeconds(m_plan->GetComputePicoseconds(id)),
                                 operation.firstChunk);
        return true;
    }
    if (operation.kind == OperationKind::Train)
    {
        application.StartTraining(MakeTag(id));
        return true;
    }
    // Copies within a rank take no time, as those of transfers do.
    const bool isReduce = operation.kind == OperationKind::TransferReduce;
    return application.StartReduce(MakeTag(id), isReduce ? m_plan->GetBytes(id, operation) : 0);
}

Time
PlanExecution::GetWorkTime(OperationId id) const
{
    const auto operation = m_plan->GetOperations()[id];
    return operation.IsCompute()
               ? PicoSeconds(m_plan->GetComputePicoseconds(id))
               : m_ranks.Get(operation.dst).GetReduceTime(m_plan->GetBytes(id, operation));
}

/// Nothing is left to do for it.
void
PlanExecution::Finish(OperationId id)
{
    if (!m_ledger.IsDone(id))
    {
        MarkDone(id);
        EndIfDone();
    }
}

void
PlanExecution::MarkDone(OperationId id)
{
    // A list, not recursion: a plan may chain any number of joins. The first call works it off.
    m_done.push_back(id);
    if (m_isMarkingDone)
    {
        return;
    }
    m_isMarkingDone = true;
    while (!m_done.empty())
    {
        const auto done = m_done.back();
        m_done.pop_back();
        if (!m_teller || m_teller->IsHere(m_plan->GetOperations()[done].dst))
        {
            m_ledger.MarkDone(done);
            if (m_ends.AreCounted())
            {
                FinishPart(m_plan->GetOperations()[done].dst);
            }
        }
        ReleaseSuccessors(done);
    }
    m_isMarkingDone = false;
}

void
PlanExecution::ReleaseSuccessors(OperationId id)
{
    for (const auto successor : m_plan->GetSuccessors(id))
    {
        if (successor == m_gate)
        {
            m_listener.OnAnswer(*this);
        }
        else if ((!m_teller || m_teller->IsWaitedForHere(successor)) && m_ledger.Release(successor))
        {
            MakeReady(successor);
        }
    }
}

/// One operation less to do for the rank.
void
PlanExecution::FinishPart(uint32_t rank)
{
    m_ends.Finish(rank, m_ranks.HasStarted(rank));
}

void
PlanExecution::EndIfDone()
{
    if (m_ends.AreTold() || m_hasEnded)
    {
        return; // whoever tells goes on
    }
    m_ends.TellAll([this](uint32_t rank) { m_listener.OnRankEnded(*this, rank); });
    if (IsDone())
    {
        m_hasEnded = true;
        m_listener.OnEnded(*this);
    }
}

/// At the ranks of this process.
bool
PlanExecution::IsDone() const
{
    if (m_ledger.GetLeft() > 0)
    {
        return false;
    }
    if (m_share && m_ends.AreCounted())
    {
        // What was sent may be under way still.
        return m_ends.CountTold() == m_ranks.CountHere();
    }
    // Of plans with a gate those that do not start are left out.
    return m_gate != NO_OPERATION || m_ranks.HaveWorkersStarted();
}

} // namespace ns3::gradsync
