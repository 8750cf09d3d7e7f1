// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/shard-plans.h"

#include "ns3/plan-builder.h"

#include <algorithm>
#include <numeric>
#include <utility>

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

/// So many bytes to or from each server.
std::shared_ptr<const Plan>
MakeShardPlan(const std::vector<uint64_t>& bytes, Direction direction)
{
    const auto servers = static_cast<uint32_t>(bytes.size());
    std::vector<uint32_t> ranks(servers);
    std::iota(ranks.begin(), ranks.end(), 1);
    const bool isPull = direction == Direction::Pull;
    auto collective =
        isPull ? Collective("pull", ranks, {WORKER}) : Collective("push", {WORKER}, ranks);
    PlanBuilder builder(servers + 1,
                        servers + 1,
                        ChunkLayout::FromSizes(bytes),
                        std::move(collective));
    for (uint32_t place = 0; place < servers; ++place)
    {
        const auto server = place + 1;
        if (bytes[place] == 0)
        {
            continue;
        }
        switch (direction)
        {
        case Direction::Push:
            builder.AddReduce(WORKER, server, place, 1, place);
            break;
        case Direction::Pull:
            builder.AddCopy(server, WORKER, place, 1, place);
            break;
        case Direction::Request:
            builder.AddCopy(WORKER, server, place, 1, place);
            break;
        }
    }
    return std::make_shared<const Plan>(builder.Build());
}

} // namespace

ShardPlans::ShardPlans(const AsynchronousJob& job)
    : m_job(job),
      m_bytes(ListShardBytes(job)),
      m_order(m_bytes.size()),
      m_placeOf(m_bytes.size())
{
    std::iota(m_order.begin(), m_order.end(), 0);
    if (job.servers == 0)
    {
        std::ranges::stable_sort(m_order, {}, [this](uint32_t shard) { return m_bytes[shard]; });
    }
    for (uint32_t place = 0; place < m_order.size(); ++place)
    {
        m_placeOf[m_order[place]] = place;
    }
}

uint32_t
ShardPlans::GetShardCount() const
{
    return static_cast<uint32_t>(m_bytes.size());
}

std::optional<uint32_t>
ShardPlans::FindOwnShard(uint32_t worker) const
{
    return m_job.servers == 0 ? std::optional(worker) : std::nullopt;
}

const AsynchronousPlans&
ShardPlans::Get(uint32_t worker)
{
    const auto own = FindOwnShard(worker);
    const auto [found, isNew] = m_plans.try_emplace(own ? m_bytes[*own] : 0);
    if (isNew)
    {
        found->second = Make(own);
    }
    return found->second;
}

AsynchronousPlans
ShardPlans::Make(std::optional<uint32_t> without) const
{
    std::vector<uint64_t> shards;
    for (const auto shard : m_order)
    {
        if (shard != without)
        {
            shards.push_back(m_bytes[shard]);
        }
    }
    const std::vector<uint64_t> requests(shards.size(), m_job.requestBytes);
    return {MakeShardPlan(shards, Direction::Push),
            MakeShardPlan(shards, Direction::Pull),
            MakeShardPlan(requests, Direction::Request)};
}

std::vector<uint32_t>
ShardPlans::ListRanks(uint32_t worker) const
{
    std::vector<uint32_t> ranks{worker};
    const auto own = FindOwnShard(worker);
    for (const auto shard : m_order)
    {
        if (shard != own)
        {
            ranks.push_back(GetServerRank(m_job, shard));
        }
    }
    return ranks;
}

uint32_t
ShardPlans::GetShard(uint32_t worker, uint32_t member) const
{
    const auto own = FindOwnShard(worker);
    const auto place = member - 1;
    return m_order[own && place >= m_placeOf[*own] ? place + 1 : place];
}

uint32_t
ShardPlans::GetMember(uint32_t worker, uint32_t shard) const
{
    const auto own = FindOwnShard(worker);
    const auto place = m_placeOf[shard];
    return own && place > m_placeOf[*own] ? place : place + 1;
}

} // namespace ns3::gradsync
