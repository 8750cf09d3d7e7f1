// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/run-notices.h"

#include "ns3/distant-ends.h"
#include "ns3/workload-parts.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Adds those of a plan. \param name of its job \param endpointOf [rank of the plan]
void
Add(const DistantEnds::Demands& demands,
    const std::string& name,
    const std::vector<uint32_t>& endpointOf,
    RunNotices& notices)
{
    notices.areAny = notices.areAny || demands.areAny;
    for (const auto rank : demands.receivers)
    {
        notices.endpoints.push_back(endpointOf[rank]);
    }
    if (demands.leastWork)
    {
        notices.leastWork =
            std::min(*demands.leastWork, notices.leastWork.value_or(*demands.leastWork));
    }
    if (!demands.obstacle.empty() && !notices.obstacle)
    {
        notices.obstacle = {name, demands.obstacle};
    }
}

/// Of all communications that are divided.
void
AddTraining(const TrainingJob& job, std::vector<uint32_t> partOf, RunNotices& notices)
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
        std::vector<uint32_t> endpointOf;
        for (const auto rank : workload.GetGroup(id))
        {
            endpointOf.push_back(job.endpointOf[rank]);
        }
        Add(found->second,
            job.name + ": " + workload.GetLabel(communication.label),
            endpointOf,
            notices);
    }
}

} // namespace

std::vector<uint32_t>
FindParts(const std::vector<uint32_t>& endpointOf,
          const ResolvedRun& run,
          const TopologyDivision& division)
{
    std::vector<uint32_t> partOf;
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
    for (size_t i = 0; i < run.jobs.size(); ++i)
    {
        const auto job = MakeJob(run.jobs[i], planned.jobs[i], run);
        const DistantEnds ends(*job.plan,
                               FindParts(job.endpointOf, run, division),
                               job.reduceSecondsPerByte,
                               job.maxOutstandingSends != 0);
        Add(ends.FindDemands(), DescribeScheme(run.jobs[i]), job.endpointOf, notices);
    }
    for (size_t i = 0; i < run.trainings.size(); ++i)
    {
        const auto job = MakeTraining(run.trainings[i], planned.trainings[i], run);
        AddTraining(job, FindParts(job.endpointOf, run, division), notices);
    }
    std::ranges::sort(notices.endpoints);
    const auto twice = std::ranges::unique(notices.endpoints);
    notices.endpoints.erase(twice.begin(), twice.end());
    return notices;
}

Time
AnnounceArrivals(const RunNotices& notices, DividedTransport& transport)
{
    const auto ahead = transport.Announce(notices.endpoints);
    return std::min(ahead, notices.leastWork.value_or(ahead));
}

} // namespace ns3::gradsync
