// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/asynchronous-summary.h"

#include "ns3/group-finder.h"
#include "ns3/run-result.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>

namespace ns3::gradsync
{

AsynchronousSummary
SummariseAsynchronous(const RunResult& result)
{
    AsynchronousSummary summary;
    uint64_t staleness = 0;
    uint64_t workers = 0;
    Time held;
    for (const auto& asynchronous : result.asynchronous)
    {
        for (const auto& worker : asynchronous.workers)
        {
            summary.steps += worker.steps;
            summary.updates += worker.updates;
            summary.mostStaleness = std::max(summary.mostStaleness, worker.mostStaleness);
            summary.mostAhead = std::max(summary.mostAhead, worker.mostAhead);
            staleness += worker.stalenessSum;
            held += worker.held;
            workers += worker.steps > 0 ? 1 : 0;
        }
        if (asynchronous.fullTime.IsStrictlyPositive())
        {
            summary.stepsPerSecond +=
                static_cast<double>(asynchronous.fullSteps) / asynchronous.fullTime.GetSeconds();
        }
    }
    if (summary.updates > 0)
    {
        summary.meanStaleness =
            static_cast<double>(staleness) / static_cast<double>(summary.updates);
    }
    if (workers > 0)
    {
        summary.heldPs = held.GetPicoSeconds() / static_cast<int64_t>(workers);
    }
    return summary;
}

uint64_t
CountCrossRackBytes(const AsynchronousResult& asynchronous, const RunResult& result)
{
    const auto& job = asynchronous.spec;
    const auto racks = FindRacks(*result.topology, job.endpointOf);
    const auto shards = ListShardBytes(job);
    uint64_t bytes = 0;
    for (size_t worker = 0; worker < asynchronous.workers.size(); ++worker)
    {
        const auto& totals = asynchronous.workers[worker];
        for (uint32_t shard = 0; shard < shards.size(); ++shard)
        {
            if (racks.groupOf[GetServerRank(job, shard)] != racks.groupOf[worker])
            {
                bytes += (totals.updates + totals.fetches) * shards[shard] +
                         totals.requests * job.requestBytes;
            }
        }
    }
    return bytes;
}

std::vector<std::string>
DescribeAsynchronous(const AsynchronousSummary& summary)
{
    if (summary.steps == 0)
    {
        return {};
    }
    return {fmt::format("{} updates, staleness {:.2f} on average and {} at most, at most {} steps "
                        "ahead; {:.6g} steps/s; a worker is held for the bound for {:.6f} ms",
                        summary.updates,
                        summary.meanStaleness,
                        summary.mostStaleness,
                        summary.mostAhead,
                        summary.stepsPerSecond,
                        static_cast<double>(summary.heldPs) / 1e9)};
}

} // namespace ns3::gradsync
