// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/late-operations.h"

#include "ns3/exchange-application.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3::gradsync
{

LateOperations::LateOperations(Listener& listener,
                               const Origin& origin,
                               const PlanExecution& execution,
                               uint32_t number,
                               std::map<OperationId, LeftOperation> operations)
    : m_listener(listener),
      m_origin(origin),
      m_plan(execution.SharePlan()),
      m_firstStream(execution.GetFirstStream()),
      m_number(number),
      m_operations(std::move(operations))
{
    m_ranks.reserve(execution.GetRankCount());
    for (uint32_t rank = 0; rank < execution.GetRankCount(); ++rank)
    {
        m_ranks.push_back(&execution.GetRank(rank));
    }
}

void
LateOperations::BeginAfterGate()
{
    std::vector<OperationId> ready;
    for (const auto& [id, operation] : m_operations)
    {
        if (operation.waiting == 0 && !operation.isSent && m_plan->GetOperations()[id].IsTransfer())
        {
            ready.push_back(id);
        }
    }
    const auto released = Release(m_plan->GetGate()->operation);
    ready.insert(ready.end(), released.begin(), released.end());
    for (const auto id : ready)
    {
        Begin(id);
    }
}

void
LateOperations::ForgetAt(uint32_t rank)
{
    std::erase_if(m_operations, [this, rank](const auto& item) {
        const auto operation = m_plan->GetOperations()[item.first];
        return m_ranks[operation.src]->GetRank() == rank ||
               m_ranks[operation.dst]->GetRank() == rank;
    });
}

/// \returns what waited for nothing else
std::vector<OperationId>
LateOperations::Release(OperationId done)
{
    std::vector<OperationId> ready;
    for (const auto successor : m_plan->GetSuccessors(done))
    {
        const auto found = m_operations.find(successor);
        if (found != m_operations.end() && --found->second.waiting == 0)
        {
            ready.push_back(successor);
        }
    }
    return ready;
}

void
LateOperations::Begin(OperationId id)
{
    const auto operation = m_plan->GetOperations()[id];
    auto& application = *m_ranks[operation.src];
    if (application.IsHalted())
    {
        m_operations.erase(id);
        return;
    }
    Begin(id, operation, application);
}

void
LateOperations::Begin(OperationId id, const Operation& operation, ExchangeApplication& at)
{
    const auto tag = ExecutionTable::MakeTag(m_number, id);
    if (operation.IsTransfer())
    {
        auto& entry = m_operations.at(id);
        entry.isSent = true;
        entry.sentAt = Simulator::Now();
        at.Issue({tag,
                  m_firstStream + operation.stream,
                  m_plan->GetBytes(id),
                  operation.kind == OperationKind::TransferReduce},
                 *m_ranks[operation.dst],
                 nullptr);
    }
    else if (operation.kind == OperationKind::Train)
    {
        at.StartTraining(tag);
    }
    else if (operation.IsCompute())
    {
        at.StartCompute(tag, PicoSeconds(m_plan->GetComputePicoseconds(id)), operation.firstChunk);
    }
    else
    {
        at.StartCompute(tag, Time(0));
    }
}

void
LateOperations::Finish(OperationId id)
{
    const auto operation = m_plan->GetOperations()[id];
    const auto controller = m_plan->GetOperations()[m_plan->GetGate()->operation].src;
    if (operation.IsTransfer() && operation.dst == controller)
    {
        m_operations.erase(id); // it is not even decoded
        m_listener.OnLateAnswer(*this);
        return;
    }
    const auto ready = Release(id);
    m_operations.erase(id);
    for (const auto next : ready)
    {
        Begin(next);
    }
}

void
LateOperations::OnDelivered(OperationId id)
{
    const auto found = m_operations.find(id);
    if (found != m_operations.end())
    {
        m_listener.OnLateDelivered(*this, id, found->second.sentAt);
        Finish(id);
    }
}

void
LateOperations::OnComputed(OperationId id)
{
    if (m_operations.contains(id))
    {
        Finish(id);
    }
}

void
LateOperations::OnTrained(OperationId id, uint32_t rank, const Time& since)
{
    if (m_operations.contains(id))
    {
        m_listener.OnLateTrained(*this, rank, since);
        Finish(id);
    }
}

void
LateOperations::OnSkipped(OperationId id)
{
    m_operations.erase(id);
}

void
LateOperations::OnFailed(OperationId /* id */, const std::string& /* reason */)
{
}

void
LateOperations::OnWrongSum(OperationId /* id */, const std::string& /* reason */)
{
}

} // namespace ns3::gradsync
