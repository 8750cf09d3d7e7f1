// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/run-notices.h"

#include "ns3/distant-ends.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ns3::gradsync
{

namespace
{

DistantEnds::Demands
FindDemands(const Job& job, const ResolvedRun& run, const TopologyDivision& division)
{
    std::vector<uint32_t> partOf;
    for (const auto endpoint : job.endpointOf)
    {
        partOf.push_back(division.partOf[run.topology->GetEndpoints()[endpoint]]);
    }
    return DistantEnds(*job.plan,
                       std::move(partOf),
                       job.reduceSecondsPerByte,
                       job.maxOutstandingSends != 0)
        .FindDemands();
}

} // namespace

RunNotices
FindNotices(const ResolvedRun& run, const PlannedRun& planned, const TopologyDivision& division)
{
    RunNotices notices;
    std::set<uint32_t> endpoints;
    for (size_t i = 0; i < run.jobs.size(); ++i)
    {
        const auto job = MakeJob(run.jobs[i], planned.jobs[i], run);
        const auto demands = FindDemands(job, run, division);
        notices.areAny = notices.areAny || demands.areAny;
        for (const auto rank : demands.receivers)
        {
            endpoints.insert(job.endpointOf[rank]);
        }
        if (demands.leastWork)
        {
            notices.leastWork =
                std::min(*demands.leastWork, notices.leastWork.value_or(*demands.leastWork));
        }
        if (!demands.obstacle.empty() && !notices.obstacle)
        {
            notices.obstacle = {i, demands.obstacle};
        }
    }
    notices.endpoints.assign(endpoints.begin(), endpoints.end());
    return notices;
}

Time
AnnounceArrivals(const RunNotices& notices, DividedTransport& transport)
{
    const auto ahead = transport.Announce(notices.endpoints);
    return std::min(ahead, notices.leastWork.value_or(ahead));
}

} // namespace ns3::gradsync
