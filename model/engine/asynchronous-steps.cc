// SPDX-License-Identifier: GPL-2.0-only
// What the workers of an asynchronous job do, step by step.
#include "ns3/asynchronous-execution.h"
#include "ns3/simulator.h"

#include <cstdint>

namespace ns3::gradsync
{

namespace
{

/// Steps do not wait for what a server at the same host adds, nor that for them.
constexpr uint32_t STEP_PROCESSOR = 1;

} // namespace

void
AsynchronousExecution::Compute(uint32_t worker)
{
    auto& of = m_workers[worker];
    of.used = of.parameters;
    of.computesSince = Simulator::Now();
    m_applications[worker]->StartTask(ExecutionTable::MakeTag(m_number, worker),
                                      m_progress.GetStage().GetCompute(worker),
                                      STEP_PROCESSOR);
}

void
AsynchronousExecution::OnComputed(OperationId id)
{
    if (!IsRunning() || m_progress.IsLost(id))
    {
        return;
    }
    auto& worker = m_workers[id];
    worker.record.compute = Simulator::Now() - worker.computesSince;
    const auto step = m_progress.CountStep(id);
    GoOn(id, step % m_job.pushEvery == 0 || step == m_progress.GetStage().steps);
}

/// What follows a step that is computed. \param pushes has not pushed yet, and does
void
AsynchronousExecution::GoOn(uint32_t worker, bool pushes)
{
    const auto step = m_progress.GetStep(worker);
    const bool blocks = !m_job.overlapsFetches || IsTooFar(worker);
    const bool fetches = step % m_job.fetchEvery == 0 || IsTooFar(worker);
    const bool waits = fetches && m_servers.IsAsked(worker);
    m_workers[worker].waitsToGoOn = waits;
    std::optional<uint32_t> asked;
    if (fetches && !waits)
    {
        // Before the push, whose arrival may be what it waits for.
        asked = Fetch(worker, !pushes || !blocks, blocks);
    }
    if (pushes)
    {
        m_transfers.Send({ShardTransferKind::Push, worker, step, asked, m_workers[worker].used});
    }
    if (!waits && (!fetches || !blocks))
    {
        Complete(worker);
    }
}

/// By what it knows, the next step is further ahead of the slowest worker than the bound allows.
bool
AsynchronousExecution::IsTooFar(uint32_t worker) const
{
    const auto step = m_progress.GetStep(worker);
    return m_job.bound && step < m_progress.GetStage().steps &&
           uint64_t{m_workers[worker].slowest} + *m_job.bound < step;
}

/// \param asks on its own \returns else the number of the pull that a push is to ask for
std::optional<uint32_t>
AsynchronousExecution::Fetch(uint32_t worker, bool asks, bool blocks)
{
    const auto step = m_progress.GetStep(worker);
    const auto pull = m_transfers.OpenPull(worker, step);
    m_servers.Expect(worker, {pull, step, blocks});
    auto& record = m_workers[worker].record;
    ++record.fetches;
    if (!asks)
    {
        return pull;
    }
    ++record.requests;
    m_transfers.Send({ShardTransferKind::Request, worker, step, pull});
    return std::nullopt;
}

/// A fetch is there.
void
AsynchronousExecution::TakeParameters(uint32_t worker)
{
    auto& of = m_workers[worker];
    const auto fetch = m_servers.Close(worker);
    of.parameters = fetch.others;
    of.slowest = fetch.slowest;
    if (fetch.blocks)
    {
        of.record.held += fetch.GetHeld();
        Complete(worker);
    }
    else if (of.waitsToGoOn)
    {
        GoOn(worker, false);
    }
}

/// The worker waits for nothing more of its step, or of the beginning of its stage.
void
AsynchronousExecution::Complete(uint32_t worker)
{
    m_progress.Complete(worker);
    auto& record = m_workers[worker].record;
    record.step = m_progress.GetStep(worker);
    if (record.step > 0)
    {
        record.end = Simulator::Now();
        m_site.listener->OnWorkerStep(record);
        record.start = record.end;
        record.held = Time(0);
        record.fetches = 0;
        record.requests = 0;
    }
    TellIterations(m_progress.CountCompleted());
    if (m_progress.IsWorking(worker))
    {
        Compute(worker);
    }
}

} // namespace ns3::gradsync
