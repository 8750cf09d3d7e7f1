// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/run-outcome.h"

#include "ns3/group-finder.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

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

} // namespace

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

void
TakeRecords(const Recorder& recorder, const ExchangeEngine& engine, RunResult& result)
{
    const auto take = [](const auto& from, auto& to) { to.assign(from.begin(), from.end()); };
    take(recorder.GetIterations(), result.iterations);
    take(recorder.GetComputations(), result.computations);
    take(recorder.GetWork(), result.work);
    take(recorder.GetReactions(), result.reactions);
    result.summary.fallbacks = static_cast<uint64_t>(
        std::ranges::count(result.reactions, ReactionKind::Fallback, &ReactionRecord::kind));
    take(recorder.GetTransfers(), result.transfers);
    for (uint32_t job = 0; job < engine.GetJobCount(); ++job)
    {
        take(engine.GetPlans(job), result.jobs[job].plans);
    }
}

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

} // namespace ns3::gradsync
