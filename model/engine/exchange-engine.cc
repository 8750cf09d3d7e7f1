// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/exchange-engine.h"

#include "ns3/asynchronous-execution.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/exchange-application.h"
#include "ns3/job-execution.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/training-execution.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <stdexcept>

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
    m_jobs.clear();
    m_nodes.clear();
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
        aggregation->SetRebuildHandler([this](uint32_t group) { OnRebuilt(group); });
    }
}

void
ExchangeEngine::SetShare(RankShare* share)
{
    m_share = share;
}

/// At the ns-3 Node of an endpoint.
Ptr<ExchangeApplication>
ExchangeEngine::MakeApplication(uint32_t endpoint, const Time& start)
{
    auto application = CreateObject<ExchangeApplication>();
    // An Application counts its start from when it is installed, a Job from 0.
    application->SetStartTime(std::max(start - Simulator::Now(), Time(0)));
    MakeNode(endpoint)->AddApplication(application);
    return application;
}

void
ExchangeEngine::SetUp(ExchangeApplication& application,
                      double reduceSecondsPerByte,
                      const DifferentialTransmission& transmission)
{
    application.SetAttribute("ReduceSecondsPerByte", DoubleValue(reduceSecondsPerByte));
    application.SetAttribute("ReliableShare", DoubleValue(transmission.reliableShare));
    application.SetAttribute("BlockBytes", UintegerValue(transmission.blockBytes));
}

void
ExchangeEngine::SetUp(ExchangeApplication& application, const Job& job, uint32_t rank) const
{
    if (rank < job.plan->GetWorkerCount())
    {
        const auto& own = job.computeOf;
        application.SetAttribute("ComputeTime", TimeValue(own.empty() ? job.compute : own[rank]));
    }
    SetUp(application, job.reduceSecondsPerByte, job.transmission);
    application.SetAttribute("MaxOutstandingSends", UintegerValue(job.maxOutstandingSends));
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

uint32_t
ExchangeEngine::AddJob(Job job)
{
    CheckTransport();
    CheckJob(job);
    HeedTimeout(job.timeout);
    m_byteCounts.emplace_back([job] { return CountTransferBytes(job); });

    const auto index = GetJobCount();
    std::vector<Ptr<ExchangeApplication>> applications;
    for (uint32_t rank = 0; rank < job.endpointOf.size(); ++rank)
    {
        applications.push_back(MakeApplication(job.endpointOf[rank], job.start));
        SetUp(*applications.back(), job, rank);
    }
    const JobSite site{m_transport, &m_slowdowns, this, m_share, &m_turns};
    m_jobs.push_back(
        std::make_shared<JobExecution>(site, index, std::move(job), std::move(applications)));
    return index;
}

uint32_t
ExchangeEngine::AddTraining(TrainingJob job)
{
    CheckTransport();
    CheckJob(job);
    HeedTimeout(job.timeout);
    m_byteCounts.emplace_back([job] { return CountTransferBytes(job); });

    const auto index = GetJobCount();
    std::vector<Ptr<ExchangeApplication>> applications;
    for (const auto endpoint : job.endpointOf)
    {
        applications.push_back(MakeApplication(endpoint, job.start));
        SetUp(*applications.back(), job.reduceSecondsPerByte, job.transmission);
    }
    const JobSite site{m_transport,
                       &m_slowdowns,
                       this,
                       m_share,
                       &m_turns,
                       m_recordsCollectives,
                       m_hasTwinPlanes};
    m_jobs.push_back(
        std::make_shared<TrainingExecution>(site, index, std::move(job), std::move(applications)));
    return index;
}

uint32_t
ExchangeEngine::AddAsynchronous(AsynchronousJob job)
{
    CheckTransport();
    CheckJob(job);
    HeedTimeout(job.timeout);
    m_byteCounts.emplace_back([job] { return CountTransferBytes(job); });

    const auto index = GetJobCount();
    std::vector<Ptr<ExchangeApplication>> applications;
    for (const auto endpoint : job.endpointOf)
    {
        applications.push_back(MakeApplication(endpoint, job.start));
        SetUp(*applications.back(), job.reduceSecondsPerByte, {});
    }
    const JobSite site{m_transport, &m_slowdowns, this, m_share, &m_turns};
    m_jobs.push_back(std::make_shared<AsynchronousExecution>(site,
                                                             index,
                                                             std::move(job),
                                                             std::move(applications)));
    return index;
}

void
ExchangeEngine::CheckTransport() const
{
    if (!m_transport)
    {
        throw std::invalid_argument("the engine has no transport: call SetTransport before AddJob");
    }
}

const std::string&
ExchangeEngine::GetJobName(uint32_t job) const
{
    return m_jobs.at(job)->GetName();
}

uint32_t
ExchangeEngine::GetJobCount() const
{
    return static_cast<uint32_t>(m_jobs.size());
}

Ptr<Node>
ExchangeEngine::GetNode(uint32_t endpoint) const
{
    const auto found = m_nodes.find(endpoint);
    return found == m_nodes.end() ? nullptr : found->second;
}

Ptr<Node>
ExchangeEngine::MakeNode(uint32_t endpoint)
{
    auto& node = m_nodes[endpoint];
    if (!node)
    {
        node = CreateObject<Node>();
    }
    return node;
}

void
ExchangeEngine::SetNode(uint32_t endpoint, const Ptr<Node>& node)
{
    m_nodes[endpoint] = node;
}

Ptr<ExchangeApplication>
ExchangeEngine::GetApplication(uint32_t job, uint32_t rank) const
{
    return m_jobs.at(job)->GetApplication(rank);
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
    if (m_jobs.size() != 1 || !m_slowdowns.IsEmpty())
    {
        words.Refuse("there are several jobs, or slow hosts");
    }
    for (const auto& job : m_jobs)
    {
        job->AddState(words);
    }
}

bool
ExchangeEngine::IsFinished() const
{
    return std::all_of(m_jobs.begin(), m_jobs.end(), [](const auto& job) {
        return job->IsFinished();
    });
}

std::optional<ExchangeFailure>
ExchangeEngine::GetFailure() const
{
    // A job that failed says more than one that waits behind it.
    for (const bool failed : {true, false})
    {
        for (const auto& job : m_jobs)
        {
            if (!job->IsFinished() && job->HasFailed() == failed)
            {
                return job->DescribeFailure();
            }
        }
    }
    return std::nullopt;
}

std::optional<ExchangeFailure>
ExchangeEngine::GetFailure(uint32_t job) const
{
    const auto& own = *m_jobs.at(job);
    return own.IsFinished() ? std::nullopt : std::optional(own.DescribeFailure());
}

bool
ExchangeEngine::HasFailed(uint32_t job) const
{
    return m_jobs.at(job)->HasFailed();
}

bool
ExchangeEngine::IsSettled() const
{
    return std::all_of(m_jobs.begin(), m_jobs.end(), [](const auto& job) {
        return job->IsFinished() || job->HasFailed();
    });
}

uint64_t
ExchangeEngine::CountDoneOperations() const
{
    uint64_t count = 0;
    for (const auto& job : m_jobs)
    {
        count += job->CountDoneOperations();
    }
    return count;
}

uint64_t
ExchangeEngine::CountRecordedCollectives() const
{
    uint64_t count = 0;
    for (const auto& job : m_jobs)
    {
        count += job->CountRecordedCollectives();
    }
    return count;
}

std::string
ExchangeEngine::FindTwinDifference() const
{
    std::string difference;
    for (const auto& job : m_jobs)
    {
        difference = difference.empty() ? job->FindTwinDifference() : difference;
    }
    return difference;
}

uint64_t
ExchangeEngine::GetTotalBytes() const
{
    uint64_t bytes = 0;
    for (const auto& count : m_byteCounts)
    {
        bytes += count();
    }
    return bytes;
}

uint64_t
ExchangeEngine::GetDeliveredBytes() const
{
    return m_deliveredBytes;
}

void
ExchangeEngine::OnRebuilt(uint32_t group)
{
    for (const auto& job : m_jobs)
    {
        job->OnRebuilt(group);
    }
}

void
ExchangeEngine::OnJobFinished()
{
    // Else late clients would go on to answer somebody who is gone.
    if (std::any_of(m_jobs.begin(), m_jobs.end(), [](const auto& job) {
            return job->HasLateOperations();
        }))
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
    return m_jobs.at(job)->GetPlans();
}

void
ExchangeEngine::CrashEndpoint(uint32_t endpoint)
{
    // Its peers go on sending until they notice.
    m_transport->Abandon([endpoint](uint32_t src, uint32_t /* dst */, const auto* /* handler */) {
        return src == endpoint;
    });
    for (const auto& job : m_jobs)
    {
        job->OnCrash(endpoint);
    }
}

void
ExchangeEngine::RestartEndpoint(uint32_t endpoint)
{
    // It knows nothing of the connections that its peers still hold.
    m_transport->Abandon([endpoint](uint32_t src, uint32_t dst, const auto* /* handler */) {
        return src == endpoint || dst == endpoint;
    });
    for (const auto& job : m_jobs)
    {
        job->OnRestart(endpoint);
    }
}

void
ExchangeEngine::NoticeCrash(uint32_t endpoint)
{
    for (const auto& job : m_jobs)
    {
        if (const auto rank = job->FindRank(endpoint))
        {
            job->OnNotice(*rank);
        }
    }
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
