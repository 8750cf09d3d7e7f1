// SPDX-License-Identifier: GPL-2.0-only
// What asynchronous jobs do when something goes wrong.
#include "ns3/asynchronous-execution.h"
#include "ns3/failure-text.h"
#include "ns3/log.h"

#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncAsynchronousFailures");

void
AsynchronousExecution::OnLost(uint32_t worker, uint32_t server, const std::string& reason)
{
    if (!m_applications[worker]->IsHalted())
    {
        Fail(fmt::format("worker {} and server {}: {}", worker, server, reason));
    }
}

void
AsynchronousExecution::OnCrash(uint32_t endpoint)
{
    if (const auto rank = FindRank(endpoint))
    {
        m_applications[*rank]->Crash();
    }
}

void
AsynchronousExecution::OnRestart(uint32_t endpoint)
{
    if (const auto rank = FindRank(endpoint))
    {
        m_applications[*rank]->Restart();
    }
}

void
AsynchronousExecution::OnNotice(uint32_t rank)
{
    if (m_applications[rank]->HasBegun() || !IsRunning())
    {
        return;
    }
    if (m_job.servers == 0 || rank >= m_job.workers)
    {
        Fail(fmt::format("rank {}, the server of shard {}, has crashed",
                         rank,
                         m_job.servers == 0 ? rank : rank - m_job.workers));
        return;
    }
    LoseWorker(rank);
}

void
AsynchronousExecution::LoseWorker(uint32_t worker)
{
    m_progress.Lose(worker);
    m_transfers.Drop(worker);
    m_servers.Drop(worker);
    if (m_progress.GetActive().empty())
    {
        FailWithoutWorkers();
        return;
    }
    m_servers.AnswerAll();
    EndStageIfDone();
}

void
AsynchronousExecution::FailWithoutWorkers()
{
    Fail(fmt::format("all {} workers of stage {} have crashed",
                     m_progress.GetStage().workers,
                     m_progress.GetNumber()));
}

void
AsynchronousExecution::OnTimeout()
{
    Fail(DescribeTimeout(m_job.timeout));
}

void
AsynchronousExecution::Fail(std::string cause)
{
    if (m_failure || IsFinished())
    {
        return;
    }
    m_timeoutEvent.Cancel();
    m_transfers.Halt();
    m_failure = std::move(cause);
    NS_LOG_WARN("job " << m_job.name << ": " << *m_failure);
    m_site.listener->OnJobFailed();
}

ExchangeFailure
AsynchronousExecution::DescribeFailure() const
{
    ExchangeFailure failure{"", m_index, m_progress.GetStepsBefore() + m_told, {}, {}};
    std::string waiting;
    for (const auto worker : m_progress.GetActive())
    {
        if (waiting.empty() && m_progress.IsWorking(worker))
        {
            waiting = fmt::format("; worker {} has done {} of {} steps of stage {}",
                                  worker,
                                  m_progress.GetStep(worker),
                                  m_progress.GetStage().steps,
                                  m_progress.GetNumber());
        }
    }
    failure.reason = fmt::format("job \"{}\", iteration {}: {}{}",
                                 m_job.name,
                                 failure.iteration,
                                 m_failure.value_or(DescribeStall()),
                                 waiting);
    return failure;
}

} // namespace ns3::gradsync
