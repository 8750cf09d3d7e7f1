// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scenario-runner.h"

#include "ns3/asynchronous-recorder.h"
#include "ns3/fabric-helper.h"
#include "ns3/iteration-skip.h"
#include "ns3/log.h"
#include "ns3/network-parts.h"
#include "ns3/peak-memory.h"
#include "ns3/planned-run.h"
#include "ns3/planning-translation.h"
#include "ns3/progress-probe.h"
#include "ns3/recorder.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/run-outcome.h"
#include "ns3/run-summary.h"
#include "ns3/run-watch.h"
#include "ns3/simulator-guard.h"
#include "ns3/time-resolution.h"
#include "ns3/trace-recorder.h"
#include "ns3/training-recorder.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncScenarioRunner");

namespace
{

/// \returns why the result is none, as of ExchangeEngine::FindTwinDifference
std::string
Simulate(const ResolvedRun& run,
         const PlannedRun& planned,
         const ProgressCallback& progress,
         const std::filesystem::path& folder,
         Repeats repeats,
         Omission omission,
         RunResult& result)
{
    const SimulatorGuard guard;
    FabricHelper::UseFastScheduler();
    const auto transport = InstallTransport(run);
    StartCaptures(run, transport, folder);
    const auto engine = InstallEngine(run, planned, transport, omission);
    const bool recordTransfers = run.recordMessages || run.recordTrace;
    const Recorder recorder(engine,
                            run.recordTrace   ? Recorder::Detail::Work
                            : recordTransfers ? Recorder::Detail::Transfers
                                              : Recorder::Detail::Iterations);
    TrainingRecorder trainings(engine, result.trainings, run.recordTrace);
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
    const auto generator = CreateObject<TrafficGenerator>();
    InstallTraffic(run, transport, engine, generator);
    std::optional<TraceRecorder<TrafficGenerator, FlowRecord>> flows;
    if (run.recordMessages)
    {
        flows.emplace(generator, "Flow");
    }
    const auto sampler = StartSampler(run, transport, engine);
    const RunWatch watch(engine, transport, injector, generator);
    const IterationSkip skip(run, engine, transport, recorder, trainings, repeats == Repeats::Skip);
    Simulator::Run();

    TakeRecords(recorder, *engine, result);
    skip.ExtendRecords(result);
    TakeEnd(*engine, *injector, *generator, watch, result);
    auto statistics = transport->GetStatistics();
    skip.Extend(statistics);
    SummariseTransport(statistics, result.summary);
    // How often timers look depends on when they began, which is no part of what repeats.
    result.summary.events =
        skip.ExtendEvents(result.summary.events) + CountBeyondSimulator(statistics);
    result.summary.savedEvents = statistics.savedEvents;
    result.summary.recordedCollectives = engine->CountRecordedCollectives();
    result.summary.skippedIterations = skip.GetCount();
    if (const auto* aggregation = transport->GetAggregation())
    {
        result.summary.aggregation = aggregation->GetStatistics();
    }
    result.recordTrace = run.recordTrace;
    result.faults = faults ? faults->Take() : std::vector<FaultRecord>{};
    result.flows = flows ? flows->Take() : std::vector<FlowRecord>{};
    result.links = run.recordLinks ? transport->GetLinkStatistics() : std::vector<LinkStatistics>{};
    skip.Extend(result.links);
    if (sampler)
    {
        result.samples = sampler->GetSamples();
        result.sampleEvery = run.sampleEvery;
    }
    auto difference = engine->FindTwinDifference();
    generator->Dispose();
    injector->Dispose();
    engine->Dispose();
    if (auto* capabilities = transport->GetCapabilities())
    {
        capabilities->CloseCaptures();
    }
    transport->Dispose();
    return difference;
}

/// Once more, whole, where planes that stand for each other turn out to differ.
RunResult
SimulateAsNeeded(const ResolvedRun& run,
                 const PlannedRun& planned,
                 const ProgressCallback& progress,
                 const std::filesystem::path& folder,
                 Repeats repeats)
{
    auto omission = repeats == Repeats::Skip ? Omission::OfTwinsToo : Omission::None;
    for (;;)
    {
        RunResult result;
        DescribeRun(run, planned, result);
        const auto difference = Simulate(run, planned, progress, folder, repeats, omission, result);
        if (difference.empty())
        {
            return result;
        }
        NS_LOG_INFO("simulated once more: " << difference);
        omission = Omission::Later;
    }
}

} // namespace

RunResult
RunScenario(const ResolvedRun& run,
            const ProgressCallback& progress,
            const std::filesystem::path& folder,
            Repeats repeats)
{
    const auto begin = std::chrono::steady_clock::now();
    UsePicoseconds();
    RngSeedManager::SetSeed(run.seed);
    RngSeedManager::SetRun(1);
    const auto planned = TranslatePlanningErrors([&run] { return PlanRun(run); });
    auto result = SimulateAsNeeded(run, planned, progress, folder, repeats);
    SummariseExchanges(result, CountPlans(result));
    SummariseCodecTimes(run, result.summary);
    SummariseChoices(planned.jobs, planned.trainings, result.summary);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    result.summary.wallSeconds = wall.count();
    result.summary.peakRssBytes = GetPeakRssBytes();
    return result;
}

} // namespace ns3::gradsync
