// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/divided-run.h"

#include "ns3/boolean.h"
#include "ns3/divided-surroundings.h"
#include "ns3/divided-transport.h"
#include "ns3/exchange-application.h"
#include "ns3/fabric-helper.h"
#include "ns3/iteration-timers.h"
#include "ns3/network-parts.h"
#include "ns3/part-report.h"
#include "ns3/part-runs.h"
#include "ns3/peak-memory.h"
#include "ns3/plan-figures.h"
#include "ns3/planned-run.h"
#include "ns3/planning-translation.h"
#include "ns3/recorder.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/run-notices.h"
#include "ns3/run-outcome.h"
#include "ns3/run-summary.h"
#include "ns3/simulator-guard.h"
#include "ns3/time-resolution.h"
#include "ns3/topology-division.h"
#include "ns3/window-protocol.h"
#include "ns3/window-simulator-impl.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// A node that is made here for ranks of another process starts itself, and of each rank the
/// application and the rank.
constexpr uint64_t EVENTS_OF_FOREIGN_RANK = 2;

/// In time to be ns-3's simulator. \returns it
WindowSimulatorImpl&
UseWindowSimulator()
{
    FabricHelper::UseFastScheduler();
    return dynamic_cast<WindowSimulatorImpl&>(*Simulator::GetImplementation());
}

/// Hands all reports to process 0. \returns [process] there; elsewhere nothing
std::vector<ByteBatch>
Gather(ProcessLink& link, ByteBatch own)
{
    const auto number = link.GetOwn();
    std::vector<OutgoingBatch> sent(link.GetCount());
    std::vector<ByteBatch> reports(link.GetCount());
    if (number == 0)
    {
        reports[0] = std::move(own);
    }
    else
    {
        sent[0] = OutgoingBatch(std::move(own));
    }
    link.Send({}, sent);
    for (uint32_t peer = 0; peer < link.GetCount(); ++peer)
    {
        if (peer != number)
        {
            ProcessNote note{};
            const auto report = link.Receive(peer, note);
            reports[peer].assign(report.begin(), report.end());
        }
    }
    return number == 0 ? reports : std::vector<ByteBatch>{};
}

AggregationStatistics
GetAggregationStatistics(const Transport& transport)
{
    const auto* aggregation = transport.GetAggregation();
    return aggregation != nullptr ? aggregation->GetStatistics() : AggregationStatistics();
}

/// What only shows while it runs. \param areArrivalsTold whether processes told each other ahead
/// what arrives \throws std::runtime_error
void
RequireDivisible(const MergedReport& merged, bool areArrivalsTold, const ResolvedRun& run)
{
    // What goes to switches that aggregate has no connection.
    const auto resent = merged.statistics.retransmittedPackets - merged.aggregation.retransmissions;
    if (areArrivalsTold && resent > 0)
    {
        throw std::runtime_error(
            fmt::format("{} packets were sent again, which cannot go with --ranks: ranks wait for "
                        "what arrives at ranks of other processes, which is then not known ahead",
                        resent));
    }
    if (!merged.problem.empty())
    {
        throw std::runtime_error("the run was ended, which without --ranks would be a result: " +
                                 merged.problem);
    }
    // What goes on beside the jobs is stopped in its midst, and the text names faults that hold.
    const bool isSurrounded = DividedSurroundings::AreAny(run);
    if (merged.failure && (isSurrounded || merged.failure->cause.empty()))
    {
        throw std::runtime_error("a job did not finish, which without --ranks would be a result: " +
                                 merged.failure->reason);
    }
}

/// The jobs as the engine has them. Of trainings a run of the workload is what ends and begins.
std::vector<SharedJob>
ListJobs(const ResolvedRun& run, const PlannedRun& planned)
{
    std::vector<SharedJob> jobs;
    for (const auto& job : run.jobs)
    {
        jobs.push_back({job.endpointOf, job.iterations, job.start, FindTimeout(job.timeout, run)});
    }
    for (size_t i = 0; i < run.trainings.size(); ++i)
    {
        const auto training = MakeTraining(run.trainings[i], planned.trainings[i], run);
        jobs.push_back({training.endpointOf,
                        training.iterations / training.workload->GetIterationCount(),
                        training.start,
                        training.timeout});
    }
    return jobs;
}

/// [job] When its iterations have ended, or of trainings runs of the workload, as of ListJobs.
std::vector<std::vector<Time>>
ListEnds(const ResolvedRun& run, const RunResult& result)
{
    std::vector<std::vector<Time>> ends(run.jobs.size() + run.trainings.size());
    for (const auto& record : result.iterations)
    {
        if (record.job < run.jobs.size())
        {
            ends[record.job].push_back(record.end);
        }
    }
    for (const auto& training : result.trainings)
    {
        for (const auto& one : training.runs)
        {
            ends[training.job].push_back(one.span.end);
        }
    }
    return ends;
}

/// What this process knows of jobs that are not finished.
std::vector<PartFailure>
ListFailures(const ExchangeEngine& engine)
{
    std::vector<PartFailure> failures;
    for (uint32_t job = 0; job < engine.GetJobCount(); ++job)
    {
        if (auto failure = engine.GetFailure(job))
        {
            failures.push_back({std::move(*failure), engine.HasFailed(job)});
        }
    }
    return failures;
}

/// One process's share of a run, from the network to its report.
class Share
{
  public:
    Share(const ResolvedRun& run, const PlannedRun& planned, ProcessLink& link, Repeats repeats)
        : m_run(run),
          m_planned(planned),
          m_link(link),
          m_repeats(repeats),
          m_division(DivideTopology(*run.topology, link.GetCount(), link.GetOwn())),
          m_jobs(ListJobs(run, planned))
    {
    }

    /// \param runs of workloads \returns the report of this process
    ByteBatch Simulate(RunResult& result, std::vector<PartRun>& runs);

    /// Whether processes tell each other ahead what arrives.
    bool AreArrivalsTold() const
    {
        return m_areArrivalsTold;
    }

  private:
    void Divide(DividedTransport& divided,
                const Ptr<ExchangeEngine>& engine,
                const DividedSurroundings& surroundings,
                WindowProtocol& protocol) const;
    void UseNotices(DividedTransport& divided,
                    const Ptr<ExchangeEngine>& engine,
                    WindowProtocol& protocol);
    void CountForeignRanks(WindowProtocol& protocol) const;

    const ResolvedRun& m_run;
    const PlannedRun& m_planned;
    ProcessLink& m_link;
    Repeats m_repeats;
    TopologyDivision m_division;
    std::vector<SharedJob> m_jobs;
    bool m_areArrivalsTold{false};
};

/// Before the engine has its jobs.
void
Share::Divide(DividedTransport& divided,
              const Ptr<ExchangeEngine>& engine,
              const DividedSurroundings& surroundings,
              WindowProtocol& protocol) const
{
    const auto listReceivers = [this, engine = PeekPointer(engine), &surroundings] {
        std::vector<DividedMessages::Receiver> receivers;
        for (uint32_t job = 0; job < m_jobs.size(); ++job)
        {
            const auto& endpoints = m_jobs[job].endpoints;
            for (uint32_t rank = 0; rank < endpoints.size(); ++rank)
            {
                receivers.push_back(
                    {PeekPointer(engine->GetApplication(job, rank)), endpoints[rank]});
            }
        }
        surroundings.AddReceivers(receivers);
        return receivers;
    };
    divided.Divide(m_division,
                   {.listReceivers = listReceivers,
                    .tellsTimes = m_run.recordMessages || m_run.recordTrace,
                    .callAt = [&protocol](const Time& at, std::function<void()> action) {
                        protocol.CallAt(at, std::move(action));
                    }});
}

/// Likewise.
void
Share::UseNotices(DividedTransport& divided,
                  const Ptr<ExchangeEngine>& engine,
                  WindowProtocol& protocol)
{
    const auto notices = FindNotices(m_run, m_planned, m_division);
    m_areArrivalsTold = !notices.endpoints.empty();
    if (!notices.areAny)
    {
        return;
    }
    std::vector<std::unordered_map<uint32_t, uint32_t>> rankOf; // [job], by endpoint
    for (const auto& job : m_jobs)
    {
        const auto& endpoints = job.endpoints;
        auto& ranks = rankOf.emplace_back();
        for (uint32_t rank = 0; rank < endpoints.size(); ++rank)
        {
            ranks[endpoints[rank]] = rank;
        }
    }
    protocol.UseNotices(
        AnnounceArrivals(notices, divided),
        [engine = PeekPointer(engine), rankOf](const RankShare::Notice& notice) {
            const auto rank = rankOf[notice.job].at(notice.endpoint);
            engine->GetApplication(notice.job, rank)->OnTold(notice.tag, notice.news);
        });
}

void
Share::CountForeignRanks(WindowProtocol& protocol) const
{
    std::set<uint32_t> nodes;
    for (const auto& job : m_jobs)
    {
        for (const auto endpoint : job.endpoints)
        {
            if (!protocol.IsHere(endpoint))
            {
                nodes.insert(endpoint);
                protocol.CountForeignEvents(EVENTS_OF_FOREIGN_RANK);
            }
        }
    }
    protocol.CountForeignEvents(nodes.size());
}

ByteBatch
Share::Simulate(RunResult& result, std::vector<PartRun>& runs)
{
    auto& simulator = UseWindowSimulator();
    const SimulatorGuard guard;
    const auto transport = InstallTransport(m_run);
    auto& divided = *transport->GetCapabilities()->GetDivided();
    WindowProtocol protocol(simulator, divided, m_link, *m_run.topology, m_division);
    auto engine = CreateObject<ExchangeEngine>();
    engine->SetAttribute("RecordsCollectives",
                         BooleanValue(m_repeats == Repeats::Skip && IsOneJobAlone(m_run)));
    DividedSurroundings surroundings(m_run, simulator, protocol, m_link.GetCount());
    Divide(divided, engine, surroundings, protocol);
    UseNotices(divided, engine, protocol);
    protocol.UseJobs(m_jobs, DividedSurroundings::AreAny(m_run));
    AddJobs(m_run, m_planned, transport, engine, &protocol);
    CountForeignRanks(protocol);
    const auto detail = m_run.recordTrace      ? Recorder::Detail::Work
                        : m_run.recordMessages ? Recorder::Detail::Transfers
                                               : Recorder::Detail::Iterations;
    const Recorder recorder(engine, detail);
    const PartRunRecorder trainings(engine, runs);
    const RecordOrders orders(engine, simulator, detail);
    surroundings.Start(transport, engine);
    simulator.SetRun([&protocol] { protocol.Run(); });
    Simulator::Run();
    if (m_link.GetOwn() != 0) // what all have is of process 0
    {
        protocol.CountForeignEvents(surroundings.CountEvents());
    }

    TakeRecords(recorder, *engine, result);
    SetOrders(protocol.GetEndOrders(), runs);
    result.faults = surroundings.TakeFaults();
    auto batch = PackReport({.result = &result,
                             .orders = &orders,
                             .links = m_run.recordLinks ? transport->GetLinkStatistics()
                                                        : std::vector<LinkStatistics>{},
                             .statistics = transport->GetStatistics(),
                             .aggregation = GetAggregationStatistics(*transport),
                             .events = protocol.CountOwnEvents(),
                             .sharedEvents = protocol.GetSharedEvents(),
                             .underWay = protocol.GetUnderWay(),
                             .endOrders = protocol.GetEndOrders(),
                             .surroundings = surroundings.Describe(),
                             .failures = ListFailures(*engine),
                             .end = protocol.GetLastFailure().value_or(simulator.GetLastTime()),
                             .isStopped = protocol.GetLastFailure().has_value(),
                             .problem = surroundings.GetProblem()});
    engine->Dispose();
    transport->Dispose();
    return batch;
}

/// One process looks at each end of an iteration of a scheme, and at each end of a run of a
/// workload, in an event of its own (IterationSkip).
uint64_t
CountBoundaries(const ResolvedRun& run, const RunResult& result)
{
    auto count =
        static_cast<uint64_t>(std::ranges::count_if(result.iterations, [&run](const auto& record) {
            return record.job < run.jobs.size();
        }));
    for (const auto& training : result.trainings)
    {
        count += training.runs.size();
    }
    return count;
}

/// Estimates look at networks of their own, in a simulator that is not that of the run.
PlannedRun
PlanApart(const ResolvedRun& run)
{
    const SimulatorGuard guard;
    return TranslatePlanningErrors([&run] { return PlanRun(run); });
}

/// Of all processes, for process 0.
void
Complete(const std::vector<ByteBatch>& reports,
         const std::vector<ByteBatch>& runs,
         const ResolvedRun& run,
         const PlannedRun& planned,
         bool areArrivalsTold,
         RunResult& result)
{
    const auto merged = MergeReports(reports, result);
    RequireDivisible(merged, areArrivalsTold, run);
    MergeRuns(runs, merged.endOrders, result);
    result.summary.aggregation = merged.aggregation;
    result.failure = merged.failure;
    result.summary.finished = !merged.failure;
    result.summary.failure = merged.failure ? merged.failure->reason : "";
    const auto timers =
        CountTimers(ListJobs(run, planned), ListEnds(run, result), merged.isStopped);
    const auto end = std::max(merged.end, timers.last);
    result.duration = std::max(result.duration, merged.failure ? end : Time(0)); // that of flows
    result.sampleEvery = run.sampleEvery;
    for (const auto& record : result.iterations)
    {
        result.duration = std::max(result.duration, record.end);
    }
    SummariseTransport(merged.statistics, result.summary);
    const auto looks = IsOneJobAlone(run) ? CountBoundaries(run, result) : 0;
    result.summary.savedEvents = merged.statistics.savedEvents;
    result.summary.events =
        merged.events + CountBeyondSimulator(merged.statistics) + timers.count + looks;
    SummariseCodecTimes(run, result.summary);
    SummariseChoices(planned.jobs, planned.trainings, result.summary);
}

} // namespace

std::optional<RunResult>
RunDivided(const ResolvedRun& run, ProcessLink& link, Repeats repeats)
{
    const auto begin = std::chrono::steady_clock::now();
    UsePicoseconds();
    RngSeedManager::SetSeed(run.seed);
    RngSeedManager::SetRun(1);
    const auto planned = PlanApart(run);
    RunResult result;
    DescribeRun(run, planned, result);
    Share share(run, planned, link, repeats);
    result.recordTrace = run.recordTrace;
    std::vector<PartRun> runs;
    const auto reports = Gather(link, share.Simulate(result, runs));
    const auto parts = Gather(link, PackRuns(runs));
    // The simulation is gone: what it had is used again.
    const auto counted = CountPlans(result, link.GetOwn(), link.GetCount());
    const auto figures = Gather(link, PackFigures(counted));
    if (link.GetOwn() != 0)
    {
        return std::nullopt;
    }
    Complete(reports, parts, run, planned, share.AreArrivalsTold(), result);
    SummariseExchanges(result, MergeFigures(figures));
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    result.summary.wallSeconds = wall.count();
    result.summary.peakRssBytes = GetPeakRssBytes();
    return result;
}

} // namespace ns3::gradsync
