// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/asynchronous-job.h"

#include "ns3/plan-builder.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t WORKER = 0;

enum class Direction : uint8_t
{
    Push,
    Pull,
    Request
};

/// A shard to or from each server.
std::shared_ptr<const Plan>
MakeShardPlan(uint32_t servers, const ChunkLayout& layout, Direction direction)
{
    std::vector<uint32_t> ranks(servers);
    std::iota(ranks.begin(), ranks.end(), 1);
    const bool isPull = direction == Direction::Pull;
    auto collective =
        isPull ? Collective("pull", ranks, {WORKER}) : Collective("push", {WORKER}, ranks);
    PlanBuilder builder(servers + 1, servers + 1, layout, std::move(collective));
    for (uint32_t shard = 0; shard < servers; ++shard)
    {
        const auto server = shard + 1;
        if (layout.GetBytes(shard, 1) == 0)
        {
            continue;
        }
        switch (direction)
        {
        case Direction::Push:
            builder.AddReduce(WORKER, server, shard, 1, shard);
            break;
        case Direction::Pull:
            builder.AddCopy(server, WORKER, shard, 1, shard);
            break;
        case Direction::Request:
            builder.AddCopy(WORKER, server, shard, 1, shard);
            break;
        }
    }
    return std::make_shared<const Plan>(builder.Build());
}

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
}

} // namespace

AsynchronousPlans
MakePlans(const AsynchronousJob& job)
{
    const auto shards = ChunkLayout::Even(job.bytes, job.servers, 4);
    const auto requests = ChunkLayout::Even(job.requestBytes * job.servers, job.servers, 1);
    return {MakeShardPlan(job.servers, shards, Direction::Push),
            MakeShardPlan(job.servers, shards, Direction::Pull),
            MakeShardPlan(job.servers, requests, Direction::Request)};
}

uint64_t
CountTransferBytes(const AsynchronousJob& job)
{
    uint64_t bytes = 0;
    for (const auto& stage : job.stages)
    {
        const auto pushes = (stage.steps + job.pushEvery - 1) / job.pushEvery;
        const auto fetches = stage.steps / job.fetchEvery;
        bytes += uint64_t{stage.workers} * (uint64_t{pushes} + fetches) * job.bytes;
    }
    return bytes;
}

void
CheckJob(const AsynchronousJob& job)
{
    const auto fail = [&job](const std::string& what) {
        throw std::invalid_argument(fmt::format("job \"{}\": {}", job.name, what));
    };
    if (job.workers == 0 || job.servers == 0 || job.stages.empty() || job.bytes == 0 ||
        job.requestBytes == 0)
    {
        fail("it has at least one worker, server, stage and byte");
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
    if (job.start.IsStrictlyNegative() || !(job.reduceSecondsPerByte >= 0))
    {
        fail("start and reduce times must not be negative");
    }
}

} // namespace ns3::gradsync
