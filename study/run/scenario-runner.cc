// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scenario-runner.h"

#include "ns3/aggregation-helper.h"
#include "ns3/asynchronous-recorder.h"
#include "ns3/fabric-helper.h"
#include "ns3/fault-injector.h"
#include "ns3/group-finder.h"
#include "ns3/job-assembly.h"
#include "ns3/job-planner.h"
#include "ns3/link-sampler.h"
#include "ns3/planning-translation.h"
#include "ns3/recorder.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/run-store.h"
#include "ns3/run-summary.h"
#include "ns3/run-watch.h"
#include "ns3/scenario-error.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/time-bound.h"
#include "ns3/time-range.h"
#include "ns3/time-resolution.h"
#include "ns3/trace-recorder.h"
#include "ns3/training-planner.h"
#include "ns3/training-recorder.h"
#include "ns3/transport-probe.h"
#include "ns3/workload-aggregations.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <sys/resource.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// The jobs of a run with their plans.
struct PlannedRun
{
    std::vector<PlannedJob> jobs;
    std::vector<PlannedTraining> trainings;
};

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
            m_engine->TraceConnectWithoutContext("Delivery",
                                                 MakeCallback(&ProgressProbe::OnDelivery, this));
        }
    }

    ~ProgressProbe()
    {
        if (m_progress)
        {
            m_engine->TraceDisconnectWithoutContext("Delivery",
                                                    MakeCallback(&ProgressProbe::OnDelivery, this));
        }
    }

    ProgressProbe(const ProgressProbe&) = delete;
    ProgressProbe& operator=(const ProgressProbe&) = delete;

  private:
    using Clock = std::chrono::steady_clock;

    void OnDelivery(uint64_t /* bytes */)
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

FabricHelper
MakeFabricHelper(const ResolvedRun& run)
{
    FabricHelper helper(run.transport.type.GetName());
    AggregationHelper aggregation;
    for (const auto& [node, program] : run.programs)
    {
        aggregation.SetProgram(node, program);
    }
    helper.SetAggregation(aggregation);
    for (const auto& [name, value] : run.transport.attributes)
    {
        helper.SetTransportAttribute(name, StringValue(value));
    }
    for (const auto& [part, attributes] : run.transport.parts)
    {
        for (const auto& [name, value] : attributes)
        {
            helper.SetPartAttribute(part, name, StringValue(value));
        }
    }
    if (GetTransport(run.transport.kind).hasFabric)
    {
        for (const auto& [name, value] : run.fabric)
        {
            helper.SetFabricAttribute(name, StringValue(value));
        }
    }
    return helper;
}

Ptr<Transport>
InstallTransport(const ResolvedRun& run)
{
    try
    {
        return MakeFabricHelper(run).InstallTransport(run.topology);
    }
    catch (const std::invalid_argument& error)
    {
        throw ScenarioError("transport " + run.transport.kind, error.what());
    }
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
        for (const auto link : run.capturedLinks)
        {
            transport->GetCapabilities()->Capture(link, captures.string());
        }
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
        transport->GetCapabilities()->GetFabric(),
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

/// Before which the job does not end, as long as no rank goes: what it computes may take less time
/// than planned, and with faults it has a timeout.
Time
GetLeastTime(const JobSpec& spec, const PlannedJob& planned, const Topology& topology)
{
    auto job = spec;
    job.compute = Time();
    job.computeOf.clear();
    const auto bound = ToTime(ComputeTimeBound(job, planned, topology));
    const auto timeout = spec.timeout.value_or(DEFAULT_FAULT_TIMEOUT);
    return timeout.IsZero() ? bound : std::min(bound, AddTimes(spec.start, timeout));
}

PlannedRun
PlanRun(const ResolvedRun& run)
{
    PlannedRun planned;
    for (const auto& job : run.jobs)
    {
        planned.jobs.push_back(PlanJob(job, *run.topology));
    }
    for (const auto& training : run.trainings)
    {
        planned.trainings.push_back(PlanTraining(training, *run.topology));
    }
    return planned;
}

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

/// Whether foreign flows or faults may keep an exchange from its end.
bool
MayBeDisturbed(const ResolvedRun& run)
{
    return !run.faults.empty() || !run.traffic.empty();
}

Job
MakeJob(const JobSpec& spec, const PlannedJob& planned, const ResolvedRun& run)
{
    auto own = std::make_shared<JobSpec>(spec);
    own->timeout = spec.timeout.value_or(MayBeDisturbed(run) ? DEFAULT_FAULT_TIMEOUT : Time());
    return gradsync::MakeJob(own, planned, run.topology);
}

std::string
DescribeScheme(const JobSpec& job)
{
    return fmt::format("{}: scheme {}", job.name, job.scheme.scheme->name);
}

/// Whether the switches can aggregate as a plan asks. \throws ScenarioError
void
CheckAggregations(const JobSpec& job, const Plan& plan, const Ptr<Transport>& transport)
{
    const auto servers = plan.GetRankCount() - plan.GetWorkerCount();
    for (const auto& group : plan.GetAggregationGroups())
    {
        const auto server =
            servers > 0 ? std::optional(job.endpointOf[plan.GetWorkerCount()]) : std::nullopt;
        std::vector<uint32_t> endpoints;
        endpoints.reserve(group.size());
        for (const auto rank : group)
        {
            endpoints.push_back(job.endpointOf[rank]);
        }
        try
        {
            transport->RequireAggregation().OpenAggregation({std::move(endpoints),
                                                             server,
                                                             plan.GetAggregationProtocol().name,
                                                             plan.SharesExponents()});
        }
        catch (const std::invalid_argument& error)
        {
            throw ScenarioError(DescribeScheme(job), error.what());
        }
    }
}

/// Likewise as a workload asks, all of whose groups stay open at once. \throws ScenarioError
void
CheckAggregations(const TrainingJobSpec& job,
                  const Workload& workload,
                  const Ptr<Transport>& transport)
{
    try
    {
        WorkloadAggregations().Open(workload, job.endpointOf, transport);
    }
    catch (const std::runtime_error& error)
    {
        throw ScenarioError(job.name + ": training", error.what());
    }
}

TrainingJob
MakeTraining(const TrainingJobSpec& spec, const PlannedTraining& planned, const ResolvedRun& run)
{
    auto own = spec;
    own.timeout = spec.timeout.value_or(MayBeDisturbed(run) ? DEFAULT_FAULT_TIMEOUT : Time());
    return MakeTrainingJob(own, planned, run.topology);
}

AsynchronousJob
MakeAsynchronous(const AsynchronousJobSpec& spec, const ResolvedRun& run)
{
    auto job = spec.job;
    job.timeout = spec.timeout.value_or(MayBeDisturbed(run) ? DEFAULT_FAULT_TIMEOUT : Time());
    job.reduceSecondsPerByte = GetReduceSecondsPerByte(spec.reduceRate);
    return job;
}

/// The steps of the slowest worker alone. \throws PlanningError
void
CheckTime(const AsynchronousJob& job)
{
    double seconds = job.start.GetSeconds();
    for (const auto& stage : job.stages)
    {
        double longest = 0.0;
        for (uint32_t worker = 0; worker < stage.workers; ++worker)
        {
            longest = std::max(longest, stage.GetCompute(worker).GetSeconds());
        }
        seconds += stage.steps * longest;
    }
    RefuseLongJob(job.name, seconds);
}

Ptr<ExchangeEngine>
InstallEngine(const ResolvedRun& run, const PlannedRun& planned, const Ptr<Transport>& transport)
{
    auto engine = CreateObject<ExchangeEngine>();
    engine->SetTransport(transport);
    for (size_t i = 0; i < run.jobs.size(); ++i)
    {
        try
        {
            engine->AddJob(MakeJob(run.jobs[i], planned.jobs[i], run));
        }
        catch (const std::runtime_error& error)
        {
            throw ScenarioError(DescribeScheme(run.jobs[i]), error.what());
        }
    }
    for (size_t i = 0; i < run.trainings.size(); ++i)
    {
        try
        {
            engine->AddTraining(MakeTraining(run.trainings[i], planned.trainings[i], run));
        }
        catch (const std::runtime_error& error)
        {
            throw ScenarioError(run.trainings[i].name + ": training", error.what());
        }
    }
    for (const auto& spec : run.asynchronous)
    {
        engine->AddAsynchronous(MakeAsynchronous(spec, run));
    }
    return engine;
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
DescribeRun(const ResolvedRun& run, const PlannedRun& planned, RunResult& result)
{
    result.topology = run.topology;
    auto& summary = result.summary;
    summary.seed = run.seed;
    for (size_t i = 0; i < run.jobs.size(); ++i)
    {
        const auto& own = planned.jobs[i];
        result.jobs.push_back({run.jobs[i].name, run.jobs[i].endpointOf, own.plan, {}});
        summary.workers += run.jobs[i].workers;
        summary.oversubscription = std::max(summary.oversubscription, own.oversubscription);
    }
    for (size_t i = 0; i < run.trainings.size(); ++i)
    {
        const auto& spec = run.trainings[i];
        const auto& own = planned.trainings[i];
        TrainingResult training;
        training.job = static_cast<uint32_t>(result.jobs.size());
        training.workload = own.workload;
        training.figures = spec.figures;
        training.figures.inFlight = own.inFlight;
        result.trainings.push_back(std::move(training));
        result.jobs.push_back({spec.name, spec.endpointOf, nullptr, {}});
        summary.workers += static_cast<uint32_t>(spec.endpointOf.size());
        summary.oversubscription = std::max(summary.oversubscription, own.oversubscription);
    }
    for (const auto& spec : run.asynchronous)
    {
        const auto& job = spec.job;
        result.asynchronous.push_back({static_cast<uint32_t>(result.jobs.size()),
                                       job,
                                       std::vector<WorkerTotals>(job.workers)});
        result.jobs.push_back({job.name, job.endpointOf, nullptr, {}});
        summary.workers += job.workers;
        for (const auto& level : ComputeWorkerGroups(*run.topology, job.endpointOf).levels)
        {
            summary.oversubscription = std::max(summary.oversubscription, level.oversubscription);
        }
    }
}

/// What the engine did.
void
TakeRecords(const Recorder& recorder, const ExchangeEngine& engine, RunResult& result)
{
    const auto take = [](const auto& from, auto& to) { to.assign(from.begin(), from.end()); };
    take(recorder.GetIterations(), result.iterations);
    take(recorder.GetComputations(), result.computations);
    take(recorder.GetReactions(), result.reactions);
    result.summary.fallbacks = static_cast<uint64_t>(
        std::ranges::count(result.reactions, ReactionKind::Fallback, &ReactionRecord::kind));
    take(recorder.GetTransfers(), result.transfers);
    for (uint32_t job = 0; job < engine.GetJobCount(); ++job)
    {
        take(engine.GetPlans(job), result.jobs[job].plans);
    }
}

/// What ended the simulation from outside, for the text of its failure.
std::string
DescribeEnd(const FaultInjector& injector, const TrafficGenerator& generator)
{
    std::string text;
    for (const auto& problem : {injector.GetProblem(), generator.GetProblem()})
    {
        text += problem.empty() ? "" : "; " + problem;
    }
    return text;
}

/// How the simulation ended.
void
TakeEnd(const ExchangeEngine& engine,
        const FaultInjector& injector,
        const TrafficGenerator& generator,
        const RunWatch& watch,
        RunResult& result)
{
    const auto failure = engine.GetFailure();
    result.failure = failure;
    result.summary.finished = !failure;
    result.summary.failure = failure
                                 ? failure->reason + watch.DescribeTimers() +
                                       DescribeEnd(injector, generator) + DescribeFaults(injector)
                                 : "";
    result.summary.events = Simulator::GetEventCount();
    result.duration = failure ? watch.GetEnd() : Time(0);
    for (const auto& record : result.iterations)
    {
        result.duration = std::max(result.duration, record.end);
    }
    result.duration = std::max(result.duration, generator.GetLastEnd());
}

void
Simulate(const ResolvedRun& run,
         const PlannedRun& planned,
         const ProgressCallback& progress,
         const std::filesystem::path& folder,
         RunResult& result)
{
    const SimulatorGuard guard;
    FabricHelper::UseFastScheduler();
    const auto transport = InstallTransport(run);
    StartCaptures(run, transport, folder);
    const auto engine = InstallEngine(run, planned, transport);
    const bool recordTransfers = run.recordMessages || run.recordTrace;
    const Recorder recorder(engine,
                            recordTransfers ? Recorder::Detail::Transfers
                                            : Recorder::Detail::Iterations);
    const TrainingRecorder trainings(engine, result.trainings, run.recordTrace);
    const AsynchronousRecorder asynchronous(
        engine,
        static_cast<uint32_t>(run.jobs.size() + run.trainings.size()),
        result.asynchronous);
    const ProgressProbe probe(engine, progress);
    const auto injector = InstallFaults(run, transport, engine);
    std::optional<TraceRecorder<FaultInjector, FaultRecord>> faults;
    if (recordTransfers)
    {
        faults.emplace(injector, "Fault");
    }
    const auto generator = InstallTraffic(run, transport, engine);
    std::optional<TraceRecorder<TrafficGenerator, FlowRecord>> flows;
    if (run.recordMessages)
    {
        flows.emplace(generator, "Flow");
    }
    const auto sampler = StartSampler(run, transport, engine);
    const RunWatch watch(engine, transport, injector, generator);
    Simulator::Run();

    TakeRecords(recorder, *engine, result);
    TakeEnd(*engine, *injector, *generator, watch, result);
    SummariseTransport(transport->GetStatistics(), result.summary);
    if (const auto* aggregation = transport->GetAggregation())
    {
        result.summary.aggregation = aggregation->GetStatistics();
    }
    result.recordTrace = run.recordTrace;
    result.faults = faults ? faults->Take() : std::vector<FaultRecord>{};
    result.flows = flows ? flows->Take() : std::vector<FlowRecord>{};
    result.links = run.recordLinks ? transport->GetLinkStatistics() : std::vector<LinkStatistics>{};
    if (sampler)
    {
        result.samples = sampler->GetSamples();
        result.sampleEvery = run.sampleEvery;
    }
    generator->Dispose();
    injector->Dispose();
    engine->Dispose();
    if (auto* capabilities = transport->GetCapabilities())
    {
        capabilities->CloseCaptures();
    }
    transport->Dispose();
}

} // namespace

RunCheck
CheckRun(const ResolvedRun& run, bool verifyAll)
{
    UsePicoseconds();
    ProbeForeignTypes(run.transport);
    const SimulatorGuard guard;
    const auto transport = InstallTransport(run);
    RunCheck check;
    for (const auto& job : run.jobs)
    {
        const auto planned = TranslatePlanningErrors([&job, &run, verifyAll] {
            return PlanCheckedJob(job,
                                  *run.topology,
                                  verifyAll ? PlanCheck::All : PlanCheck::Small,
                                  !run.faults.empty());
        });
        CheckAggregations(job, *planned.plan, transport);
        check.bytes += CountTransferBytes(MakeJob(job, planned, run));
        check.least = std::max(check.least, GetLeastTime(job, planned, *run.topology));
    }
    for (const auto& training : run.trainings)
    {
        const auto planned = TranslatePlanningErrors([&training, &run] {
            return PlanCheckedTraining(training, *run.topology, !run.faults.empty());
        });
        CheckAggregations(training, *planned.workload, transport);
        check.bytes += CountTransferBytes(MakeTraining(training, planned, run));
        check.least = std::max(check.least, training.start);
    }
    for (const auto& spec : run.asynchronous)
    {
        if (run.faults.empty())
        {
            TranslatePlanningErrors([&spec] { CheckTime(spec.job); });
        }
        check.bytes += CountTransferBytes(spec.job);
        check.least = std::max(check.least, spec.job.start);
    }
    transport->Dispose();
    return check;
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
    const auto planned = TranslatePlanningErrors([&run] { return PlanRun(run); });
    RunResult result;
    DescribeRun(run, planned, result);
    Simulate(run, planned, progress, folder, result);
    SummariseExchanges(result);
    SummariseChoices(planned.jobs, planned.trainings, result.summary);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    result.summary.wallSeconds = wall.count();
    result.summary.peakRssBytes = GetPeakRssBytes();
    return result;
}

} // namespace ns3::gradsync
