// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/exchange-engine.h"

#include "ns3/asynchronous-execution.h"
#include "ns3/boolean.h"
#include "ns3/job-execution.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/training-execution.h"

#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncExchangeEngine");
NS_OBJECT_ENSURE_REGISTERED(ExchangeEngine);

const char*
ToString(ReactionKind kind)
{
    switch (kind)
    {
    case ReactionKind::Replan:
        return "replan";
    case ReactionKind::Fallback:
        return "fallback";
    case ReactionKind::Rebuild:
        return "rebuild";
    }
    return "unknown";
}

TypeId
ExchangeEngine::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::ExchangeEngine")
            .SetParent<Object>()
            .SetGroupName("GradSync")
            .AddConstructor<ExchangeEngine>()
            .AddAttribute(
                "StopsSimulator",
                "Whether the simulation ends when all jobs have finished or failed though "
                "the network goes on. Programs that simulate something else too do not "
                "want that.",
                BooleanValue(true),
                MakeBooleanAccessor(&ExchangeEngine::m_stopsSimulator),
                MakeBooleanChecker())
            .AddAttribute(
                "RecordsCollectives",
                "Collectives of training jobs whose groups have their links to themselves are "
                "simulated once and then taken from a record, which changes no result. Only where "
                "nothing but one job uses the network, nobody looks at packets while it runs, and "
                "nothing goes wrong, and by the RadixScheduler, which knows the order of "
                "events. For jobs that are added later.",
                BooleanValue(false),
                MakeBooleanAccessor(&ExchangeEngine::m_recordsCollectives),
                MakeBooleanChecker())
            .AddAttribute(
                "TwinPlanes",
                "With RecordsCollectives: of parts of the network that a training job gives equal "
                "messages at equal times (rails) only one is simulated, which changes no result. "
                "Where they turn out to differ, the simulation stops, FindTwinDifference says why, "
                "and it must be repeated without.",
                BooleanValue(false),
                MakeBooleanAccessor(&ExchangeEngine::m_hasTwinPlanes),
                MakeBooleanChecker())
            .AddTraceSource("Iteration",
                            "An iteration of a job is done at every rank.",
                            MakeTraceSourceAccessor(&ExchangeEngine::m_iterationTrace),
                            "ns3::gradsync::ExchangeEngine::IterationCallback")
            .AddTraceSource(
                "Transfer",
                "A transfer is delivered. Connect before an iteration begins: times are "
                "kept only while somebody listens.",
                MakeTraceSourceAccessor(&ExchangeEngine::m_transferTrace),
                "ns3::gradsync::ExchangeEngine::TransferCallback")
            .AddTraceSource("Delivery",
                            "A message of so many bytes has arrived.",
                            MakeTraceSourceAccessor(&ExchangeEngine::m_deliveryTrace),
                            "ns3::gradsync::ExchangeEngine::DeliveryCallback")
            .AddTraceSource("Compute",
                            "A rank has computed and begins to exchange.",
                            MakeTraceSourceAccessor(&ExchangeEngine::m_computeTrace),
                            "ns3::gradsync::ExchangeEngine::ComputeCallback")
            .AddTraceSource("Work",
                            "A rank has computed for an operation of a plan, or added what it "
                            "received by one; not of workloads.",
                            MakeTraceSourceAccessor(&ExchangeEngine::m_workTrace),
                            "ns3::gradsync::ExchangeEngine::WorkCallback")
            .AddTraceSource("Training",
                            "An iteration of a workload is done at every rank.",
                            MakeTraceSourceAccessor(&ExchangeEngine::m_trainingTrace),
                            "ns3::gradsync::ExchangeEngine::TrainingCallback")
            .AddTraceSource("Update",
                            "All servers of an asynchronous job have applied an update.",
                            MakeTraceSourceAccessor(&ExchangeEngine::m_updateTrace),
                            "ns3::gradsync::ExchangeEngine::UpdateCallback")
            .AddTraceSource("WorkerStep",
                            "A worker of an asynchronous job waits for nothing more of its step.",
                            MakeTraceSourceAccessor(&ExchangeEngine::m_stepTrace),
                            "ns3::gradsync::ExchangeEngine::WorkerStepCallback")
            .AddTraceSource("Reaction",
                            "A job that lost a rank goes on with a plan of the survivors.",
                            MakeTraceSourceAccessor(&ExchangeEngine::m_reactionTrace),
                            "ns3::gradsync::ExchangeEngine::ReactionCallback");
    return tid;
}

ExchangeEngine::ExchangeEngine() = default;
ExchangeEngine::~ExchangeEngine() = default;

void
ExchangeEngine::DoDispose()
{
    m_jobs.Clear();
    m_hosts.Clear();
    m_slowdowns.Clear();
    if (auto* aggregation = m_transport ? m_transport->GetAggregation() : nullptr)
    {
        aggregation->SetRebuildHandler({});
    }
    m_transport = nullptr;
    Object::DoDispose();
}

void
ExchangeEngine::SetTransport(const Ptr<Transport>& transport)
{
    m_transport = transport;
    if (auto* aggregation = m_transport->GetAggregation())
    {
        aggregation->SetRebuildHandler([this](uint32_t group) { m_jobs.OnRebuilt(group); });
    }
}

void
ExchangeEngine::SetShare(RankShare* share)
{
    m_share = share;
}

/// What the network has counted when a job fails, with packets on their way, is to be exact.
void
ExchangeEngine::HeedTimeout(const Time& timeout)
{
    if (!timeout.IsZero())
    {
        m_transport->KeepInStep();
    }
}

/// Before a job is added. \returns its index
template <typename AnyJob>
uint32_t
ExchangeEngine::Prepare(const AnyJob& job)
{
    if (!m_transport)
    {
        throw std::invalid_argument("the engine has no transport: call SetTransport before AddJob");
    }
    CheckJob(job);
    HeedTimeout(job.timeout);
    return GetJobCount();
}

JobSite
ExchangeEngine::GetSite()
{
    return {m_transport, &m_slowdowns, this, m_share, &m_turns};
}

uint32_t
ExchangeEngine::AddJob(Job job)
{
    const auto index = Prepare(job);
    auto applications = m_hosts.Install(job);
    auto countBytes = [job] { return CountTransferBytes(job); };
    m_jobs.Add(
        std::make_shared<JobExecution>(GetSite(), index, std::move(job), std::move(applications)),
        std::move(countBytes));
    return index;
}

uint32_t
ExchangeEngine::AddTraining(TrainingJob job)
{
    const auto index = Prepare(job);
    auto applications = m_hosts.Install(job);
    auto countBytes = [job] { return CountTransferBytes(job); };
    auto site = GetSite();
    site.recordsCollectives = m_recordsCollectives;
    site.hasTwinPlanes = m_hasTwinPlanes;
    m_jobs.Add(
        std::make_shared<TrainingExecution>(site, index, std::move(job), std::move(applications)),
        std::move(countBytes));
    return index;
}

uint32_t
ExchangeEngine::AddAsynchronous(AsynchronousJob job)
{
    const auto index = Prepare(job);
    auto applications = m_hosts.Install(job);
    auto countBytes = [job] { return CountTransferBytes(job); };
    m_jobs.Add(std::make_shared<AsynchronousExecution>(GetSite(),
                                                       index,
                                                       std::move(job),
                                                       std::move(applications)),
               std::move(countBytes));
    return index;
}

const std::string&
ExchangeEngine::GetJobName(uint32_t job) const
{
    return m_jobs.Get(job).GetName();
}

uint32_t
ExchangeEngine::GetJobCount() const
{
    return m_jobs.GetCount();
}

Ptr<Node>
ExchangeEngine::GetNode(uint32_t endpoint) const
{
    return m_hosts.GetNode(endpoint);
}

Ptr<Node>
ExchangeEngine::MakeNode(uint32_t endpoint)
{
    return m_hosts.MakeNode(endpoint);
}

void
ExchangeEngine::SetNode(uint32_t endpoint, const Ptr<Node>& node)
{
    m_hosts.SetNode(endpoint, node);
}

Ptr<ExchangeApplication>
ExchangeEngine::GetApplication(uint32_t job, uint32_t rank) const
{
    return m_jobs.Get(job).GetApplication(rank);
}

void
ExchangeEngine::SetSlowdown(uint32_t endpoint, std::function<double()> factor)
{
    m_slowdowns.Set(endpoint, std::move(factor));
}

void
ExchangeEngine::SetBoundaryHandler(BoundaryHandler handler)
{
    m_boundaryHandler = std::move(handler);
}

void
ExchangeEngine::AddState(StateWords& words) const
{
    if (m_jobs.GetCount() != 1 || !m_slowdowns.IsEmpty())
    {
        words.Refuse("there are several jobs, or slow hosts");
    }
    m_jobs.AddState(words);
}

bool
ExchangeEngine::IsFinished() const
{
    return m_jobs.AreFinished();
}

std::optional<ExchangeFailure>
ExchangeEngine::GetFailure() const
{
    return m_jobs.GetFailure();
}

std::optional<ExchangeFailure>
ExchangeEngine::GetFailure(uint32_t job) const
{
    const auto& own = m_jobs.Get(job);
    return own.IsFinished() ? std::nullopt : std::optional(own.DescribeFailure());
}

bool
ExchangeEngine::HasFailed(uint32_t job) const
{
    return m_jobs.Get(job).HasFailed();
}

bool
ExchangeEngine::IsSettled() const
{
    return m_jobs.AreSettled();
}

uint64_t
ExchangeEngine::CountDoneOperations() const
{
    return m_jobs.CountDoneOperations();
}

uint64_t
ExchangeEngine::CountRecordedCollectives() const
{
    return m_jobs.CountRecordedCollectives();
}

std::string
ExchangeEngine::FindTwinDifference() const
{
    return m_jobs.FindTwinDifference();
}

uint64_t
ExchangeEngine::GetTotalBytes() const
{
    return m_jobs.CountTransferBytes();
}

uint64_t
ExchangeEngine::GetDeliveredBytes() const
{
    return m_deliveredBytes;
}

void
ExchangeEngine::OnJobFinished()
{
    // Else late clients would go on to answer somebody who is gone.
    if (m_jobs.HaveLateOperations())
    {
        StopIfSettled();
    }
}

void
ExchangeEngine::OnJobFailed()
{
    StopIfSettled();
}

void
ExchangeEngine::StopIfSettled()
{
    if (m_stopsSimulator && !m_share && IsSettled()) // several processes know that together only
    {
        Simulator::Stop(); // whatever the network goes on with is nobody's any more
    }
}

std::span<const ExecutedPlan>
ExchangeEngine::GetPlans(uint32_t job) const
{
    return m_jobs.Get(job).GetPlans();
}

void
ExchangeEngine::CrashEndpoint(uint32_t endpoint)
{
    // Its peers go on sending until they notice.
    m_transport->Abandon([endpoint](uint32_t src, uint32_t /* dst */, const auto* /* handler */) {
        return src == endpoint;
    });
    m_jobs.OnCrash(endpoint);
}

void
ExchangeEngine::RestartEndpoint(uint32_t endpoint)
{
    // It knows nothing of the connections that its peers still hold.
    m_transport->Abandon([endpoint](uint32_t src, uint32_t dst, const auto* /* handler */) {
        return src == endpoint || dst == endpoint;
    });
    m_jobs.OnRestart(endpoint);
}

void
ExchangeEngine::NoticeCrash(uint32_t endpoint)
{
    m_jobs.OnNotice(endpoint);
}

bool
ExchangeEngine::IsTransferTraced() const
{
    return !m_transferTrace.IsEmpty();
}

void
ExchangeEngine::OnTransfer(const TransferRecord& record)
{
    m_transferTrace(record);
}

void
ExchangeEngine::OnDelivered(uint64_t bytes)
{
    m_deliveredBytes += bytes;
    m_deliveryTrace(bytes);
}

bool
ExchangeEngine::IsWorkTraced() const
{
    return !m_workTrace.IsEmpty();
}

void
ExchangeEngine::OnWork(const WorkRecord& record)
{
    m_workTrace(record);
}

void
ExchangeEngine::OnComputation(const ComputeRecord& record)
{
    m_computeTrace(record);
}

void
ExchangeEngine::OnReaction(const ReactionRecord& record)
{
    m_reactionTrace(record);
}

void
ExchangeEngine::OnIteration(const IterationRecord& record)
{
    m_iterationTrace(record);
}

bool
ExchangeEngine::WatchesBoundaries() const
{
    return static_cast<bool>(m_boundaryHandler);
}

uint32_t
ExchangeEngine::OnBoundary(const IterationBoundary& boundary)
{
    return m_boundaryHandler(boundary);
}

void
ExchangeEngine::OnTraining(const TrainingRecord& record)
{
    m_trainingTrace(record);
}

void
ExchangeEngine::OnUpdate(const UpdateRecord& record)
{
    m_updateTrace(record);
}

void
ExchangeEngine::OnWorkerStep(const WorkerStepRecord& record)
{
    m_stepTrace(record);
}

} // namespace ns3::gradsync
