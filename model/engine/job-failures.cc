// SPDX-License-Identifier: GPL-2.0-only
// The part of JobExecution that tells why an iteration cannot be finished.
#include "ns3/failure-text.h"
#include "ns3/job-execution.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/time-range.h"

#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncJobFailures");

void
JobExecution::OnTransferFailed(OperationId id, const std::string& reason)
{
    // A peer that has crashed is found out by its silence.
    const auto& operation = m_plan->GetOperations()[id];
    for (const auto* peer : {m_members[operation.src], m_members[operation.dst]})
    {
        if (CanDoWithout(peer->GetRank()))
        {
            Simulator::ScheduleNow(&ExchangeEngine::OnUnreachable,
                                   Ptr<ExchangeEngine>(&m_engine),
                                   m_index,
                                   peer->GetRank());
            return;
        }
        if (m_job.planSurvivors && !peer->HasBegun())
        {
            // Not at once: the transport is about to tell of other transfers.
            Simulator::ScheduleNow(&ExchangeEngine::OnLost,
                                   Ptr<ExchangeEngine>(&m_engine),
                                   m_index,
                                   peer->GetRank());
            return;
        }
    }
    if (operation.IsAggregate() && m_job.planFallback)
    {
        Simulator::ScheduleNow(&ExchangeEngine::OnAggregationLost,
                               Ptr<ExchangeEngine>(&m_engine),
                               m_index,
                               m_attempt);
        return;
    }
    Fail(fmt::format("{}: {}", DescribeOperation(*m_plan, id), reason));
}

void
JobExecution::OnWrongSum(OperationId id, const std::string& reason)
{
    Fail(fmt::format("{}: {}", DescribeOperation(*m_plan, id), reason));
}

void
JobExecution::Fail(std::string cause)
{
    if (!m_failure && !m_finished)
    {
        CancelEvent(m_timeoutEvent);
        CancelEvent(m_gateEvent);
        m_failure = std::move(cause);
        NS_LOG_WARN("job " << m_job.name << ": " << *m_failure);
        m_engine.StopIfSettled();
    }
}

void
JobExecution::OnTimeout()
{
    Fail(fmt::format("timed out, not done {:.12g} s after it began",
                     m_job.timeout.ToDouble(Time::S)));
}

ExchangeFailure
JobExecution::DescribeFailure() const
{
    ExchangeFailure failure{"", m_index, m_iteration, {}, {}, m_planIndex};
    for (OperationId id = 0; id < m_plan->GetOperations().size(); ++id)
    {
        // Nothing is known of an iteration that did not begin: all of it is missing.
        if (!m_running || m_waiting[id] != DONE)
        {
            failure.unfinished.push_back(id);
        }
        if (m_running && m_waiting[id] == STARTED)
        {
            failure.inNetwork.push_back(id);
        }
    }
    failure.reason = FormatFailure(
        *m_plan,
        {m_job.name, m_iteration, GetFailureCause(), failure.unfinished, failure.inNetwork});
    return failure;
}

std::string
JobExecution::GetFailureCause() const
{
    if (m_failure)
    {
        return *m_failure;
    }
    if (Simulator::Now().GetTimeStep() >= LAST_TIME_STEP)
    {
        return "simulated time ended after 106 days, before it was done";
    }
    std::vector<uint32_t> stopped;
    for (const auto& application : m_applications)
    {
        if (application->IsStopped())
        {
            stopped.push_back(application->GetRank());
        }
    }
    return stopped.empty()
               ? "stalled, the simulation ended before it was done"
               : fmt::format("stalled, rank {} was stopped before it was done", stopped.front());
}

} // namespace ns3::gradsync
