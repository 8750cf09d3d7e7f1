// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scenario-runner.h"

#include "ns3/bandwidth-bound.h"
#include "ns3/fault-injector.h"
#include "ns3/group-finder.h"
#include "ns3/job-planner.h"
#include "ns3/link-sampler.h"
#include "ns3/object-factory.h"
#include "ns3/plan-statistics.h"
#include "ns3/radix-scheduler.h"
#include "ns3/recorder.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/run-store.h"
#include "ns3/scenario-error.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/time-resolution.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <stdexcept>
#include <sys/resource.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Plans with more operations are verified on request only: it would take longer than a small run.
constexpr size_t SMALL_PLAN = 20'000;

/// Faults may leave an exchange waiting for ever while they, or foreign flows, come and go.
const Time DEFAULT_FAULT_TIMEOUT = Seconds(60);

/// Leaves ns-3's simulator clean however a simulation ends.
class SimulatorGuard
{
  public:
    SimulatorGuard() = default;
    SimulatorGuard(const SimulatorGuard&) = delete;
    SimulatorGuard& operator=(const SimulatorGuard&) = delete;

    ~SimulatorGuard()
    {
        Simulator::Destroy();
    }
};

/// Must be called while no event is pending.
void
UseFastScheduler()
{
    ObjectFactory factory;
    factory.SetTypeId(RadixScheduler::GetTypeId());
    Simulator::SetScheduler(factory);
}

/// Reports progress by the wall clock, which never touches the simulation.
class ProgressProbe
{
  public:
    ProgressProbe(const Ptr<ExchangeEngine>& engine, const ProgressCallback& progress)
        : m_engine(engine),
          m_progress(progress)
    {
        if (m_progress)
        {
            m_engine->TraceConnectWithoutContext("Transfer",
                                                 MakeCallback(&ProgressProbe::OnTransfer, this));
        }
    }

    ~ProgressProbe()
    {
        if (m_progress)
        {
            m_engine->TraceDisconnectWithoutContext("Transfer",
                                                    MakeCallback(&ProgressProbe::OnTransfer, this));
        }
    }

    ProgressProbe(const ProgressProbe&) = delete;
    ProgressProbe& operator=(const ProgressProbe&) = delete;

  private:
    using Clock = std::chrono::steady_clock;

    void OnTransfer(const TransferRecord& /* record */)
    {
        const auto now = Clock::now();
        if (now - m_last >= std::chrono::milliseconds(200))
        {
            m_last = now;
            m_progress(m_engine->GetDeliveredBytes());
        }
    }

    Ptr<ExchangeEngine> m_engine;
    const ProgressCallback& m_progress;
    Clock::time_point m_last{Clock::now()};
};

Ptr<Transport>
InstallTransport(const ResolvedRun& run)
{
    ObjectFactory factory;
    factory.SetTypeId(run.transport.type);
    for (const auto& [name, value] : run.transport.attributes)
    {
        factory.Set(name, StringValue(value));
    }
    auto transport = factory.Create<Transport>();
    for (const auto& [part, attributes] : run.transport.parts)
    {
        for (const auto& [name, value] : attributes)
        {
            GetTransportPart(transport, part)->SetAttribute(name, StringValue(value));
        }
    }
    if (const auto fabric = GetFabric(transport))
    {
        for (const auto& [name, value] : run.fabric)
        {
            fabric->SetAttribute(name, StringValue(value));
        }
    }
    try
    {
        transport->Install(run.topology, std::make_shared<const RoutingTables>(*run.topology));
    }
    catch (const std::invalid_argument& error)
    {
        throw ScenarioError("transport " + run.transport.kind, error.what());
    }
    return transport;
}

void
StartCaptures(const ResolvedRun& run,
              const Ptr<Transport>& transport,
              const std::filesystem::path& folder)
{
    if (!folder.empty() && !run.capturedLinks.empty())
    {
        const auto captures = folder / RunStore::CAPTURE_FOLDER;
        std::filesystem::create_directories(captures);
        CaptureLinks(transport, run.capturedLinks, captures.string());
    }
}

Ptr<TrafficGenerator>
InstallTraffic(const ResolvedRun& run,
               const Ptr<Transport>& transport,
               const Ptr<ExchangeEngine>& engine)
{
    auto generator = CreateObject<TrafficGenerator>();
    generator->Install(run.traffic, *run.topology, transport, [engine = PeekPointer(engine)] {
        return engine->IsSettled();
    });
    return generator;
}

/// None unless the scenario asks for samples.
std::unique_ptr<LinkSampler>
StartSampler(const ResolvedRun& run,
             const Ptr<Transport>& transport,
             const Ptr<ExchangeEngine>& engine)
{
    if (run.sampleEvery.IsZero())
    {
        return nullptr;
    }
    return std::make_unique<LinkSampler>(
        DynamicCast<FabricNetwork>(GetFabric(transport)),
        run.sampleEvery,
        [engine = PeekPointer(engine)] { return engine->IsSettled(); });
}

Ptr<FaultInjector>
InstallFaults(const ResolvedRun& run,
              const Ptr<Transport>& transport,
              const Ptr<ExchangeEngine>& engine)
{
    auto injector = CreateObject<FaultInjector>();
    injector->Install(run.faults, run.topology, transport, engine);
    return injector;
}

/// Keeps what the trace source of an injector reports.
class FaultRecorder
{
  public:
    explicit FaultRecorder(const Ptr<FaultInjector>& injector)
        : m_injector(injector)
    {
        m_injector->TraceConnectWithoutContext("Fault",
                                               MakeCallback(&FaultRecorder::OnFault, this));
    }

    ~FaultRecorder()
    {
        m_injector->TraceDisconnectWithoutContext("Fault",
                                                  MakeCallback(&FaultRecorder::OnFault, this));
    }

    FaultRecorder(const FaultRecorder&) = delete;
    FaultRecorder& operator=(const FaultRecorder&) = delete;

    const std::vector<FaultRecord>& GetRecords() const
    {
        return m_records;
    }

  private:
    void OnFault(const FaultRecord& record)
    {
        m_records.push_back(record);
    }

    Ptr<FaultInjector> m_injector;
    std::vector<FaultRecord> m_records;
};

/// Keeps what the trace source of a generator reports.
class FlowRecorder
{
  public:
    explicit FlowRecorder(const Ptr<TrafficGenerator>& generator)
        : m_generator(generator)
    {
        m_generator->TraceConnectWithoutContext("Flow", MakeCallback(&FlowRecorder::OnFlow, this));
    }

    ~FlowRecorder()
    {
        m_generator->TraceDisconnectWithoutContext("Flow",
                                                   MakeCallback(&FlowRecorder::OnFlow, this));
    }

    FlowRecorder(const FlowRecorder&) = delete;
    FlowRecorder& operator=(const FlowRecorder&) = delete;

    const std::vector<FlowRecord>& GetRecords() const
    {
        return m_records;
    }

  private:
    void OnFlow(const FlowRecord& record)
    {
        m_records.push_back(record);
    }

    Ptr<TrafficGenerator> m_generator;
    std::vector<FlowRecord> m_records;
};

/// The faults that hold at the end of a run, for the text of its failure.
std::string
DescribeFaults(const FaultInjector& injector)
{
    constexpr ptrdiff_t NAMED_FAULTS = 4;
    const auto active = injector.DescribeActive();
    if (active.empty())
    {
        return {};
    }
    const auto named = std::min(std::ssize(active), NAMED_FAULTS);
    return fmt::format("; faults at that time: {}{}",
                       fmt::join(active.begin(), active.begin() + named, ", "),
                       std::ssize(active) > named ? ", ..." : "");
}

Job
MakeJob(const JobSpec& spec, const PlannedJob& planned, const ResolvedRun& run)
{
    const bool hasFaults = !run.faults.empty() || !run.traffic.empty();
    Job job;
    job.name = spec.name;
    job.plan = planned.plan;
    job.endpointOf = spec.endpointOf;
    job.iterations = spec.iterations;
    job.start = spec.start;
    job.compute = spec.compute;
    job.timeout = spec.timeout.value_or(hasFaults ? DEFAULT_FAULT_TIMEOUT : Time());
    if (spec.replans)
    {
        job.planSurvivors = [&spec, topology = run.topology](std::span<const uint32_t> ranks,
                                                             std::optional<uint64_t> bytes) {
            return PlanSurvivors(spec, *topology, ranks, bytes);
        };
    }
    job.reduceSecondsPerByte =
        spec.reduceRate ? 8.0 / static_cast<double>(spec.reduceRate->GetBitRate()) : 0.0;
    return job;
}

void
SummariseTimes(const RunResult& result, RunSummary& summary)
{
    // 10^6 iterations of 2^63 ps would overflow 64 bits.
    __extension__ using Wide = __int128;
    Wide sum = 0;
    for (const auto& record : result.iterations)
    {
        const int64_t ict = (record.end - record.start).GetPicoSeconds();
        sum += ict;
        summary.minIctPs = summary.iterations == 0 ? ict : std::min(summary.minIctPs, ict);
        summary.maxIctPs = std::max(summary.maxIctPs, ict);
        ++summary.iterations;
    }
    if (summary.iterations > 0)
    {
        summary.meanIctPs = static_cast<int64_t>(sum / summary.iterations);
    }
}

/// Compute times are no part of an exchange, so the bound is compared with what follows them.
void
SummariseBounds(RunResult& result)
{
    // Less than all of the gradient moves when it is compressed: there is no bound then.
    if (std::any_of(result.jobs.begin(), result.jobs.end(), [](const auto& job) {
            return job.plan->IsCompressed();
        }))
    {
        return;
    }
    std::vector<double> bounds;
    bounds.reserve(result.jobs.size());
    for (const auto& job : result.jobs)
    {
        bounds.push_back(ComputeCollectiveBound(*job.plan, job.endpointOf, *result.topology));
    }
    double bound = 0.0;
    double exchange = 0.0;
    for (const auto& record : result.iterations)
    {
        bound += bounds[record.job];
        exchange += (record.end - record.exchangeStart).GetSeconds();
    }
    if (bound > 0.0)
    {
        result.summary.meanBoundSeconds = bound / static_cast<double>(result.iterations.size());
        result.summary.timesBound = exchange / bound;
    }
}

void
SummariseTransport(const TransportStatistics& statistics, RunSummary& summary)
{
    summary.goodputBytes = statistics.goodputBytes;
    summary.wireBytes = statistics.wireBytes;
    summary.droppedPackets = statistics.droppedPackets;
    summary.ecnMarkedPackets = statistics.ecnMarkedPackets;
    summary.pfcPausePs = statistics.pfcPause.GetPicoSeconds();
    summary.retransmittedPackets = statistics.retransmittedPackets;
    summary.retransmittedBytes = statistics.retransmittedBytes;
    summary.packetHops = statistics.dataPacketHops;
}

/// What the scheme `auto` chose.
void
SummariseChoices(const std::vector<PlannedJob>& jobs, RunSummary& summary)
{
    for (const auto& job : jobs)
    {
        if (const auto& choice = job.choice)
        {
            summary.autoChoice += (summary.autoChoice.empty() ? "" : "; ") + choice->Describe();
            summary.autoEstimateSeconds =
                std::max(summary.autoEstimateSeconds, choice->GetSeconds());
        }
    }
}

/// The endpoints of the ranks of a plan.
std::vector<uint32_t>
GetEndpoints(const RunResult::JobInfo& job, const ExecutedPlan& plan)
{
    std::vector<uint32_t> endpoints;
    endpoints.reserve(plan.ranks.size());
    for (const auto rank : plan.ranks)
    {
        endpoints.push_back(job.endpointOf[rank]);
    }
    return endpoints;
}

/// What the plans move; bytes between racks of the plans by which iterations ended.
void
SummarisePlans(const Topology& topology, RunResult& result)
{
    auto& summary = result.summary;
    std::vector<std::vector<uint64_t>> crossRack(result.jobs.size()); // [job][plan]
    for (size_t job = 0; job < result.jobs.size(); ++job)
    {
        for (const auto& executed : result.jobs[job].plans)
        {
            const auto groups =
                ComputeWorkerGroups(topology, GetEndpoints(result.jobs[job], executed));
            const auto statistics = ComputePlanStatistics(*executed.plan, groups);
            auto& bytes = crossRack[job].emplace_back(0);
            for (const auto& crossing : statistics.crossings)
            {
                bytes += crossing.level == "rack" ? crossing.bytes : 0;
            }
            summary.peakReceivedBytes =
                std::max(summary.peakReceivedBytes, statistics.GetPeakReceivedBytes());
            summary.longestChain = std::max(summary.longestChain, statistics.GetLongestChain());
        }
    }
    for (const auto& record : result.iterations)
    {
        summary.crossRackBytes += crossRack[record.job][record.plan];
    }
}

uint64_t
GetPeakRssBytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

/// What was planned and where: the part of a result that does not depend on the simulation.
void
DescribeRun(const ResolvedRun& run, const std::vector<PlannedJob>& planned, RunResult& result)
{
    result.topology = run.topology;
    result.summary.seed = run.seed;
    for (size_t i = 0; i < run.jobs.size(); ++i)
    {
        result.jobs.push_back({run.jobs[i].name, run.jobs[i].endpointOf, planned[i].plan, {}});
        result.summary.workers += run.jobs[i].workers;
        result.summary.oversubscription =
            std::max(result.summary.oversubscription, planned[i].oversubscription);
    }
}

void
Simulate(const ResolvedRun& run,
         const std::vector<PlannedJob>& planned,
         const ProgressCallback& progress,
         const std::filesystem::path& folder,
         RunResult& result)
{
    const SimulatorGuard guard;
    UseFastScheduler();
    const auto transport = InstallTransport(run);
    StartCaptures(run, transport, folder);
    auto engine = CreateObject<ExchangeEngine>();
    engine->SetTransport(transport);
    for (size_t i = 0; i < run.jobs.size(); ++i)
    {
        engine->AddJob(MakeJob(run.jobs[i], planned[i], run));
    }
    const bool recordTransfers = run.recordMessages || run.recordTrace;
    const Recorder recorder(engine,
                            recordTransfers ? Recorder::Detail::Transfers
                                            : Recorder::Detail::Iterations);
    const ProgressProbe probe(engine, progress);
    const auto injector = InstallFaults(run, transport, engine);
    const FaultRecorder faults(injector);
    const auto generator = InstallTraffic(run, transport, engine);
    const FlowRecorder flows(generator);
    const auto sampler = StartSampler(run, transport, engine);
    Simulator::Run();

    if (sampler)
    {
        result.samples = sampler->GetSamples();
    }
    result.iterations.assign(recorder.GetIterations().begin(), recorder.GetIterations().end());
    if (recordTransfers)
    {
        result.faults = faults.GetRecords();
    }
    result.recordTrace = run.recordTrace;
    result.computations.assign(recorder.GetComputations().begin(),
                               recorder.GetComputations().end());
    result.reactions.assign(recorder.GetReactions().begin(), recorder.GetReactions().end());
    for (uint32_t job = 0; job < engine->GetJobCount(); ++job)
    {
        const auto plans = engine->GetPlans(job);
        result.jobs[job].plans.assign(plans.begin(), plans.end());
    }
    result.transfers.assign(recorder.GetTransfers().begin(), recorder.GetTransfers().end());
    if (run.recordLinks)
    {
        result.links = transport->GetLinkStatistics();
    }
    const auto failure = engine->GetFailure();
    result.summary.finished = !failure;
    result.summary.failure = failure ? failure->reason + DescribeFaults(*injector) : "";
    result.duration = failure ? Simulator::Now() : Time(0);
    for (const auto& record : result.iterations)
    {
        result.duration = std::max(result.duration, record.end);
    }
    if (run.recordMessages)
    {
        result.flows = flows.GetRecords();
    }
    for (const auto& flow : flows.GetRecords())
    {
        result.duration = std::max(result.duration, flow.end);
    }
    result.summary.events = Simulator::GetEventCount();
    SummariseTransport(transport->GetStatistics(), result.summary);
    generator->Dispose();
    injector->Dispose();
    engine->Dispose();
    CloseCaptures(transport);
    transport->Dispose();
}

} // namespace

uint64_t
CheckRun(const ResolvedRun& run, bool verifyAll)
{
    UsePicoseconds();
    uint64_t bytes = 0;
    for (const auto& job : run.jobs)
    {
        const auto planned = PlanJob(job, *run.topology);
        if (verifyAll || planned.plan->GetOperations().size() <= SMALL_PLAN)
        {
            VerifyJob(job, planned);
        }
        for (OperationId id = 0; id < planned.plan->GetOperations().size(); ++id)
        {
            const bool isTransfer = planned.plan->GetOperations()[id].IsTransfer();
            bytes += isTransfer ? planned.plan->GetBytes(id) * job.iterations : 0;
        }
    }
    const SimulatorGuard guard;
    InstallTransport(run)->Dispose();
    return bytes;
}

RunResult
RunScenario(const ResolvedRun& run,
            const ProgressCallback& progress,
            const std::filesystem::path& folder)
{
    const auto begin = std::chrono::steady_clock::now();
    UsePicoseconds();
    RngSeedManager::SetSeed(run.seed);
    RngSeedManager::SetRun(1);
    std::vector<PlannedJob> planned;
    for (const auto& job : run.jobs)
    {
        planned.push_back(PlanJob(job, *run.topology));
    }
    RunResult result;
    DescribeRun(run, planned, result);
    Simulate(run, planned, progress, folder, result);
    SummariseTimes(result, result.summary);
    SummariseBounds(result);
    SummarisePlans(*run.topology, result);
    SummariseChoices(planned, result.summary);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    result.summary.wallSeconds = wall.count();
    result.summary.peakRssBytes = GetPeakRssBytes();
    return result;
}

} // namespace ns3::gradsync
