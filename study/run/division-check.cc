// SPDX-License-Identifier: GPL-2.0-only
// The part of divided runs that says which runs can be divided.
#include "ns3/divided-run.h"
#include "ns3/divided-transport.h"
#include "ns3/network-parts.h"
#include "ns3/plan-aggregations.h"
#include "ns3/planned-run.h"
#include "ns3/planning-translation.h"
#include "ns3/run-notices.h"
#include "ns3/scenario-error.h"
#include "ns3/simulator-guard.h"
#include "ns3/time-resolution.h"
#include "ns3/topology-division.h"
#include "ns3/workload-parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <string>
#include <utility>

namespace ns3::gradsync
{

namespace
{

[[noreturn]] void
Refuse(const std::string& path, const std::string& why)
{
    throw ScenarioError(path, "cannot go with --ranks: " + why);
}

/// Whether packets may be lost by it.
bool
MayLose(const FaultSpec& fault)
{
    return fault.kind == FaultKind::LinkDown || fault.kind == FaultKind::SwitchDown ||
           fault.kind == FaultKind::HostPause ||
           (fault.kind == FaultKind::LinkDegraded && fault.degraded.loss.IsLossy());
}

[[noreturn]] void
Refuse(const FaultSpec& fault, const std::string& why)
{
    Refuse("faults", fmt::format("{}: {}", ToString(fault.kind), why));
}

void
CheckFault(const FaultSpec& fault, const ResolvedRun& run)
{
    if (fault.kind == FaultKind::HostCrash)
    {
        Refuse(fault, "jobs would have to go on without the host, or fail, everywhere at once");
    }
    if (fault.kind == FaultKind::AggregatorDown)
    {
        Refuse(fault, "switches that aggregate cannot be divided");
    }
    const auto hasChoice = [&run](NodeId node) { return run.topology->GetPorts(node).size() > 1; };
    if ((fault.kind == FaultKind::LinkDown || fault.kind == FaultKind::SwitchDown) &&
        std::ranges::any_of(run.topology->GetEndpoints(), hasChoice))
    {
        Refuse(fault,
               "the order in which hosts of several NICs move their connections is not the same in "
               "all processes");
    }
}

/// What goes on beside the jobs.
void
CheckSurroundings(const ResolvedRun& run)
{
    for (const auto& fault : run.faults)
    {
        CheckFault(fault, run);
    }
    if (!run.hasFluidServers)
    {
        return;
    }
    constexpr const char* NOT_YET =
        "found beside servers that are fluid, expected servers whose links are packets";
    for (const auto& [isThere, path] : {std::pair{!run.faults.empty(), "faults"},
                                        std::pair{!run.traffic.empty(), "traffic"},
                                        std::pair{!run.sampleEvery.IsZero(), "results.every"}})
    {
        if (isThere)
        {
            Refuse(path, NOT_YET);
        }
    }
}

/// What the scenario has beside jobs that exchange.
void
CheckSections(const ResolvedRun& run)
{
    if (!run.asynchronous.empty())
    {
        Refuse("asynchronous job " + run.asynchronous.front().job.name,
               "its workers' steps cannot be divided");
    }
    if (const auto jobs = run.jobs.size() + run.trainings.size(); run.hasFluidServers && jobs > 1)
    {
        Refuse("fidelity.server",
               fmt::format("found {} jobs, expected one: others could not know in time when a "
                           "fluid ends an iteration",
                           jobs));
    }
    CheckSurroundings(run);
    const auto taking = std::ranges::find_if(run.programs, [](const auto& program) {
        return program.second.takesAll;
    });
    if (taking != run.programs.end())
    {
        Refuse("transport.aggregation.programs",
               fmt::format("{} runs one for all packets, but those of connections can be made "
                           "frames only where both their ends are simulated",
                           run.topology->GetNodes()[taking->first].name));
    }
    if (!run.capturedLinks.empty())
    {
        Refuse("results.pcap", "links cannot be captured");
    }
}

void
CheckDividedJob(const JobSpec& job, const PlannedJob& planned, const ResolvedRun& run)
{
    const auto scheme = DescribeScheme(job);
    const auto& plan = *planned.plan;
    if (plan.GetGate() || !MakeJob(job, planned, run).laterPlans.empty())
    {
        Refuse(scheme, "all ranks together decide when it goes on");
    }
    if (job.transmission.reliableShare < 1.0)
    {
        Refuse(job.name + ": dgt", "both ends would have to know at once of what is lost");
    }
}

void
CheckTraining(const TrainingJob& job, const ResolvedRun& run, const TopologyDivision& division)
{
    const auto& workload = *job.workload;
    if (workload.HasAggregations())
    {
        Refuse("training of " + job.name, "switches that aggregate cannot be divided");
    }
    if (job.transmission.reliableShare < 1.0)
    {
        Refuse(job.name + ": dgt", "both ends would have to know at once of what is lost");
    }
    const WorkloadParts parts(workload,
                              FindParts(job.endpointOf, run, division),
                              job.reduceSecondsPerByte);
    if (const auto id = parts.FindAgreed())
    {
        const auto& task = workload.GetTasks()[workload.GetParts(*id).front()];
        Refuse("training of " + job.name,
               fmt::format("{} begins on stream {} when all its ranks are ready, which those of "
                           "other processes would have to know at once",
                           workload.GetLabel(workload.GetCommunications()[*id].label),
                           workload.GetStreams()[task.stream].name));
    }
}

/// Of switches that are to aggregate for a job. What they lack for any number of processes the run
/// itself says.
void
CheckDividedAggregations(const ResolvedRun& run,
                         const JobSpec& job,
                         const Plan& plan,
                         const Ptr<Transport>& transport)
{
    if (!plan.HasAggregations())
    {
        return;
    }
    const auto scheme = DescribeScheme(job);
    if (const auto fault = std::ranges::find_if(run.faults, MayLose); fault != run.faults.end())
    {
        Refuse(*fault,
               "where something fails other switches aggregate, and all workers begin again with "
               "what any of them lacks, which would have to be known everywhere at once");
    }
    try
    {
        const auto shared =
            transport->RequireAggregation().FindShared(plan.GetAggregationProtocol().name);
        if (!shared.empty())
        {
            Refuse(scheme, shared);
        }
        PlanAggregations().Open(plan, job.endpointOf, transport, job.aggregationRoots);
    }
    catch (const AggregationDenied& denied)
    {
        Refuse(scheme,
               fmt::format("{}; when the switches have room would have to be known everywhere "
                           "at once",
                           denied.what()));
    }
}

/// What processes cannot tell each other in time.
void
CheckNotices(const RunNotices& notices, const ResolvedRun& run)
{
    if (notices.obstacle)
    {
        const auto& [job, why] = *notices.obstacle;
        Refuse(job, why);
    }
    const auto lossy = std::ranges::find_if(run.faults, MayLose);
    if (notices.areAny && lossy != run.faults.end())
    {
        Refuse(*lossy, "what processes tell each other ahead could be lost");
    }
}

/// Of the network, with so many processes.
TopologyDivision
Divide(const ResolvedRun& run, uint32_t ranks)
{
    try
    {
        return DivideTopology(*run.topology, ranks, 0);
    }
    catch (const std::invalid_argument& error)
    {
        throw ScenarioError("--ranks", fmt::format("found {}: {}", ranks, error.what()));
    }
}

} // namespace

void
CheckDivision(const ResolvedRun& run, uint32_t ranks)
{
    CheckSections(run);
    const auto division = Divide(run, ranks);
    const auto planned = TranslatePlanningErrors([&run] { return PlanRun(run); });
    for (size_t i = 0; i < run.jobs.size(); ++i)
    {
        CheckDividedJob(run.jobs[i], planned.jobs[i], run);
    }
    for (size_t i = 0; i < run.trainings.size(); ++i)
    {
        CheckTraining(MakeTraining(run.trainings[i], planned.trainings[i], run), run, division);
    }
    const auto notices = FindNotices(run, planned, division);
    CheckNotices(notices, run);
    const SimulatorGuard guard;
    UsePicoseconds();
    const auto transport = InstallTransport(run);
    auto* capabilities = transport->GetCapabilities();
    auto* divided = capabilities != nullptr ? capabilities->GetDivided() : nullptr;
    if (divided == nullptr)
    {
        Refuse("transport.kind",
               fmt::format("found \"{}\", expected \"roce\"", run.transport.kind));
    }
    for (size_t i = 0; i < run.jobs.size(); ++i)
    {
        CheckDividedAggregations(run, run.jobs[i], *planned.jobs[i].plan, transport);
    }
    try
    {
        divided->Divide(division, {});
        AnnounceArrivals(notices, *divided);
    }
    catch (const std::invalid_argument& error)
    {
        Refuse("transport " + run.transport.kind, error.what());
    }
    transport->Dispose();
}

} // namespace ns3::gradsync
