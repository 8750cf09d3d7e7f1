// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/run-notices.h"

#include "ns3/distant-ends.h"
#include "ns3/inner-networks.h"
#include "ns3/workload-parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// [endpoint] -> its server, where servers run as fluids; else empty.
std::vector<uint32_t>
FindFluidServers(const ResolvedRun& run)
{
    std::vector<uint32_t> serverOf;
    if (run.hasFluidServers)
    {
        serverOf.assign(run.topology->GetEndpoints().size(), UINT32_MAX);
        uint32_t server = 0;
        for (const auto& inner : FindInnerNetworks(*run.topology))
        {
            for (const auto endpoint : inner.endpoints)
            {
                serverOf[endpoint] = server;
            }
            ++server;
        }
    }
    return serverOf;
}

/// What the ranks of a plan do where.
struct SharedPlan
{
    const Plan& plan;
    const DistantEnds& ends;
    std::string name;                 //!< of its job
    std::vector<uint32_t> endpointOf; //!< [rank of the plan]
};

/// A transfer inside a server of whose end other processes are to be told: how fast a fluid flows
/// on nobody knows. \param serverOf as of FindFluidServers
std::optional<OperationId>
FindFluidEnd(const SharedPlan& placed, const std::vector<uint32_t>& serverOf)
{
    const auto operations = placed.plan.GetOperations();
    for (OperationId id = 0; id < operations.size() && !serverOf.empty(); ++id)
    {
        const auto operation = operations[id];
        const auto server = serverOf[placed.endpointOf[operation.src]];
        if (operation.IsTransfer() && server != UINT32_MAX &&
            server == serverOf[placed.endpointOf[operation.dst]] &&
            !placed.ends.TakesTime(id, operation) && !placed.ends.FindWaiting(id).empty())
        {
            return id;
        }
    }
    return std::nullopt;
}

/// Whether hosts compute for other times than they should, which those of a process draw.
bool
HasStragglers(const ResolvedRun& run)
{
    return std::ranges::any_of(run.faults, [](const auto& fault) {
        return fault.kind == FaultKind::Straggler;
    });
}

void
AddObstacle(const std::string& name, const std::string& why, RunNotices& notices)
{
    if (!why.empty() && !notices.obstacle)
    {
        notices.obstacle = {name, why};
    }
}

/// Adds those of a plan.
void
AddNotices(const SharedPlan& placed,
           const DistantEnds::Demands& demands,
           const std::vector<uint32_t>& serverOf,
           RunNotices& notices)
{
    const auto& [plan, ends, name, endpointOf] = placed;
    notices.areAny = notices.areAny || demands.areAny;
    for (const auto& [rank, hasOwn] : demands.receivers)
    {
        auto& known = notices.endpoints[endpointOf[rank]];
        known = known || hasOwn;
    }
    if (demands.leastWork)
    {
        notices.leastWork =
            std::min(*demands.leastWork, notices.leastWork.value_or(*demands.leastWork));
    }
    AddObstacle(name, demands.obstacle, notices);
    if (const auto id = FindFluidEnd(placed, serverOf))
    {
        AddObstacle(name,
                    fmt::format("ranks of other processes wait for the end of operation {}, which "
                                "goes as a fluid (fidelity.server)",
                                *id),
                    notices);
    }
}

/// Of all communications that are divided.
void
AddTrainingNotices(const TrainingJob& job,
                   std::vector<uint32_t> partOf,
                   const std::vector<uint32_t>& serverOf,
                   RunNotices& notices)
{
    const auto& workload = *job.workload;
    WorkloadParts parts(workload, std::move(partOf), job.reduceSecondsPerByte);
    std::map<const DistantEnds*, DistantEnds::Demands> known;
    std::set<std::pair<uint32_t, uint32_t>> added; // (group, plan)
    for (CommunicationId id = 0; id < workload.GetCommunications().size(); ++id)
    {
        const auto& communication = workload.GetCommunications()[id];
        if (!added.emplace(communication.group, communication.plan).second || !parts.IsDivided(id))
        {
            continue;
        }
        const auto& ends = parts.GetEnds(id);
        const auto [found, isNew] = known.try_emplace(&ends);
        if (isNew)
        {
            found->second = ends.FindDemands();
        }
        SharedPlan placed{*workload.GetPlan(id),
                          ends,
                          job.name + ": " + workload.GetLabel(communication.label),
                          {}};
        for (const auto rank : workload.GetGroup(id))
        {
            placed.endpointOf.push_back(job.endpointOf[rank]);
        }
        AddNotices(placed, found->second, serverOf, notices);
        // A rank begins when what it does before is done.
        AddObstacle(placed.name, found->second.needsStarts, notices);
    }
}

} // namespace

std::vector<uint32_t>
FindParts(const std::vector<uint32_t>& endpointOf,
          const ResolvedRun& run,
          const TopologyDivision& division)
{
    std::vector<uint32_t> partOf;
    partOf.reserve(endpointOf.size());
    for (const auto endpoint : endpointOf)
    {
        partOf.push_back(division.partOf[run.topology->GetEndpoints()[endpoint]]);
    }
    return partOf;
}

RunNotices
FindNotices(const ResolvedRun& run, const PlannedRun& planned, const TopologyDivision& division)
{
    RunNotices notices;
    const auto serverOf = FindFluidServers(run);
    for (size_t i = 0; i < run.jobs.size(); ++i)
    {
        const auto job = MakeJob(run.jobs[i], planned.jobs[i], run);
        const DistantEnds ends(*job.plan,
                               FindParts(job.endpointOf, run, division),
                               job.reduceSecondsPerByte,
                               job.maxOutstandingSends != 0);
        const auto name = DescribeScheme(run.jobs[i]);
        const auto demands = ends.FindDemands();
        AddNotices({*job.plan, ends, name, job.endpointOf}, demands, serverOf, notices);
        if (HasStragglers(run))
        {
            AddObstacle(name, demands.needsStarts, notices);
        }
    }
    for (size_t i = 0; i < run.trainings.size(); ++i)
    {
        const auto job = MakeTraining(run.trainings[i], planned.trainings[i], run);
        AddTrainingNotices(job, FindParts(job.endpointOf, run, division), serverOf, notices);
    }
    return notices;
}

Time
AnnounceArrivals(const RunNotices& notices, DividedTransport& transport)
{
    const auto ahead = transport.Announce(notices.endpoints);
    return std::min(ahead, notices.leastWork.value_or(ahead));
}

} // namespace ns3::gradsync
