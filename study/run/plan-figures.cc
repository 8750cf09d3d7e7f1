// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-figures.h"

#include "ns3/group-finder.h"
#include "ns3/plan-statistics.h"
#include "ns3/round-counter.h"

namespace ns3::gradsync
{

namespace
{

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

} // namespace

std::vector<PlanFigures>
CountPlans(const RunResult& result, uint32_t own, uint32_t processes)
{
    std::vector<PlanFigures> figures;
    uint32_t turn = 0; // of the process that counts next
    const auto isOwn = [own, processes, &turn] { return turn++ % processes == own; };
    for (const auto& job : result.jobs)
    {
        for (const auto& executed : job.plans)
        {
            auto& plan = figures.emplace_back();
            if (isOwn())
            {
                const auto endpoints = GetEndpoints(job, executed);
                const auto traffic =
                    CountPlanTraffic(*executed.plan, {{FindRacks(*result.topology, endpoints)}});
                plan.crossRackBytes = traffic.crossings.front().bytes;
                plan.peakReceivedBytes = traffic.GetPeakReceivedBytes();
            }
            if (isOwn())
            {
                plan.longestChain = RoundCounter(*executed.plan).Count().size();
            }
        }
    }
    return figures;
}

ByteBatch
PackFigures(std::span<const PlanFigures> figures)
{
    ByteBatch batch;
    AppendList(batch, figures);
    return batch;
}

std::vector<PlanFigures>
MergeFigures(std::span<const ByteBatch> batches)
{
    std::vector<PlanFigures> figures;
    for (const auto& bytes : batches)
    {
        BatchReader batch(bytes);
        const auto counted = batch.TakeList<PlanFigures>();
        figures.resize(counted.size());
        for (size_t i = 0; i < counted.size(); ++i)
        {
            figures[i].crossRackBytes += counted[i].crossRackBytes;
            figures[i].peakReceivedBytes += counted[i].peakReceivedBytes;
            figures[i].longestChain += counted[i].longestChain;
        }
    }
    return figures;
}

} // namespace ns3::gradsync
