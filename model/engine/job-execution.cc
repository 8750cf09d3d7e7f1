// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/job-execution.h"

#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncJobExecution");

JobExecution::JobExecution(ExchangeEngine& engine,
                           uint32_t index,
                           Job job,
                           std::vector<Ptr<ExchangeApplication>> applications)
    : m_engine(engine),
      m_index(index),
      m_job(std::move(job)),
      m_applications(std::move(applications)),
      m_finished(m_job.iterations == 0)
{
    std::vector<uint32_t> ranks(m_job.plan->GetRankCount());
    std::iota(ranks.begin(), ranks.end(), 0U);
    m_planOf.emplace(ranks, 0);
    m_plans.push_back({m_job.plan, std::move(ranks), true});
    UsePlan(0);
}

JobExecution::~JobExecution()
{
    // Nodes may outlive the engine and the simulator's events may outlive both.
    for (const auto& application : m_applications)
    {
        application->Detach();
    }
    CancelEvent(m_timeoutEvent);
    CancelEvent(m_gateEvent);
}

void
JobExecution::CancelEvent(const EventId& pending)
{
    // Not EventId::Cancel, which makes a new simulator when the old one is destroyed already. The
    // event does not hold a reference to the engine: with the EventId kept here that would be a
    // circle.
    if (auto* event = pending.PeekEventImpl())
    {
        event->Cancel();
    }
}

const Job&
JobExecution::GetJob() const
{
    return m_job;
}

Ptr<ExchangeApplication>
JobExecution::GetApplication(uint32_t rank) const
{
    return m_applications.at(rank);
}

bool
JobExecution::IsFinished() const
{
    return m_finished;
}

std::span<const ExecutedPlan>
JobExecution::GetPlans() const
{
    return m_plans;
}

bool
JobExecution::HasFailed() const
{
    return m_failure.has_value();
}

bool
JobExecution::IsReduce(OperationId id) const
{
    return m_plan->GetOperations()[id].kind == OperationKind::TransferReduce;
}

Time
JobExecution::StretchCompute(uint32_t endpoint, const Time& duration)
{
    return m_engine.StretchCompute(endpoint, duration);
}

void
JobExecution::SumComputeTimes()
{
    std::vector<int64_t> encode(m_plan->GetRankCount(), 0);
    std::vector<int64_t> decode(encode.size(), 0);
    const auto operations = m_plan->GetOperations();
    const auto add = [&](std::vector<int64_t>& sums, OperationId id) {
        const auto steps = static_cast<int64_t>(m_plan->GetComputePicoseconds(id));
        auto& sum = sums[operations[id].src];
        sum = AddTimeSteps(sum, std::min(steps, NEVER));
    };
    for (OperationId id = 0; id < operations.size(); ++id)
    {
        if (operations[id].kind == OperationKind::Encode)
        {
            add(encode, id);
        }
        else if (operations[id].kind == OperationKind::Decode)
        {
            add(decode, id);
        }
    }
    m_compress = PicoSeconds(*std::max_element(encode.begin(), encode.end()));
    m_decompress = PicoSeconds(*std::max_element(decode.begin(), decode.end()));
}

void
JobExecution::CountInFlight(int change)
{
    if (!m_plan->IsCompressed() && m_gateOperation == NO_OPERATION)
    {
        return;
    }
    if (m_inFlight == 0)
    {
        m_inFlightSince = Simulator::Now();
    }
    m_inFlight += change;
    if (m_inFlight == 0)
    {
        m_record.network += Simulator::Now() - m_inFlightSince;
    }
}

void
JobExecution::OnRankStarted()
{
    if (!m_running && !m_finished && !m_failure)
    {
        BeginIteration();
    }
}

void
JobExecution::BeginIteration()
{
    NS_LOG_LOGIC("job " << m_job.name << " begins iteration " << m_iteration);
    m_lost.clear();
    // Ranks that are no members any more may still hold operations of an earlier plan.
    for (const auto& application : m_applications)
    {
        application->DropDeferred();
    }
    if (!ChoosePlan())
    {
        return;
    }
    m_running = true;
    m_workersExchanging = 0;
    m_inFlight = 0;
    m_record = {};
    m_record.job = m_index;
    m_record.iteration = m_iteration;
    m_record.start = Simulator::Now();
    m_record.exchangeStart = TimeStep(-1); // not yet
    m_record.compress = m_compress;
    m_record.decompress = m_decompress;
    m_record.plan = m_planIndex;
    if (m_job.timeout.IsStrictlyPositive())
    {
        m_timeoutEvent =
            Simulator::Schedule(m_job.timeout, &ExchangeEngine::OnTimeout, &m_engine, m_index);
    }
    m_waiting = {}; // the old ones go first: a plan may have millions
    m_waiting = m_plan->CountPredecessors();
    m_left = static_cast<uint32_t>(m_waiting.size());
    OpenGate();
    m_sentAt.resize(m_engine.IsTransferTraced() ? m_waiting.size() : 0);
    const auto operations = m_plan->GetOperations();
    for (OperationId id = 0; id < m_waiting.size(); ++id)
    {
        if (m_waiting[id] == 0)
        {
            m_members[operations[id].src]->Defer(id);
        }
    }
    for (auto* member : m_members)
    {
        member->BeginIteration();
    }
}

void
JobExecution::OnRankExchanging(uint32_t rank,
                               const Time& computedSince,
                               std::span<const OperationId> deferred)
{
    if (!TrainsInPlan())
    {
        m_engine.TraceCompute({m_index, m_iteration, rank, computedSince, Simulator::Now()});
    }
    if (rank < m_job.plan->GetWorkerCount())
    {
        ++m_workersExchanging;
        if (m_record.exchangeStart < m_record.start)
        {
            m_record.exchangeStart = Simulator::Now();
        }
    }
    for (const auto id : deferred)
    {
        if (!IsDone(id))
        {
            MakeReady(id);
        }
    }
    FinishIterationIfDone();
}

void
JobExecution::MakeReady(OperationId id)
{
    const auto& operation = m_plan->GetOperations()[id];
    auto& application = *m_members[operation.src];
    if (!application.IsExchanging())
    {
        application.Defer(id);
        return;
    }
    if (operation.IsCompute())
    {
        application.StartCompute(MakeTag(id),
                                 PicoSeconds(m_plan->GetComputePicoseconds(id)),
                                 operation.firstChunk);
        return;
    }
    if (operation.kind == OperationKind::Train)
    {
        application.StartTraining(MakeTag(id));
        return;
    }
    if (!operation.IsTransfer())
    {
        // Copies within a rank take no time, as those of transfers do.
        const auto bytes = IsReduce(id) ? m_plan->GetBytes(id) : 0;
        if (!application.StartReduce(MakeTag(id), bytes))
        {
            MarkDone(id);
        }
        return;
    }
    m_ready.push_back(id);
    if (!m_startScheduled)
    {
        m_startScheduled = true;
        // After all deliveries of this instant, so that ascending ids hold among all of them.
        Simulator::ScheduleNow(&ExchangeEngine::StartReady,
                               Ptr<ExchangeEngine>(&m_engine),
                               m_index);
    }
}

void
JobExecution::MarkDone(OperationId id)
{
    // A list, not recursion: a plan may chain any number of joins. The first call works it off.
    m_done.push_back(id);
    if (m_markingDone)
    {
        return;
    }
    m_markingDone = true;
    while (!m_done.empty())
    {
        const auto done = m_done.back();
        m_done.pop_back();
        m_waiting[done] = DONE;
        --m_left;
        ++m_doneCount;
        for (const auto successor : m_plan->GetSuccessors(done))
        {
            if (successor == m_gateOperation)
            {
                OnAnswer();
            }
            else if (!IsDone(successor) && --m_waiting[successor] == 0)
            {
                MakeReady(successor);
            }
        }
    }
    m_markingDone = false;
}

void
JobExecution::StartReady()
{
    m_startScheduled = false;
    m_starting.swap(m_ready);
    std::sort(m_starting.begin(), m_starting.end());
    for (const auto id : m_starting)
    {
        if (m_failure)
        {
            break;
        }
        const auto& operation = m_plan->GetOperations()[id];
        auto& application = *m_members[operation.src];
        if (application.IsStopped())
        {
            continue;
        }
        if (IsDone(id))
        {
            // Left out while it was kept: the next one may start in its place.
            if (const auto next = application.TakeHeld())
            {
                MakeReady(*next);
            }
            continue;
        }
        // Ranks that wait for different aggregations of each other would wait for ever.
        if (!operation.IsAggregate() && !application.MayIssue())
        {
            application.Hold(id);
            continue;
        }
        m_waiting[id] = STARTED;
        application.CountSend();
        if (!m_sentAt.empty())
        {
            m_sentAt[id] = Simulator::Now();
        }
        CountInFlight(1);
        if (operation.IsAggregate())
        {
            StartAggregation(id);
            continue;
        }
        application.Issue(MakeTag(id), operation, m_plan->GetBytes(id), *m_members[operation.dst]);
    }
    m_starting.clear();
}

uint64_t
JobExecution::OnTransferDelivered(OperationId id)
{
    const auto bytes = m_plan->GetBytes(id);
    CountInFlight(-1);
    if (const auto next = m_members[m_plan->GetOperations()[id].src]->OnSent())
    {
        MakeReady(*next);
    }
    m_engine.AddDelivered(bytes);
    if (!m_sentAt.empty())
    {
        m_engine.TraceTransfer(
            {m_index, m_iteration, id, m_planIndex, m_sentAt[id], Simulator::Now()});
    }
    return bytes;
}

void
JobExecution::OnOperationDone(OperationId id)
{
    if (!IsDone(id))
    {
        MarkDone(id);
        FinishIterationIfDone();
    }
}

void
JobExecution::FinishIterationIfDone()
{
    // Of plans with a gate those that do not exchange are left out.
    if (!m_running || m_failure || m_left > 0 ||
        (m_gateOperation == NO_OPERATION && m_workersExchanging < m_plan->GetWorkerCount()))
    {
        return;
    }
    m_running = false;
    m_record.replies = m_answers;
    m_record.late = std::exchange(m_lateAnswers, 0);
    CancelEvent(m_timeoutEvent);
    m_record.end = Simulator::Now();
    ++m_iteration;
    ++m_aggregationRounds;
    m_finished = m_iteration == m_job.iterations;
    m_engine.TraceIteration(m_record);
    if (m_finished)
    {
        CloseAggregations(); // others may have the slots
        m_engine.OnFinished();
    }
    else
    {
        BeginIteration();
    }
}

} // namespace ns3::gradsync
