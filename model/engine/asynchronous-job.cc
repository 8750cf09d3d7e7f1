// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/asynchronous-job.h"

#include "ns3/chunk-layout.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

void
CheckStage(const AsynchronousJob& job, const AsynchronousStage& stage)
{
    if (stage.workers == 0 || stage.workers > job.workers || stage.steps == 0 ||
        stage.compute.IsStrictlyNegative())
    {
        throw std::invalid_argument(
            fmt::format("job \"{}\": a stage has 1 to {} workers, at least one step, and no "
                        "negative times",
                        job.name,
                        job.workers));
    }
    const auto& own = stage.computeOf;
    if (!own.empty() && (own.size() < stage.workers || std::ranges::any_of(own, [](const Time& of) {
                             return of.IsStrictlyNegative();
                         })))
    {
        throw std::invalid_argument(
            fmt::format("job \"{}\": a stage has a time for each of its {} workers, none negative",
                        job.name,
                        stage.workers));
    }
}

} // namespace

uint32_t
CountShards(const AsynchronousJob& job)
{
    return job.servers > 0 ? job.servers : job.workers;
}

std::vector<uint64_t>
ListShardBytes(const AsynchronousJob& job)
{
    const auto shards = ChunkLayout::Even(job.bytes, CountShards(job), 4);
    std::vector<uint64_t> bytes;
    for (uint32_t shard = 0; shard < shards.GetChunkCount(); ++shard)
    {
        bytes.push_back(shards.GetBytes(shard, 1));
    }
    return bytes;
}

uint32_t
GetServerRank(const AsynchronousJob& job, uint32_t shard)
{
    return job.servers > 0 ? job.workers + shard : shard;
}

uint64_t
CountTransferBytes(const AsynchronousJob& job)
{
    const auto shards = ListShardBytes(job);
    uint64_t bytes = 0;
    for (const auto& stage : job.stages)
    {
        const auto pushes = (stage.steps + job.pushEvery - 1) / job.pushEvery;
        const auto fetches = stage.steps / job.fetchEvery;
        for (uint32_t worker = 0; worker < stage.workers; ++worker)
        {
            const auto own = job.servers > 0 ? 0 : shards[worker];
            bytes += (uint64_t{pushes} + fetches) * (job.bytes - own);
        }
    }
    return bytes;
}

void
CheckJob(const AsynchronousJob& job)
{
    const auto fail = [&job](const std::string& what) {
        throw std::invalid_argument(fmt::format("job \"{}\": {}", job.name, what));
    };
    if (job.workers == 0 || job.stages.empty() || job.bytes == 0 || job.requestBytes == 0)
    {
        fail("it has at least one worker, stage and byte");
    }
    if (job.servers == 0 && job.workers == 1)
    {
        fail("one worker that is its own server has nobody to exchange with");
    }
    for (const auto& stage : job.stages)
    {
        CheckStage(job, stage);
    }
    if (job.pushEvery == 0 || job.fetchEvery == 0)
    {
        fail("workers push and fetch every so many steps, at least 1");
    }
    if (job.bound && *job.bound + 1 < job.pushEvery)
    {
        fail(
            fmt::format("a bound of {} steps with a push every {} is a deadlock: all wait for what "
                        "nobody has pushed",
                        *job.bound,
                        job.pushEvery));
    }
    if (job.endpointOf.size() != size_t{job.workers} + job.servers)
    {
        fail(fmt::format("it has {} workers and {} servers, but {} endpoints are given",
                         job.workers,
                         job.servers,
                         job.endpointOf.size()));
    }
    auto sorted = job.endpointOf;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    {
        fail(fmt::format("endpoint {} is given to two ranks", *twice));
    }
    if (job.start.IsStrictlyNegative() || job.timeout.IsStrictlyNegative() ||
        !(job.reduceSecondsPerByte >= 0))
    {
        fail("start, timeout and reduce times must not be negative");
    }
}

} // namespace ns3::gradsync
