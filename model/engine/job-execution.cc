// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/job-execution.h"

#include "ns3/codec-times.h"
#include "ns3/failure-text.h"
#include "ns3/log.h"
#include "ns3/rank-share.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncJobExecution");

JobExecution::JobExecution(const JobSite& site,
                           uint32_t index,
                           Job job,
                           std::vector<Ptr<ExchangeApplication>> applications)
    : RankedJob(site, index, job.name, job.endpointOf, std::move(applications)),
      m_job(std::move(job)),
      m_roster(m_job),
      m_gate(m_executions, *this, *this),
      m_finished(m_job.iterations == 0 || !TakesPart())
{
    try
    {
        Use(0);
    }
    catch (const AggregationDenied&)
    {
        if (!m_job.planFallback)
        {
            throw;
        }
        // It asks again when it begins an iteration.
    }
    Attach(*this);
}

bool
JobExecution::IsFinished() const
{
    return m_finished;
}

std::span<const ExecutedPlan>
JobExecution::GetPlans() const
{
    return m_roster.GetPlans();
}

uint64_t
JobExecution::CountDoneOperations() const
{
    return m_doneBefore + (m_execution ? m_execution->GetLedger().CountDone() : 0);
}

bool
JobExecution::HasLateOperations() const
{
    return m_gate.HasLateOperations();
}

/// The one in use.
const ExecutedPlan&
JobExecution::GetPlan() const
{
    return m_roster.Get(m_planIndex);
}

/// A rank of the job as the plan in use numbers it.
std::optional<uint32_t>
JobExecution::FindPlanRank(uint32_t rank) const
{
    const auto& ranks = GetPlan().ranks;
    const auto found = std::lower_bound(ranks.begin(), ranks.end(), rank);
    return found == ranks.end() || *found != rank
               ? std::nullopt
               : std::make_optional(static_cast<uint32_t>(found - ranks.begin()));
}

void
JobExecution::Use(uint32_t plan)
{
    if (plan != m_planIndex)
    {
        m_aggregations.Close();
    }
    m_planIndex = plan;
    if (GetPlan().plan->HasAggregations())
    {
        std::vector<uint32_t> endpoints;
        for (const auto rank : GetPlan().ranks)
        {
            endpoints.push_back(m_job.endpointOf[rank]);
        }
        m_aggregations.Open(*GetPlan().plan, endpoints, m_site.transport, m_job.aggregationRoots);
    }
}

/// Of the plan in use, at the ranks that have the most of each.
void
JobExecution::SetCodecTimes()
{
    const CodecTimes times(*GetPlan().plan);
    m_record.compress = times.GetMostEncode();
    m_record.decompress = times.GetMostDecode();
}

void
JobExecution::OnRankStarted()
{
    if (!m_running && m_iteration == 0 && !m_finished && !m_failure)
    {
        BeginIteration();
    }
}

bool
JobExecution::ComputesFirst() const
{
    return !GetPlan().plan->GetGate();
}

/// What is done with the job then, unless it is gone.
template <typename F>
std::function<void()>
JobExecution::Later(F action)
{
    return [job = weak_from_this(), action] {
        if (const auto alive = job.lock())
        {
            action(*alive);
        }
    };
}

void
JobExecution::BeginIteration()
{
    NS_LOG_LOGIC("job " << m_job.name << " begins iteration " << m_iteration);
    m_lost.clear();
    DropExecution(); // the old one goes first: a plan may have millions of operations
    if (!ChoosePlan())
    {
        return;
    }
    m_running = true;
    m_record = {};
    m_record.job = m_index;
    m_record.iteration = m_iteration;
    m_record.start = Simulator::Now();
    m_record.exchangeStart = TimeStep(-1); // not yet
    StartTimeout(m_job.timeout, Later([](auto& job) { job.OnTimeout(); }));
    BeginExecution();
    if (!BeginRanks())
    {
        OnEnded(*m_execution);
    }
}

/// And those of other processes of which this one must know when they begin: all compute as long
/// everywhere. \returns false when none is of this process
bool
JobExecution::BeginRanks()
{
    bool hasPart = false;
    const auto& ranks = GetPlan().ranks;
    for (uint32_t planRank = 0; planRank < ranks.size(); ++planRank)
    {
        const bool isHere = IsHere(ranks[planRank]);
        hasPart = hasPart || isHere;
        if (isHere ||
            (m_distant && m_distant->IsStartFollowed(planRank, m_site.share->GetOwnPart())))
        {
            m_applications[ranks[planRank]]->BeginIteration();
        }
    }
    return hasPart;
}

/// Whether this process simulates a rank of the plan in use.
bool
JobExecution::IsPlanRankHere(uint32_t rank) const
{
    return m_site.share == nullptr || IsHere(GetPlan().ranks[rank]);
}

/// Of the plan in use, among several processes; nullptr: none of them waits for another.
const DistantEnds*
JobExecution::ProvideDistantEnds()
{
    if (m_site.share && m_site.share->AreEndsTold() && m_distantPlan != m_planIndex)
    {
        m_distantPlan = m_planIndex;
        std::vector<uint32_t> partOf;
        for (const auto rank : GetPlan().ranks)
        {
            partOf.push_back(m_site.share->GetPart(m_job.endpointOf[rank]));
        }
        m_distant = std::make_unique<DistantEnds>(*GetPlan().plan,
                                                  std::move(partOf),
                                                  m_job.reduceSecondsPerByte,
                                                  m_job.maxOutstandingSends != 0);
        if (!m_distant->FindDemands().areAny)
        {
            m_distant.reset();
        }
    }
    return m_distant.get();
}

/// Of the plan in use. No rank has started.
void
JobExecution::BeginExecution()
{
    m_record.plan = m_planIndex;
    SetCodecTimes();
    PlanExecution::Setup setup;
    setup.plan = GetPlan().plan;
    setup.ranks.reserve(GetPlan().ranks.size());
    for (const auto rank : GetPlan().ranks)
    {
        setup.ranks.push_back(PeekPointer(m_applications[rank]));
    }
    setup.aggregations = m_aggregations.TakeTurn(*setup.plan);
    setup.keepsTimes = m_site.listener->IsTransferTraced();
    setup.timesNetwork = true;
    setup.hasGate = true;
    setup.share = m_site.share;
    setup.job = m_index;
    setup.turns = m_site.turns;
    setup.distant = ProvideDistantEnds();
    PlanExecution::Listener& listener = *this;
    m_execution = std::make_unique<PlanExecution>(m_executions, listener, std::move(setup));
    m_gate.Open(*m_execution);
}

void
JobExecution::DropExecution()
{
    m_doneBefore = CountDoneOperations();
    m_execution.reset();
}

void
JobExecution::OnRankExchanging(uint32_t rank, const Time& computedSince)
{
    const auto planRank = FindPlanRank(rank);
    if (!IsHere(rank))
    {
        m_site.share->OnForeignEvent();
        m_execution->StartElsewhere(*planRank);
        return;
    }
    if (ComputesFirst())
    {
        m_site.listener->OnComputation(
            {m_index, m_iteration, rank, computedSince, Simulator::Now()});
    }
    if (rank < m_job.plan->GetWorkerCount() && m_record.exchangeStart < m_record.start)
    {
        m_record.exchangeStart = Simulator::Now();
    }
    if (m_execution && planRank)
    {
        m_execution->Start(*planRank);
    }
}

void
JobExecution::OnTransferDelivered(PlanExecution& execution, OperationId id, uint64_t bytes)
{
    m_site.listener->OnDelivered(bytes);
    m_site.listener->OnTransfer({m_index,
                                 m_iteration,
                                 id,
                                 m_planIndex,
                                 execution.GetLedger().GetSentAt(id),
                                 Simulator::Now()});
}

void
JobExecution::OnWorked(PlanExecution& execution, OperationId id)
{
    if (m_site.listener->IsWorkTraced())
    {
        const auto now = Simulator::Now();
        const auto since = now - execution.GetWorkTime(id);
        m_site.listener->OnWork({m_index, m_iteration, id, m_planIndex, since, now});
    }
}

void
JobExecution::OnRankTrained(PlanExecution& /* execution */, uint32_t rank, const Time& since)
{
    const auto now = Simulator::Now();
    m_site.listener->OnComputation({m_index, m_iteration, rank, since, now});
    m_record.training = std::max(m_record.training, now - since);
}

void
JobExecution::OnEnded(PlanExecution& /* execution */)
{
    if (m_failure)
    {
        return;
    }
    if (m_site.share)
    {
        m_site.share->OnPartEnded(m_index, Later([](auto& job) { job.EndIteration(); }));
        return;
    }
    EndIteration();
}

/// It is done at every rank.
void
JobExecution::EndIteration()
{
    m_running = false;
    m_record.replies = m_gate.GetAnswers();
    m_record.late = std::exchange(m_lateAnswers, 0);
    m_record.network += m_execution->GetNetworkTime();
    m_record.end = Simulator::Now();
    StopTimeout();
    ++m_iteration;
    // Who follows boundaries wants to see what is still in the middle of this event: it may be the
    // delivery of a packet that is not acknowledged yet.
    const bool isWatched = m_site.listener->WatchesBoundaries() && !GetPlan().plan->GetGate();
    m_finished = !isWatched && m_iteration == m_job.iterations;
    m_site.listener->OnIteration(m_record);
    if (isWatched)
    {
        m_boundaryEvent.Schedule(Time(0), &JobExecution::OnBoundary, this);
    }
    else
    {
        GoOn();
    }
}

void
JobExecution::OnBoundary()
{
    if (m_failure)
    {
        return;
    }
    m_job.iterations -=
        m_site.listener->OnBoundary({m_index, m_iteration, m_job.iterations - m_iteration});
    m_finished = m_iteration == m_job.iterations;
    GoOn();
}

/// With the next iteration, if there is one.
void
JobExecution::GoOn()
{
    if (m_finished)
    {
        m_aggregations.Close(); // others may have the slots
        DropExecution();
        m_site.listener->OnJobFinished();
    }
    else
    {
        BeginIteration();
    }
}

void
JobExecution::AddState(StateWords& words) const
{
    if (m_roster.GetPlans().size() != 1 || !m_down.empty() || GetPlan().plan->GetGate() ||
        GetPlan().plan->HasAggregations() || HasLateOperations())
    {
        words.Refuse("the plan has a gate, aggregations or survivors");
    }
    for (const auto& application : m_applications)
    {
        application->AddState(words);
    }
}

void
JobExecution::OnTimeout()
{
    Fail(DescribeTimeout(m_job.timeout));
}

void
JobExecution::Fail(std::string cause)
{
    if (m_failure || m_finished)
    {
        return;
    }
    m_gate.Cancel();
    if (m_execution)
    {
        m_execution->Halt();
    }
    EndByFailure(std::move(cause));
}

ExchangeFailure
JobExecution::DescribeFailure() const
{
    ExchangeFailure failure{"", m_index, m_iteration, {}, {}, m_planIndex};
    const auto& plan = *GetPlan().plan;
    const auto* ledger = m_execution ? &m_execution->GetLedger() : nullptr;
    for (OperationId id = 0; id < plan.GetOperations().size(); ++id)
    {
        const auto operation = plan.GetOperations()[id];
        const bool isReceiver = IsPlanRankHere(operation.dst);
        const bool isSender = IsPlanRankHere(operation.src);
        // Nothing is known of an iteration that did not begin: all of it is missing.
        if (isReceiver && (ledger == nullptr || !ledger->IsDone(id)))
        {
            failure.unfinished.push_back(id);
            if (ledger != nullptr && ledger->IsDelivered(id))
            {
                failure.arrived.push_back(id);
            }
        }
        if (isSender && ledger != nullptr && ledger->IsSent(id))
        {
            failure.inNetwork.push_back(id);
        }
    }
    failure.cause = GetFailureCause();
    failure.reason = FormatFailure(
        plan,
        {m_job.name, m_iteration, failure.cause, failure.unfinished, failure.inNetwork});
    return failure;
}

std::string
JobExecution::GetFailureCause() const
{
    if (m_failure)
    {
        return *m_failure;
    }
    const auto stopped = std::ranges::find_if(m_applications, [](const auto& application) {
        return application->IsStopped();
    });
    return stopped == m_applications.end()
               ? DescribeStall()
               : fmt::format("stalled, rank {} was stopped before it was done",
                             (*stopped)->GetRank());
}

} // namespace ns3::gradsync
