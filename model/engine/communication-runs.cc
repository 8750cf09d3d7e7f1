// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/communication-runs.h"

#include "ns3/workload-channels.h"

#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace ns3::gradsync
{

CommunicationRuns::CommunicationRuns(ExecutionTable& executions,
                                     Owner& owner,
                                     const Workload& workload,
                                     const std::vector<ExchangeApplication*>& ranks)
    : m_executions(executions),
      m_owner(owner),
      m_workload(workload),
      m_ranks(ranks),
      m_firstStreams(NumberChannels(workload))
{
}

void
CommunicationRuns::Start(CommunicationId id, uint32_t member)
{
    Find(id).Start(member);
}

void
CommunicationRuns::StartTogether(CommunicationId id)
{
    std::vector<uint32_t> members(m_workload.GetParts(id).size());
    std::iota(members.begin(), members.end(), 0);
    Find(id).StartTogether(members);
}

void
CommunicationRuns::Halt()
{
    for (auto& [number, running] : m_running)
    {
        running.execution->Halt();
    }
}

/// Makes it when its first rank begins.
PlanExecution&
CommunicationRuns::Find(CommunicationId id)
{
    const auto found = m_numberOf.find(id);
    if (found != m_numberOf.end())
    {
        return *m_running.at(found->second).execution;
    }
    PlanExecution::Setup setup;
    setup.plan = m_workload.GetPlan(id);
    for (const auto rank : m_workload.GetGroup(id))
    {
        setup.ranks.push_back(m_ranks[rank]);
    }
    setup.firstStream = m_firstStreams[id];
    setup.tellsRanks = true;
    PlanExecution::Listener& listener = *this;
    auto execution = std::make_unique<PlanExecution>(m_executions, listener, std::move(setup));
    const auto number = execution->GetNumber();
    m_numberOf.emplace(id, number);
    return *m_running.emplace(number, Running{id, std::move(execution)}).first->second.execution;
}

void
CommunicationRuns::OnRankEnded(PlanExecution& execution, uint32_t member)
{
    const auto communication = m_running.at(execution.GetNumber()).communication;
    m_owner.OnPartEnded(m_workload.GetParts(communication)[member]);
}

void
CommunicationRuns::OnEnded(PlanExecution& execution)
{
    const auto found = m_running.find(execution.GetNumber());
    m_numberOf.erase(found->second.communication);
    m_running.erase(found);
    m_owner.OnCommunicationEnded();
}

void
CommunicationRuns::OnTransferDelivered(PlanExecution& execution, OperationId id)
{
    m_owner.OnDelivered(execution.GetPlan().GetBytes(id));
}

void
CommunicationRuns::OnTransferFailed(PlanExecution& execution,
                                    OperationId id,
                                    const std::string& reason)
{
    const auto communication = m_running.at(execution.GetNumber()).communication;
    const auto operation = execution.GetPlan().GetOperations()[id];
    const auto group = m_workload.GetGroup(communication);
    m_owner.OnCommunicationFailed(
        fmt::format("{} from rank {} to rank {}: {}",
                    m_workload.GetLabel(m_workload.GetCommunications()[communication].label),
                    group[operation.src],
                    group[operation.dst],
                    reason));
}

void
CommunicationRuns::OnSumWrong(PlanExecution& execution, OperationId id, const std::string& reason)
{
    OnTransferFailed(execution, id, reason);
}

} // namespace ns3::gradsync
