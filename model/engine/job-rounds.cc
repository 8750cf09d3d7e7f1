// SPDX-License-Identifier: GPL-2.0-only
// The part of JobExecution that does not wait for everybody: plans with a gate.
#include "ns3/job-execution.h"
#include "ns3/log.h"
#include "ns3/plan-part.h"
#include "ns3/plan-verifier.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncJobRounds");

void
JobExecution::OpenGate()
{
    m_answers = 0;
    m_gateState = GateState::Open;
    m_gateOperation = NO_OPERATION;
    CancelEvent(m_gateEvent);
    if (const auto& gate = m_plan->GetGate())
    {
        m_gateOperation = gate->operation;
        m_gateEvent = Simulator::Schedule(PicoSeconds(gate->timeoutPicoseconds),
                                          &ExchangeEngine::OnGateTimeout,
                                          &m_engine,
                                          m_index);
    }
}

bool
JobExecution::TrainsInPlan() const
{
    return m_plan->GetGate().has_value();
}

void
JobExecution::OnAnswer()
{
    ++m_answers;
    CloseGateIfEnough();
}

/// Whether all that can still answer have done so, as far as the job knows.
bool
JobExecution::HasAllAnswers() const
{
    const auto& answers = m_plan->GetGate()->answers;
    return std::all_of(answers.begin(), answers.end(), [this](const auto& answer) {
        return IsDone(answer.operation) ||
               (m_job.planSurvivors && m_lost.contains(m_members[answer.worker]->GetRank()));
    });
}

void
JobExecution::CloseGateIfEnough()
{
    const bool isEnough = m_answers >= m_plan->GetGate()->quorum ||
                          (m_answers > 0 && !m_lost.empty() && HasAllAnswers());
    if (m_gateState == GateState::Open && isEnough)
    {
        m_gateState = GateState::Closing;
        // Not at once: what else arrives at this instant counts.
        Simulator::ScheduleNow(&ExchangeEngine::CloseGate, Ptr<ExchangeEngine>(&m_engine), m_index);
    }
}

void
JobExecution::OnGateTimeout()
{
    if (!m_running || m_failure || m_gateState != GateState::Open)
    {
        return;
    }
    if (m_answers == 0)
    {
        const auto timeout = PicoSeconds(m_plan->GetGate()->timeoutPicoseconds);
        Fail(fmt::format("nobody answered within {} s", timeout.ToDouble(Time::S)));
        return;
    }
    m_gateState = GateState::Closing;
    CloseGate();
}

void
JobExecution::CloseGate()
{
    if (!m_running || m_failure || m_gateState != GateState::Closing)
    {
        return;
    }
    m_gateState = GateState::Closed;
    CancelEvent(m_gateEvent);
    StartReady(); // what is ready at this instant belongs to the attempt that ends here
    std::vector<bool> isLost(m_members.size(), false);
    for (const auto& [operation, worker] : m_plan->GetGate()->answers)
    {
        isLost[worker] = !IsDone(operation);
    }
    const auto attempt = m_attempt++;
    auto late = LeaveOut(isLost);
    const auto kept = FindKept(attempt, late);
    m_late.Add(attempt, {m_iteration, m_planIndex, m_plans[m_planIndex].plan, std::move(late)});
    for (uint32_t rank = 0; rank < isLost.size(); ++rank)
    {
        // Answered, and gone before this instant.
        isLost[rank] = isLost[rank] || m_lost.contains(m_members[rank]->GetRank());
    }
    LeaveOut(isLost);
    if (!UsePart(isLost))
    {
        return;
    }
    MarkDone(m_gateOperation);
    auto ready = m_late.Release(attempt, m_gateOperation);
    ready.insert(ready.begin(), kept.begin(), kept.end());
    for (const auto tag : ready)
    {
        StartLate(tag);
    }
    FinishIterationIfDone();
}

/// The tags of transfers that were ready to start, and not under way because of a limit.
std::vector<uint64_t>
JobExecution::FindKept(uint32_t attempt,
                       const std::map<OperationId, LateOperations::Entry>& entries) const
{
    std::vector<uint64_t> tags;
    for (const auto& [id, entry] : entries)
    {
        if (entry.waiting == 0 && !entry.isSent && m_plan->GetOperations()[id].IsTransfer())
        {
            tags.push_back(uint64_t{attempt} << 32 | id);
        }
    }
    return tags;
}

/// The iteration does not wait for lost ranks. \returns what is thereby left out and not done
std::map<OperationId, LateOperations::Entry>
JobExecution::LeaveOut(const std::vector<bool>& isLost)
{
    std::map<OperationId, LateOperations::Entry> entries;
    const auto isLeftOut = FindLeftOut(*m_plan, isLost);
    for (OperationId id = 0; id < isLeftOut.size(); ++id)
    {
        if (!isLeftOut[id] || IsDone(id))
        {
            continue;
        }
        const bool isSent = m_waiting[id] == STARTED;
        entries[id] = {isSent ? 0 : m_waiting[id],
                       isSent,
                       m_sentAt.empty() ? Time() : m_sentAt[id]};
        m_waiting[id] = DONE;
        --m_left;
        if (isSent)
        {
            CountInFlight(-1);
            // The limit of transfers under way does not count what nobody waits for.
            if (const auto next = m_members[m_plan->GetOperations()[id].src]->OnSent())
            {
                MakeReady(*next);
            }
        }
    }
    return entries;
}

/**
 * The iteration ends as one of those that are left: the plan without the others is proved to be
 * whole, and named by the records. \returns false when the job has failed
 */
bool
JobExecution::UsePart(const std::vector<bool>& isLost)
{
    ExecutedPlan part;
    uint32_t workers = 0;
    for (uint32_t rank = 0; rank < isLost.size(); ++rank)
    {
        if (!isLost[rank])
        {
            part.ranks.push_back(m_members[rank]->GetRank());
            workers += rank < m_plan->GetWorkerCount() ? 1 : 0;
        }
    }
    if (workers == 0)
    {
        Fail("all that answered are lost");
        return false;
    }
    if (part.ranks.size() == isLost.size())
    {
        m_record.plan = m_planIndex;
        return true;
    }
    const std::pair key{m_planIndex, part.ranks};
    const auto known = m_partOf.find(key);
    if (known == m_partOf.end())
    {
        auto made = MakePlanPart(*m_plan, isLost);
        const auto verification = PlanVerifier().Verify(made.plan);
        if (!verification.ok)
        {
            throw std::logic_error(
                fmt::format("job \"{}\", iteration {}: the exchange of those that are left is not "
                            "whole: {}",
                            m_job.name,
                            m_iteration,
                            verification.violations.front()));
        }
        part.plan = std::make_shared<const Plan>(std::move(made.plan));
        part.isWhole = false;
        part.whole = m_planIndex;
        part.operations = std::move(made.operations);
        m_partOf.emplace(key, static_cast<uint32_t>(m_plans.size()));
        m_plans.push_back(std::move(part));
    }
    m_record.plan = m_partOf.at(key);
    return true;
}

bool
JobExecution::CanDoWithout(uint32_t rank) const
{
    return m_plan->GetGate() && rank < m_job.plan->GetWorkerCount();
}

/// A worker of a plan with a gate is gone.
void
JobExecution::LoseWorker(uint32_t rank)
{
    if (!m_running || m_failure || !m_lost.insert(rank).second)
    {
        return;
    }
    m_late.ForgetIf([this, rank](const auto& batch, OperationId id) {
        const auto& operation = batch.plan->GetOperations()[id];
        const auto& ranks = m_plans[batch.planIndex].ranks;
        return ranks[operation.src] == rank || ranks[operation.dst] == rank;
    });
    if (m_gateState != GateState::Closed)
    {
        CloseGateIfEnough();
        return;
    }
    // Nobody waits for the model to reach it.
    const auto& ranks = m_plans[m_record.plan].ranks;
    std::vector<bool> isLost(m_members.size());
    for (uint32_t i = 0; i < isLost.size(); ++i)
    {
        const auto member = m_members[i]->GetRank();
        isLost[i] = member == rank || !std::binary_search(ranks.begin(), ranks.end(), member);
    }
    LeaveOut(isLost);
    if (UsePart(isLost))
    {
        FinishIterationIfDone();
    }
}

void
JobExecution::StartTraining(OperationId id)
{
    m_members[m_plan->GetOperations()[id].src]->StartTraining(MakeTag(id));
}

void
JobExecution::OnTrained(uint64_t tag, uint32_t rank, const Time& since)
{
    const auto now = Simulator::Now();
    const auto* late = m_late.Find(tag);
    if (IsCurrent(tag) || late)
    {
        const auto iteration = late ? late->iteration : m_iteration;
        m_engine.TraceCompute({m_index, iteration, rank, since, now});
    }
    if (!IsCurrent(tag))
    {
        OnLateDone(tag);
        return;
    }
    m_record.training = std::max(m_record.training, now - since);
    OnOperationDone(static_cast<OperationId>(tag));
}

void
JobExecution::StartLate(uint64_t tag)
{
    auto* batch = m_late.Find(tag);
    const auto id = static_cast<OperationId>(tag);
    const auto& operation = batch->plan->GetOperations()[id];
    const auto& ranks = m_plans[batch->planIndex].ranks;
    auto& application = *m_applications[ranks[operation.src]];
    if (application.IsCrashed() || application.IsStopped())
    {
        m_late.Forget(tag);
    }
    else if (operation.IsTransfer())
    {
        batch->entries.at(id).isSent = true;
        batch->entries.at(id).sentAt = Simulator::Now();
        application.Issue(tag,
                          operation,
                          batch->plan->GetBytes(id),
                          *m_applications[ranks[operation.dst]]);
    }
    else if (operation.kind == OperationKind::Train)
    {
        application.StartTraining(tag);
    }
    else
    {
        application.StartCompute(
            tag,
            PicoSeconds(operation.IsCompute() ? batch->plan->GetComputePicoseconds(id) : 0),
            operation.IsCompute() ? operation.firstChunk : 0);
    }
}

void
JobExecution::OnLateDone(uint64_t tag)
{
    const auto* batch = m_late.Find(tag);
    if (batch == nullptr)
    {
        return;
    }
    const auto id = static_cast<OperationId>(tag);
    const auto& operation = batch->plan->GetOperations()[id];
    const auto controller = batch->plan->GetOperations()[batch->plan->GetGate()->operation].src;
    if (operation.IsTransfer())
    {
        m_engine.AddDelivered(batch->plan->GetBytes(id));
        if (!m_sentAt.empty())
        {
            m_engine.TraceTransfer({m_index,
                                    batch->iteration,
                                    id,
                                    batch->planIndex,
                                    batch->entries.at(id).sentAt,
                                    Simulator::Now()});
        }
    }
    if (operation.IsTransfer() && operation.dst == controller)
    {
        ++m_lateAnswers;
        NS_LOG_LOGIC("job " << m_job.name << " drops a late answer of iteration "
                            << batch->iteration);
        m_late.Forget(tag); // it is not even decoded
        return;
    }
    for (const auto ready : m_late.Finish(tag))
    {
        StartLate(ready);
    }
}

void
JobExecution::ForgetLate(uint64_t tag)
{
    m_late.Forget(tag);
}

} // namespace ns3::gradsync
