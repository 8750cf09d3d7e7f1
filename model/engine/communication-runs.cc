// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/communication-runs.h"

#include "ns3/collective-records.h"
#include "ns3/workload-channels.h"

#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Communications that several processes have in common are numbered from here: behind all numbers
/// that each process gives on its own.
constexpr uint32_t FIRST_SHARED = uint32_t{1} << 31;

} // namespace

CommunicationRuns::CommunicationRuns(ExecutionTable& executions,
                                     WorkloadAggregations& aggregations,
                                     Owner& owner,
                                     const Workload& workload,
                                     const std::vector<ExchangeApplication*>& ranks,
                                     CollectiveRecords* records,
                                     const WorkloadShare* share)
    : m_executions(executions),
      m_aggregations(aggregations),
      m_owner(owner),
      m_workload(workload),
      m_ranks(ranks),
      m_records(records),
      m_share(share),
      m_ordersSends(!workload.HasAggregations()),
      m_firstStreams(NumberChannels(workload))
{
    if (m_share)
    {
        m_isOver.resize(workload.GetCommunications().size());
        m_executions.SetSource(this);
    }
}

CommunicationRuns::~CommunicationRuns()
{
    if (m_share)
    {
        m_executions.SetSource(nullptr);
    }
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

void
CommunicationRuns::Provide(uint32_t number)
{
    const CommunicationId id = number - FIRST_SHARED;
    if (number >= FIRST_SHARED && id < m_isOver.size() && !m_isOver[id])
    {
        Find(id);
    }
}

/// What there is to a communication that other processes take part in.
void
CommunicationRuns::Share(CommunicationId id, PlanExecution::Setup& setup) const
{
    setup.share = m_share->share;
    setup.job = m_share->job;
    setup.distant = &m_share->parts->GetEnds(id);
    setup.number = FIRST_SHARED + id;
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
    setup.aggregations = m_aggregations.TakeTurn(m_workload, id);
    setup.tellsRanks = true;
    setup.turn = m_ordersSends ? std::optional(id) : std::nullopt;
    if (m_share && m_share->parts->IsDivided(id))
    {
        Share(id, setup);
    }
    auto carrier = m_records ? m_records->MakeCarrier(id) : nullptr;
    setup.carrier = carrier.get();
    PlanExecution::Listener& listener = *this;
    auto execution = std::make_unique<PlanExecution>(m_executions, listener, std::move(setup));
    const auto number = execution->GetNumber();
    m_numberOf.emplace(id, number);
    Running running{id, std::move(carrier), std::move(execution)};
    return *m_running.emplace(number, std::move(running)).first->second.execution;
}

void
CommunicationRuns::OnRankEnded(PlanExecution& execution, uint32_t member)
{
    const auto communication = m_running.at(execution.GetNumber()).communication;
    if (m_records)
    {
        m_records->OnRankEnded(communication);
    }
    m_owner.OnPartEnded(m_workload.GetParts(communication)[member]);
}

void
CommunicationRuns::OnEnded(PlanExecution& execution)
{
    const auto found = m_running.find(execution.GetNumber());
    if (m_records)
    {
        m_records->OnEnded(found->second.communication);
    }
    if (m_share)
    {
        m_isOver[found->second.communication] = true;
    }
    m_numberOf.erase(found->second.communication);
    m_running.erase(found);
    m_owner.OnCommunicationEnded();
}

void
CommunicationRuns::OnTransferDelivered(PlanExecution& /* execution */,
                                       OperationId /* id */,
                                       uint64_t bytes)
{
    m_owner.OnDelivered(bytes);
}

std::string
CommunicationRuns::DescribeFailure(const PlanExecution& execution,
                                   OperationId id,
                                   const std::string& reason) const
{
    const auto communication = m_running.at(execution.GetNumber()).communication;
    const auto operation = execution.GetPlan().GetOperations()[id];
    const auto group = m_workload.GetGroup(communication);
    const auto place =
        operation.IsAggregate()
            ? fmt::format("of rank {}", group[operation.src])
            : fmt::format("from rank {} to rank {}", group[operation.src], group[operation.dst]);
    return fmt::format("{} {}: {}",
                       m_workload.GetLabel(m_workload.GetCommunications()[communication].label),
                       place,
                       reason);
}

void
CommunicationRuns::OnTransferFailed(PlanExecution& execution,
                                    OperationId id,
                                    const std::string& reason)
{
    m_owner.OnCommunicationFailed(DescribeFailure(execution, id, reason),
                                  execution.GetPlan().GetOperations()[id].IsAggregate());
}

void
CommunicationRuns::OnSumWrong(PlanExecution& execution, OperationId id, const std::string& reason)
{
    m_owner.OnCommunicationFailed(DescribeFailure(execution, id, reason), false);
}

} // namespace ns3::gradsync
