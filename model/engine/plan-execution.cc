// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-execution.h"

#include "ns3/exchange-application.h"
#include "ns3/plan-part.h"
#include "ns3/rank-share.h"
#include "ns3/simulator.h"
#include "ns3/transfer-carrier.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace ns3::gradsync
{

PlanExecution::PlanExecution(ExecutionTable& executions, Listener& listener, Setup setup)
    : m_executions(executions),
      m_listener(listener),
      m_plan(std::move(setup.plan)),
      m_aggregations(std::move(setup.aggregations)),
      m_firstStream(setup.firstStream),
      m_carrier(setup.carrier),
      m_ledger(*m_plan, setup.keepsTimes),
      m_number(executions.Add(*this)),
      m_share(setup.share),
      m_workers(m_plan->GetWorkerCount()),
      m_timesNetwork(m_plan->IsCompressed() || m_plan->GetGate().has_value())
{
    m_ranks.reserve(setup.ranks.size());
    for (auto* application : setup.ranks)
    {
        m_ranks.push_back({application});
    }
    if (m_share)
    {
        LeaveToOthers();
    }
    if (setup.hasGate && m_plan->GetGate())
    {
        m_gate = m_plan->GetGate()->operation;
    }
    if (setup.tellsRanks)
    {
        m_parts.Count(*m_plan);
    }
    const auto operations = m_plan->GetOperations();
    for (OperationId id = 0; id < m_ledger.GetSize(); ++id)
    {
        if (m_ledger.GetWaiting(id) == 0)
        {
            m_ranks[operations[id].src].kept.push_back(id);
        }
    }
}

/// What ranks of other processes do and receive.
void
PlanExecution::LeaveToOthers()
{
    std::vector<bool> isHere;
    isHere.reserve(m_ranks.size());
    for (const auto& rank : m_ranks)
    {
        isHere.push_back(m_share->IsHere(rank.application->GetEndpoint()));
    }
    m_workers = static_cast<uint32_t>(
        std::count(isHere.begin(), isHere.begin() + m_plan->GetWorkerCount(), true));
    uint32_t others = 0;
    for (const auto& operation : m_plan->GetOperations())
    {
        others += isHere[operation.dst] ? 0 : 1;
    }
    m_ledger.LeaveToOthers(others);
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
    auto& admitted = m_ranks[rank];
    if (std::exchange(admitted.isStarted, true))
    {
        return {};
    }
    m_workersStarted += rank < m_plan->GetWorkerCount() ? 1 : 0;
    if (m_parts.IsDone(rank))
    {
        m_endedRanks.push_back(rank);
    }
    return std::exchange(admitted.kept, {});
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
    BeginUnderWay();
    auto& launch = m_launches.emplace_back();
    launch.ranks.assign(ranks.begin(), ranks.end());
    launch.event.Schedule(PicoSeconds(base), &PlanExecution::OnLaunched, this);
}

void
PlanExecution::OnLaunched()
{
    Begin(EndLaunch()); // of the first: all take the same time
}

void
PlanExecution::Begin(std::span<const uint32_t> ranks)
{
    m_begin = m_begin.value_or(Simulator::Now());
    std::vector<OperationId> ready;
    for (const auto rank : ranks)
    {
        const auto own = Admit(rank);
        ready.insert(ready.end(), own.begin(), own.end());
    }
    if (ranks.size() > 1)
    {
        std::sort(ready.begin(), ready.end());
    }
    MakeReady(ready);
    EndIfDone();
}

void
PlanExecution::Withdraw(uint32_t rank)
{
    m_ranks[rank].isStarted = false;
    m_ranks[rank].sending = 0;
    m_ranks[rank].kept.clear();
    for (auto& launch : m_launches)
    {
        std::erase(launch.ranks, rank);
    }
}

void
PlanExecution::Halt()
{
    m_isHalted = true;
    while (!m_launches.empty())
    {
        EndLaunch();
    }
}

/// Of the first one: its ranks.
std::vector<uint32_t>
PlanExecution::EndLaunch()
{
    auto ranks = std::move(m_launches.front().ranks);
    m_launches.pop_front();
    EndUnderWay();
    return ranks;
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
    auto& rank = m_ranks[operation.src];
    if (!rank.isStarted)
    {
        rank.kept.push_back(id);
        return;
    }
    if (rank.application->IsHalted())
    {
        return;
    }
    if (!operation.IsTransfer())
    {
        if (!Compute(id, operation))
        {
            MarkDone(id);
        }
        return;
    }
    m_ready.push_back(id);
    if (!m_isSendScheduled)
    {
        m_isSendScheduled = true;
        // After all deliveries of this instant, so that ascending ids hold among all of them.
        m_sendEvent.Schedule(Time(0), &PlanExecution::OnInstantOver, this);
    }
}

/// \returns false when that takes no time: nothing was begun
bool
PlanExecution::Compute(OperationId id, const Operation& operation)
{
    auto& application = *m_ranks[operation.src].application;
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

void
PlanExecution::OnInstantOver()
{
    m_isSendScheduled = false;
    if (m_share)
    {
        m_share->OnSharedEvent();
    }
    SendReady();
}

void
PlanExecution::SendReady()
{
    m_sending.swap(m_ready);
    std::sort(m_sending.begin(), m_sending.end());
    BeginSending();
    for (const auto id : m_sending)
    {
        if (m_isHalted)
        {
            break;
        }
        Send(id);
    }
    m_sending.clear();
    if (m_sending.capacity() > KEPT_OPERATIONS)
    {
        m_sending.shrink_to_fit(); // an exchange often begins with most of what it has
    }
}

/// Tells who looks on that something leaves, unless something has before.
void
PlanExecution::BeginSending()
{
    if (!m_carrier || m_isHalted || m_sending.empty() || std::exchange(m_hasSent, true))
    {
        return;
    }
    m_carrier->Begin(m_begin == Simulator::Now() && std::ranges::all_of(m_ranks, &Rank::isStarted));
}

void
PlanExecution::Send(OperationId id)
{
    const auto operation = m_plan->GetOperations()[id];
    auto& rank = m_ranks[operation.src];
    if (rank.application->IsStopped())
    {
        return;
    }
    if (m_ledger.IsDone(id))
    {
        // Left out while it was kept: the next one may start in its place.
        SendHeld(operation.src);
        return;
    }
    // Ranks that wait for different aggregations of each other would wait for ever.
    if (!operation.IsAggregate() && !MaySend(rank))
    {
        rank.kept.push_back(id);
        std::push_heap(rank.kept.begin(), rank.kept.end(), std::greater<>());
        return;
    }
    m_ledger.MarkSent(id);
    CountSent(operation.src);
    Hand(id, operation);
}

void
PlanExecution::Hand(OperationId id, const Operation& operation)
{
    auto& application = *m_ranks[operation.src].application;
    if (operation.IsAggregate())
    {
        application.Aggregate(MakeTag(id), m_aggregations.MakeMessage(*m_plan, id));
        return;
    }
    application.Issue({MakeTag(id),
                       m_firstStream + operation.stream,
                       m_plan->GetBytes(id, operation),
                       operation.kind == OperationKind::TransferReduce},
                      *m_ranks[operation.dst].application,
                      m_carrier);
}

/// Whether a rank may have one more transfer under way.
bool
PlanExecution::MaySend(const Rank& rank) const
{
    const auto limit = rank.application->GetMaxOutstandingSends();
    return limit == 0 || rank.sending < limit;
}

/// A transfer that was kept may start, if there is one.
void
PlanExecution::SendHeld(uint32_t rank)
{
    auto& kept = m_ranks[rank].kept;
    if (kept.empty() || !m_ranks[rank].isStarted || !MaySend(m_ranks[rank]))
    {
        return;
    }
    std::pop_heap(kept.begin(), kept.end(), std::greater<>());
    const auto next = kept.back();
    kept.pop_back();
    MakeReady(next);
}

/// For the time for which any transfer is on its way: one more is. Among several processes only
/// all together know it.
inline void
PlanExecution::BeginUnderWay()
{
    if (m_timesNetwork && m_share)
    {
        m_share->OnUnderWay(1);
    }
    else if (m_timesNetwork)
    {
        m_networkClock.Begin();
    }
}

/// Likewise, one less.
inline void
PlanExecution::EndUnderWay()
{
    if (m_timesNetwork && m_share)
    {
        m_share->OnUnderWay(-1);
    }
    else if (m_timesNetwork)
    {
        m_networkClock.End();
    }
}

/// One transfer more is under way.
void
PlanExecution::CountSent(uint32_t rank)
{
    ++m_ranks[rank].sending;
    BeginUnderWay();
}

/// One transfer less is under way, or waited for: another one may start.
void
PlanExecution::CountArrived(uint32_t rank)
{
    auto& sending = m_ranks[rank].sending;
    sending -= sending > 0 ? 1 : 0; // what withdrew has none
    EndUnderWay();
    SendHeld(rank);
}

void
PlanExecution::OnDelivered(OperationId id)
{
    if (m_carrier)
    {
        m_carrier->OnDelivered(id);
    }
    const auto operation = m_plan->GetOperations()[id];
    const auto hop = m_plan->GetHopPicoseconds(operation);
    if (hop == 0)
    {
        Deliver(id, operation);
        return;
    }
    m_ranks[operation.dst].application->Delay(MakeTag(id), PicoSeconds(hop));
}

void
PlanExecution::OnSentElsewhere(OperationId id, const Time& at)
{
    m_ledger.MarkSent(id, at);
}

void
PlanExecution::OnDelayed(OperationId id)
{
    Deliver(id, m_plan->GetOperations()[id]);
}

/// Its receiver may go on with it.
void
PlanExecution::Deliver(OperationId id, const Operation& operation)
{
    if (!m_ledger.IsDone(id)) // else it was left out
    {
        m_ledger.MarkDelivered(id);
        if (operation.src != operation.dst)
        {
            FinishPart(operation.src);
        }
        CountArrived(operation.src);
    }
    m_listener.OnTransferDelivered(*this, id);
    const auto bytes = m_plan->GetBytes(id, operation);
    auto& receiver = *m_ranks[operation.dst].application;
    receiver.TraceReceive(id, bytes);
    if (operation.kind != OperationKind::TransferReduce ||
        !receiver.StartReduce(MakeTag(id), bytes))
    {
        Finish(id);
        return;
    }
    EndIfDone(); // at its sender
}

void
PlanExecution::OnComputed(OperationId id)
{
    m_listener.OnWorked(*this, id);
    Finish(id);
}

Time
PlanExecution::GetWorkTime(OperationId id) const
{
    const auto operation = m_plan->GetOperations()[id];
    return operation.IsCompute()
               ? PicoSeconds(m_plan->GetComputePicoseconds(id))
               : m_ranks[operation.dst].application->GetReduceTime(m_plan->GetBytes(id, operation));
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
PlanExecution::OnTrained(OperationId id, uint32_t rank, const Time& since)
{
    m_listener.OnRankTrained(*this, rank, since);
    Finish(id);
}

void
PlanExecution::OnSkipped(OperationId /* id */)
{
}

void
PlanExecution::OnFailed(OperationId id, const std::string& reason)
{
    m_listener.OnTransferFailed(*this, id, reason);
}

void
PlanExecution::OnWrongSum(OperationId id, const std::string& reason)
{
    m_listener.OnSumWrong(*this, id, reason);
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
        m_ledger.MarkDone(done);
        if (m_parts.AreCounted())
        {
            FinishPart(m_plan->GetOperations()[done].dst);
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
        else if (m_ledger.Release(successor))
        {
            MakeReady(successor);
        }
    }
}

/// One operation less to do for the rank.
void
PlanExecution::FinishPart(uint32_t rank)
{
    if (m_parts.Finish(rank) && m_ranks[rank].isStarted)
    {
        m_endedRanks.push_back(rank);
    }
}

void
PlanExecution::TellRanks()
{
    m_isTelling = true;
    while (!m_endedRanks.empty())
    {
        // The listener may start other ranks, which then end behind these.
        const auto ended = std::exchange(m_endedRanks, {});
        for (const auto rank : ended)
        {
            m_listener.OnRankEnded(*this, rank);
        }
    }
    m_isTelling = false;
}

void
PlanExecution::EndIfDone()
{
    if (m_isTelling || m_hasEnded)
    {
        return; // whoever tells goes on
    }
    TellRanks();
    // Of plans with a gate those that do not start are left out.
    if (m_ledger.GetLeft() == 0 && (m_gate != NO_OPERATION || m_workersStarted == m_workers))
    {
        m_hasEnded = true;
        m_listener.OnEnded(*this);
    }
}

void
PlanExecution::PassGate()
{
    MarkDone(m_gate);
}

std::map<OperationId, LeftOperation>
PlanExecution::LeaveOut(const std::vector<bool>& isLost)
{
    std::map<OperationId, LeftOperation> left;
    const auto isLeftOut = FindLeftOut(*m_plan, isLost);
    for (OperationId id = 0; id < isLeftOut.size(); ++id)
    {
        if (isLeftOut[id] && !m_ledger.IsDone(id))
        {
            left[id] = {m_ledger.GetWaiting(id),
                        m_ledger.IsSent(id) || m_ledger.IsDelivered(id),
                        m_ledger.GetSentAt(id)};
            LeaveOut(id);
        }
    }
    return left;
}

void
PlanExecution::LeaveOut(OperationId id)
{
    const auto operation = m_plan->GetOperations()[id];
    const bool isSent = m_ledger.IsSent(id);
    const bool isDelivered = m_ledger.IsDelivered(id);
    m_ledger.MarkDone(id);
    FinishPart(operation.dst);
    if (operation.src != operation.dst && !isDelivered)
    {
        FinishPart(operation.src);
    }
    if (isSent)
    {
        // The limit of transfers under way does not count what nobody waits for.
        CountArrived(operation.src);
    }
}

uint32_t
PlanExecution::Renumber()
{
    return std::exchange(m_number, m_executions.Add(*this));
}

} // namespace ns3::gradsync
