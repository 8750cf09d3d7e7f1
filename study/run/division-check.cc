// SPDX-License-Identifier: GPL-2.0-only
// The part of divided runs that says which runs can be divided.
#include "ns3/divided-run.h"
#include "ns3/divided-transport.h"
#include "ns3/network-parts.h"
#include "ns3/planned-run.h"
#include "ns3/planning-translation.h"
#include "ns3/run-notices.h"
#include "ns3/scenario-error.h"
#include "ns3/simulator-guard.h"
#include "ns3/time-resolution.h"
#include "ns3/topology-division.h"

#include <fmt/format.h>
#include <stdexcept>
#include <string>

namespace ns3::gradsync
{

namespace
{

[[noreturn]] void
Refuse(const std::string& path, const std::string& why)
{
    throw ScenarioError(path, "cannot go with --ranks: " + why);
}

/// What the scenario has beside jobs that exchange.
void
CheckSections(const ResolvedRun& run)
{
    constexpr const char* NOT_YET = "only jobs that exchange by a scheme can be divided";
    if (!run.trainings.empty())
    {
        Refuse("training of " + run.trainings.front().name, NOT_YET);
    }
    if (!run.asynchronous.empty())
    {
        Refuse("asynchronous job " + run.asynchronous.front().job.name, NOT_YET);
    }
    if (!run.faults.empty())
    {
        Refuse("faults",
               "what happens to a link or a host would have to be known everywhere at once");
    }
    if (!run.traffic.empty())
    {
        Refuse("traffic",
               "foreign flows end when the jobs do, which is not known everywhere at once");
    }
    if (!run.programs.empty())
    {
        Refuse("transport.programs", "packets for programs have contents of their own");
    }
    if (run.hasFluidServers)
    {
        Refuse("fidelity.server", "only networks that are packets throughout can be divided");
    }
    if (!run.capturedLinks.empty())
    {
        Refuse("results.pcap", "links cannot be captured");
    }
    if (!run.sampleEvery.IsZero())
    {
        Refuse("results.sampleEvery", "links cannot be sampled");
    }
}

void
CheckJob(const JobSpec& job, const PlannedJob& planned, const ResolvedRun& run)
{
    const auto scheme = DescribeScheme(job);
    const auto& plan = *planned.plan;
    if (plan.HasAggregations())
    {
        Refuse(scheme, "switches that aggregate cannot be divided");
    }
    if (plan.GetGate() || !MakeJob(job, planned, run).laterPlans.empty())
    {
        Refuse(scheme, "all ranks together decide when it goes on");
    }
    if (job.transmission.reliableShare < 1.0)
    {
        Refuse(job.name + ": dgt", "both ends would have to know at once of what is lost");
    }
}

/// What processes cannot tell each other in time.
void
CheckNotices(const RunNotices& notices, const ResolvedRun& run)
{
    if (notices.obstacle)
    {
        const auto& [job, why] = *notices.obstacle;
        Refuse(DescribeScheme(run.jobs[job]), why);
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
        CheckJob(run.jobs[i], planned.jobs[i], run);
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
