// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-execution.h"

#include "ns3/host-slowdowns.h"
#include "ns3/log.h"
#include "ns3/rank-share.h"
#include "ns3/simulator.h"
#include "ns3/training-records.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncTrainingExecution");

TrainingExecution::TrainingExecution(const JobSite& site,
                                     uint32_t index,
                                     TrainingJob job,
                                     std::vector<Ptr<ExchangeApplication>> applications)
    : RankedJob(site, index, job.name, job.endpointOf, std::move(applications)),
      m_job(std::move(job)),
      m_roster(m_job, site.transport)
{
    if (!TakesPart())
    {
        m_iteration = m_job.iterations;
    }
    Attach(*this);
}

bool
TrainingExecution::IsFinished() const
{
    return m_iteration == m_job.iterations;
}

uint64_t
TrainingExecution::CountDoneOperations() const
{
    const auto tasks = m_roster.GetWorkload()->GetTasks().size();
    return m_delivered + m_doneTasks + (m_execution ? tasks - m_execution->GetLeft() : 0);
}

uint64_t
TrainingExecution::CountRecordedCollectives() const
{
    return m_records ? m_records->GetCount() : 0;
}

std::string
TrainingExecution::FindTwinDifference() const
{
    const auto* twins = m_records ? m_records->GetTwins() : nullptr;
    if (twins && twins->GetDifference().empty() && !IsFinished())
    {
        return "it did not end, and what is under way is not known of all planes";
    }
    return twins ? twins->GetDifference() : std::string();
}

void
TrainingExecution::OnRankStarted()
{
    if (!m_execution && m_iteration == 0 && !IsFinished() && !m_failure)
    {
        BeginIteration();
    }
}

/// Computations are tasks.
bool
TrainingExecution::ComputesFirst() const
{
    return false;
}

void
TrainingExecution::BeginIteration()
{
    NS_LOG_LOGIC("job " << m_job.name << " begins iteration " << m_iteration);
    m_begin = Simulator::Now();
    StartTimeout(m_job.timeout, [job = weak_from_this()] {
        if (const auto alive = job.lock())
        {
            alive->OnTimeout();
        }
    });
    if (!m_roster.AskForSwitches())
    {
        React(ReactionRecord::NO_RANK, ReactionKind::Fallback);
    }
    BeginRun();
}

void
TrainingExecution::BeginRun()
{
    m_resumed = Simulator::Now();
    std::vector<ExchangeApplication*> ranks;
    for (const auto rank : m_roster.GetRanks())
    {
        ranks.push_back(PeekPointer(m_applications[rank]));
    }
    WorkloadExecution::Owner& owner = *this;
    m_execution = std::make_unique<WorkloadExecution>(m_executions,
                                                      m_roster.GetAggregations(),
                                                      owner,
                                                      m_roster.GetWorkload(),
                                                      std::move(ranks),
                                                      FindRecords(),
                                                      ProvideShare());
    bool hasPart = false;
    for (const auto rank : m_roster.GetRanks())
    {
        if (IsHere(rank))
        {
            m_applications[rank]->BeginIteration();
            hasPart = true;
        }
    }
    if (!hasPart)
    {
        OnWorkloadEnded(*m_execution);
    }
}

/// Of the next run, among several processes; else nullptr.
const WorkloadShare*
TrainingExecution::ProvideShare()
{
    if (m_site.share && !m_parts)
    {
        std::vector<uint32_t> partOf;
        for (const auto rank : m_roster.GetRanks())
        {
            partOf.push_back(m_site.share->GetPart(m_job.endpointOf[rank]));
        }
        m_parts = std::make_unique<WorkloadParts>(*m_roster.GetWorkload(),
                                                  std::move(partOf),
                                                  m_job.reduceSecondsPerByte);
    }
    m_share = {m_site.share, m_parts.get(), m_index, m_share.run + 1};
    return m_site.share ? &m_share : nullptr;
}

/// Of a job whose ranks do nothing but compute for as long as they say, send and wait.
CollectiveRecords*
TrainingExecution::FindRecords()
{
    auto* parts = m_site.transport->GetParts();
    const bool isPlain = m_site.recordsCollectives && parts &&
                         m_roster.GetAggregations().IsEmpty() && m_site.slowdowns->IsEmpty() &&
                         m_job.reduceSecondsPerByte == 0 && m_job.transmission.reliableShare == 1 &&
                         m_job.timeout.IsZero();
    if (isPlain && !m_records)
    {
        m_records = std::make_unique<CollectiveRecords>(*m_roster.GetWorkload(),
                                                        m_job.endpointOf,
                                                        *parts,
                                                        m_site.hasTwinPlanes);
    }
    return m_records.get();
}

void
TrainingExecution::OnRankExchanging(uint32_t rank, const Time& /* since */)
{
    const auto& ranks = m_roster.GetRanks();
    const auto found = std::ranges::lower_bound(ranks, rank);
    if (m_execution && found != ranks.end() && *found == rank)
    {
        m_execution->Start(static_cast<uint32_t>(found - ranks.begin()));
    }
}

void
TrainingExecution::OnWorkloadDelivered(WorkloadExecution& /* execution */, uint64_t bytes)
{
    ++m_delivered;
    m_site.listener->OnDelivered(bytes);
}

void
TrainingExecution::OnWorkloadEnded(WorkloadExecution& /* execution */)
{
    if (m_failure)
    {
        return;
    }
    if (m_site.share)
    {
        m_site.share->OnPartEnded(m_index, [job = shared_from_this()] { job->EndRun(); });
        return;
    }
    EndRun();
}

/// It is done at every rank.
void
TrainingExecution::EndRun()
{
    StopTimeout();
    if (m_records)
    {
        m_records->EndRun();
    }
    const TrainingRecord run{m_index,
                             m_iteration,
                             m_begin,
                             Simulator::Now(),
                             m_resumed,
                             m_roster.GetRanks(),
                             m_roster.GetWorkload(),
                             &m_execution->GetLog()};
    // One of several processes has the times of its own tasks only.
    const auto records = m_site.share ? std::vector<IterationRecord>{} : MakeIterationRecords(run);
    m_iteration += m_roster.GetWorkload()->GetIterationCount();
    m_doneTasks += m_roster.GetWorkload()->GetTasks().size();
    m_site.listener->OnTraining(run); // the job may be finished
    m_execution.reset();
    for (const auto& record : records)
    {
        m_site.listener->OnIteration(record);
    }
    if (m_site.listener->WatchesBoundaries())
    {
        // Not in the middle of this event, see JobExecution::OnEnded.
        m_boundaryEvent.Schedule(Time(0), &TrainingExecution::OnBoundary, this);
    }
    else
    {
        GoOn();
    }
}

void
TrainingExecution::OnBoundary()
{
    if (m_failure)
    {
        return;
    }
    m_job.iterations -=
        m_site.listener->OnBoundary({m_index, m_iteration, m_job.iterations - m_iteration});
    GoOn();
}

void
TrainingExecution::AddState(StateWords& words) const
{
    if (!m_roster.IsPlain())
    {
        words.Refuse("switches aggregate, or ranks are lost");
    }
    for (const auto& application : m_applications)
    {
        application->AddState(words);
    }
}

/// With the next run, if there is one.
void
TrainingExecution::GoOn()
{
    if (IsFinished())
    {
        m_roster.GetAggregations().Close(); // others may have the slots
        m_site.listener->OnJobFinished();
    }
    else
    {
        BeginIteration();
    }
}

} // namespace ns3::gradsync
