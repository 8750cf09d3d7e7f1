// SPDX-License-Identifier: GPL-2.0-only
// What an execution hears from its ranks, and what it is told when some of them are lost.
#include "ns3/exchange-application.h"
#include "ns3/plan-execution.h"
#include "ns3/plan-part.h"
#include "ns3/transfer-carrier.h"

#include <utility>

namespace ns3::gradsync
{

void
PlanExecution::OnDelivered(OperationId id)
{
    if (auto* carrier = m_sender.GetCarrier())
    {
        carrier->OnDelivered(id);
    }
    const auto operation = m_plan->GetOperations()[id];
    const auto hop = m_plan->GetHopPicoseconds(operation);
    if (hop == 0)
    {
        Deliver(id, operation);
        return;
    }
    m_ranks.Get(operation.dst).Delay(MakeTag(id), PicoSeconds(hop));
}

void
PlanExecution::OnSentElsewhere(OperationId id, const Time& at)
{
    m_ledger.MarkSent(id, at);
}

void
PlanExecution::OnArriving(OperationId id, const Time& at, uint32_t order)
{
    if (m_teller)
    {
        m_teller->TellArrival(MakeTag(id), at, order);
    }
}

void
PlanExecution::OnTold(OperationId id, OperationNews news)
{
    if (news.isDelivered)
    {
        const auto sender = m_plan->GetOperations()[id].src;
        FinishPart(sender);
        m_sender.EndTransferElsewhere(sender);
    }
    if (news.isDone)
    {
        MarkDone(id);
    }
    EndIfDone();
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
        m_sender.EndTransfer(operation.src);
    }
    const auto bytes = m_plan->GetBytes(id, operation);
    m_listener.OnTransferDelivered(*this, id, bytes);
    auto& receiver = m_ranks.Get(operation.dst);
    receiver.TraceReceive(id, bytes);
    if (operation.kind != OperationKind::TransferReduce ||
        !receiver.StartReduce(MakeTag(id), bytes))
    {
        Finish(id);
        return;
    }
    if (m_teller)
    {
        m_teller->TellWork(MakeTag(id), operation);
    }
    EndIfDone(); // at its sender
}

void
PlanExecution::OnComputed(OperationId id)
{
    m_listener.OnWorked(*this, id);
    Finish(id);
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
        m_sender.EndTransfer(operation.src);
    }
}

uint32_t
PlanExecution::Renumber()
{
    return std::exchange(m_number, m_executions.Add(*this));
}

} // namespace ns3::gradsync
