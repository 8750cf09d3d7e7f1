// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/asynchronous-execution.h"

#include "ns3/failure-text.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncAsynchronousExecution");

namespace
{

constexpr uint32_t NO_RUN = UINT32_MAX;

} // namespace

AsynchronousExecution::AsynchronousExecution(const JobSite& site,
                                             uint32_t index,
                                             AsynchronousJob job,
                                             std::vector<Ptr<ExchangeApplication>> applications)
    : m_site(site),
      m_index(index),
      m_job(std::move(job)),
      m_plans(MakePlans(m_job)),
      m_applications(std::move(applications)),
      m_number(m_executions.Add(*this)),
      m_workers(m_job.workers),
      m_clocks(m_job.workers, m_job.servers)
{
    for (uint32_t rank = 0; rank < m_applications.size(); ++rank)
    {
        m_applications[rank]->Attach(
            {rank, m_job.endpointOf[rank], m_site.transport, &m_executions, m_site.slowdowns},
            this);
    }
}

AsynchronousExecution::~AsynchronousExecution()
{
    // Nodes may outlive the engine.
    for (const auto& application : m_applications)
    {
        application->Detach();
    }
}

const std::string&
AsynchronousExecution::GetName() const
{
    return m_job.name;
}

Ptr<ExchangeApplication>
AsynchronousExecution::GetApplication(uint32_t rank) const
{
    return m_applications.at(rank);
}

bool
AsynchronousExecution::IsFinished() const
{
    return m_stage == m_job.stages.size();
}

bool
AsynchronousExecution::HasFailed() const
{
    return m_failure.has_value();
}

uint64_t
AsynchronousExecution::CountDoneOperations() const
{
    return m_delivered;
}

std::optional<uint32_t>
AsynchronousExecution::FindRank(uint32_t endpoint) const
{
    const auto found = std::ranges::find(m_job.endpointOf, endpoint);
    return found == m_job.endpointOf.end()
               ? std::nullopt
               : std::optional(static_cast<uint32_t>(found - m_job.endpointOf.begin()));
}

bool
AsynchronousExecution::IsRunning() const
{
    return m_hasBegun && !IsFinished() && !m_failure;
}

const AsynchronousStage&
AsynchronousExecution::GetStage() const
{
    return m_job.stages[m_stage];
}

void
AsynchronousExecution::OnRankStarted()
{
    if (m_hasBegun)
    {
        return;
    }
    m_hasBegun = true;
    m_toldUntil = Simulator::Now();
    for (const auto& application : m_applications)
    {
        application->BeginIteration();
    }
    BeginStage();
}

/// Computations are told to begin one by one.
bool
AsynchronousExecution::ComputesFirst() const
{
    return false;
}

void
AsynchronousExecution::OnRankExchanging(uint32_t rank, const Time& /* since */)
{
    if (rank < m_job.workers && IsRunning())
    {
        m_workers[rank].hasStarted = true;
        if (!m_workers[rank].isFinished)
        {
            BeginWorker(rank);
        }
    }
}

void
AsynchronousExecution::BeginStage()
{
    NS_LOG_LOGIC("job " << m_job.name << " begins stage " << m_stage);
    m_clocks.ResetClocks();
    m_told = 0;
    m_active.clear();
    for (uint32_t worker = 0; worker < GetStage().workers; ++worker)
    {
        auto& of = m_workers[worker];
        if (!of.isLost)
        {
            of.step = 0;
            of.completed = 0;
            of.slowest = 0;
            of.isFinished = false;
            m_active.push_back(worker);
        }
    }
    if (m_active.empty())
    {
        Fail(fmt::format("all {} workers of stage {} have crashed", GetStage().workers, m_stage));
        return;
    }
    for (const auto worker : FindActive())
    {
        if (m_workers[worker].hasStarted)
        {
            BeginWorker(worker);
        }
    }
}

/// Parameters are at the workers when the job begins; later others have changed them.
void
AsynchronousExecution::BeginWorker(uint32_t worker)
{
    if (m_stage == 0)
    {
        Compute(worker);
    }
    else
    {
        Fetch(worker, true);
    }
}

void
AsynchronousExecution::Compute(uint32_t worker)
{
    m_applications[worker]->StartTask(ExecutionTable::MakeTag(m_number, worker),
                                      GetStage().compute,
                                      0);
}

void
AsynchronousExecution::OnComputed(OperationId id)
{
    if (!IsRunning() || m_workers[id].isLost)
    {
        return;
    }
    auto& worker = m_workers[id];
    const auto step = ++worker.step;
    const bool isLast = step == GetStage().steps;
    const bool pushes = step % m_job.pushEvery == 0 || isLast;
    const bool isTooFar = m_job.bound && !isLast && worker.slowest + *m_job.bound < step;
    const bool fetches = step % m_job.fetchEvery == 0 || isTooFar;
    if (fetches)
    {
        Fetch(id, !pushes); // before the push, whose arrival may be what it waits for
    }
    if (pushes)
    {
        Push(id);
    }
    if (!fetches)
    {
        Complete(id);
    }
}

AsynchronousExecution::Run&
AsynchronousExecution::Add(Kind kind, uint32_t worker)
{
    PlanExecution::Setup setup;
    setup.plan = kind == Kind::Push   ? m_plans.push
                 : kind == Kind::Pull ? m_plans.pull
                                      : m_plans.request;
    setup.ranks.push_back(PeekPointer(m_applications[worker]));
    for (uint32_t shard = 0; shard < m_job.servers; ++shard)
    {
        setup.ranks.push_back(PeekPointer(m_applications[m_job.workers + shard]));
    }
    // Each kind has connections of its own: answers do not queue behind updates.
    setup.firstStream = static_cast<uint32_t>(kind) * m_job.servers;
    setup.tellsRanks = true;
    PlanExecution::Listener& listener = *this;
    auto execution = std::make_unique<PlanExecution>(m_executions, listener, std::move(setup));
    const auto number = execution->GetNumber();
    Run run{kind, worker, m_workers[worker].step, 0, 0, std::move(execution)};
    return m_runs.emplace(number, std::move(run)).first->second;
}

void
AsynchronousExecution::Push(uint32_t worker)
{
    auto& run = Add(Kind::Push, worker);
    std::vector<uint32_t> all(m_job.servers + 1);
    for (uint32_t rank = 0; rank < all.size(); ++rank)
    {
        all[rank] = rank;
    }
    run.execution->StartTogether(all);
}

void
AsynchronousExecution::Fetch(uint32_t worker, bool asks)
{
    auto& of = m_workers[worker];
    of.asked.assign(m_job.servers, false);
    of.answered.assign(m_job.servers, false);
    of.slowest = UINT32_MAX;
    auto& pull = Add(Kind::Pull, worker);
    of.pull = pull.execution->GetNumber();
    pull.execution->Start(0);
    if (asks)
    {
        std::vector<uint32_t> all(m_job.servers + 1);
        for (uint32_t rank = 0; rank < all.size(); ++rank)
        {
            all[rank] = rank;
        }
        Add(Kind::Request, worker).execution->StartTogether(all);
    }
}

void
AsynchronousExecution::OnRankEnded(PlanExecution& execution, uint32_t member)
{
    auto& run = m_runs.at(execution.GetNumber());
    if (member == 0 || run.kind == Kind::Pull)
    {
        return;
    }
    const auto shard = member - 1;
    const auto worker = run.worker;
    if (run.kind == Kind::Push)
    {
        Apply(run, shard);
    }
    // A push asks for the fetch of its own step; one of an earlier step may come later than that.
    if (run.clock == m_workers[worker].step)
    {
        Ask(worker, shard);
    }
    Answer(shard);
}

void
AsynchronousExecution::Apply(Run& run, uint32_t shard)
{
    run.staleness = std::max(run.staleness, m_clocks.Apply(shard, run.worker, run.clock));
    if (++run.applied == m_job.servers)
    {
        const auto slowest = GetSlowest(shard);
        m_site.listener->OnUpdate({m_index,
                                   m_stage,
                                   run.worker,
                                   run.clock,
                                   run.staleness,
                                   run.clock > slowest ? run.clock - slowest : 0,
                                   Simulator::Now()});
    }
}

void
AsynchronousExecution::Ask(uint32_t worker, uint32_t shard)
{
    if (m_workers[worker].pull != NO_RUN)
    {
        m_workers[worker].asked[shard] = true;
    }
}

bool
AsynchronousExecution::MayAnswer(const Worker& worker, uint32_t shard) const
{
    if (worker.pull == NO_RUN || !worker.asked[shard] || worker.answered[shard])
    {
        return false;
    }
    return !m_job.bound || GetSlowest(shard) + *m_job.bound >= worker.step;
}

/// Whom the shard may answer now.
void
AsynchronousExecution::Answer(uint32_t shard)
{
    for (const auto worker : FindActive())
    {
        auto& of = m_workers[worker];
        if (MayAnswer(of, shard))
        {
            of.answered[shard] = true;
            of.slowest = std::min(of.slowest, GetSlowest(shard));
            m_clocks.Fetch(shard, worker);
            m_runs.at(of.pull).execution->Start(shard + 1);
        }
    }
}

void
AsynchronousExecution::OnEnded(PlanExecution& execution)
{
    const auto found = m_runs.find(execution.GetNumber());
    const auto kind = found->second.kind;
    const auto worker = found->second.worker;
    m_runs.erase(found);
    if (!IsRunning())
    {
        return;
    }
    if (kind == Kind::Pull)
    {
        m_workers[worker].pull = NO_RUN;
        Complete(worker);
    }
    EndStageIfDone();
}

/// The worker waits for nothing more of its step.
void
AsynchronousExecution::Complete(uint32_t worker)
{
    auto& of = m_workers[worker];
    of.completed = of.step;
    of.isFinished = of.step == GetStage().steps;
    auto completed = GetStage().steps - 1; // the last one is done when the stage is
    for (const auto other : m_active)
    {
        completed = std::min(completed, m_workers[other].completed);
    }
    TellIterations(completed);
    if (!of.isFinished)
    {
        Compute(worker);
    }
}

void
AsynchronousExecution::TellIterations(uint32_t completed)
{
    for (; m_told < completed; ++m_told)
    {
        IterationRecord record{};
        record.job = m_index;
        record.iteration = m_stepsBefore + m_told;
        record.start = std::exchange(m_toldUntil, Simulator::Now());
        record.exchangeStart = record.start;
        record.end = m_toldUntil;
        m_site.listener->OnIteration(record);
    }
}

void
AsynchronousExecution::EndStageIfDone()
{
    if (!m_runs.empty() || !std::ranges::all_of(m_active, [this](uint32_t worker) {
            return m_workers[worker].isFinished;
        }))
    {
        return;
    }
    TellIterations(GetStage().steps);
    m_stepsBefore += GetStage().steps;
    ++m_stage;
    if (IsFinished())
    {
        m_site.listener->OnJobFinished();
        return;
    }
    BeginStage();
}

uint32_t
AsynchronousExecution::GetSlowest(uint32_t shard) const
{
    return m_clocks.GetSlowest(shard, m_active);
}

/// A copy: what it is asked for may end the stage.
std::vector<uint32_t>
AsynchronousExecution::FindActive() const
{
    return m_active;
}

void
AsynchronousExecution::OnTransferDelivered(PlanExecution& execution, OperationId id)
{
    ++m_delivered;
    m_site.listener->OnDelivered(execution.GetPlan().GetBytes(id));
}

void
AsynchronousExecution::OnTransferFailed(PlanExecution& execution,
                                        OperationId id,
                                        const std::string& reason)
{
    const auto& run = m_runs.at(execution.GetNumber());
    if (!m_applications[run.worker]->IsHalted())
    {
        const auto& operation = execution.GetPlan().GetOperations()[id];
        Fail(fmt::format("worker {} and server {}: {}",
                         run.worker,
                         std::max<uint32_t>(operation.src, operation.dst) - 1,
                         reason));
    }
}

void
AsynchronousExecution::OnSumWrong(PlanExecution& execution,
                                  OperationId id,
                                  const std::string& reason)
{
    OnTransferFailed(execution, id, reason);
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
    if (rank >= m_job.workers)
    {
        Fail(fmt::format("rank {}, the server of shard {}, has crashed",
                         rank,
                         rank - m_job.workers));
        return;
    }
    LoseWorker(rank);
}

void
AsynchronousExecution::LoseWorker(uint32_t worker)
{
    m_workers[worker].isLost = true;
    m_workers[worker].isFinished = true;
    m_workers[worker].pull = NO_RUN;
    std::erase(m_active, worker);
    std::erase_if(m_runs, [worker](const auto& run) { return run.second.worker == worker; });
    if (m_active.empty())
    {
        Fail(fmt::format("all {} workers of stage {} have crashed", GetStage().workers, m_stage));
        return;
    }
    for (uint32_t shard = 0; shard < m_job.servers; ++shard)
    {
        Answer(shard);
    }
    EndStageIfDone();
}

void
AsynchronousExecution::Fail(std::string cause)
{
    if (m_failure || IsFinished())
    {
        return;
    }
    for (auto& [number, run] : m_runs)
    {
        run.execution->Halt();
    }
    m_failure = std::move(cause);
    NS_LOG_WARN("job " << m_job.name << ": " << *m_failure);
    m_site.listener->OnJobFailed();
}

ExchangeFailure
AsynchronousExecution::DescribeFailure() const
{
    ExchangeFailure failure{"", m_index, m_stepsBefore + m_told, {}, {}};
    std::string waiting;
    for (const auto worker : m_active)
    {
        const auto& of = m_workers[worker];
        if (waiting.empty() && !of.isFinished)
        {
            waiting = fmt::format("; worker {} has done {} of {} steps of stage {}",
                                  worker,
                                  of.step,
                                  GetStage().steps,
                                  m_stage);
        }
    }
    failure.reason = fmt::format("job \"{}\", iteration {}: {}{}",
                                 m_job.name,
                                 failure.iteration,
                                 m_failure.value_or(DescribeStall()),
                                 waiting);
    return failure;
}

// Nobody trains here, and computations are handed to no network.

void
AsynchronousExecution::OnDelivered(OperationId /* id */)
{
}

void
AsynchronousExecution::OnTrained(OperationId /* id */, uint32_t /* rank */, const Time& /* since */)
{
}

void
AsynchronousExecution::OnSkipped(OperationId /* id */)
{
}

void
AsynchronousExecution::OnFailed(OperationId /* id */, const std::string& /* reason */)
{
}

void
AsynchronousExecution::OnWrongSum(OperationId /* id */, const std::string& /* reason */)
{
}

} // namespace ns3::gradsync
