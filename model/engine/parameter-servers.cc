// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/parameter-servers.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

ParameterServers::ParameterServers(const AsynchronousJob& job, Observer& observer)
    : m_job(job),
      m_observer(observer),
      m_shards(CountShards(job)),
      m_clocks(job.workers, m_shards),
      m_fetches(job.workers, m_shards)
{
}

void
ParameterServers::Begin(std::vector<uint32_t> workers)
{
    m_clocks.Begin(std::move(workers));
}

void
ParameterServers::Expect(uint32_t worker, const Wish& wish)
{
    m_fetches.Open(worker, {wish.pull, wish.step, wish.blocks});
}

bool
ParameterServers::IsAsked(uint32_t worker) const
{
    return m_fetches.Find(worker) != nullptr;
}

void
ParameterServers::Take(ShardTransfer& transfer, uint32_t shard)
{
    const auto worker = transfer.worker;
    const auto asks = transfer.asks;
    if (transfer.kind == ShardTransferKind::Push)
    {
        Apply(transfer, shard);
    }
    const auto* fetch = m_fetches.Find(worker);
    if (asks && fetch && fetch->pull == *asks)
    {
        m_fetches.Ask(worker, shard, Simulator::Now());
    }
    Answer(shard);
}

void
ParameterServers::Apply(ShardTransfer& push, uint32_t shard)
{
    const auto others = m_clocks.CountOthers(shard, push.worker) - (*push.others)[shard];
    push.staleness = std::max(push.staleness, others);
    m_clocks.Apply(shard, push.worker, push.clock);
    if (++push.applied == m_shards)
    {
        m_observer.OnApplied(push, m_clocks.GetSlowest(shard));
    }
}

/// Whom the shard may answer now.
void
ParameterServers::Answer(uint32_t shard)
{
    for (const auto worker : m_fetches.ListWaiting(shard))
    {
        if (!m_fetches.IsWaiting(worker, shard))
        {
            continue; // answered or lost meanwhile
        }
        const auto slowest = m_clocks.GetSlowest(shard);
        const auto& fetch = *m_fetches.Find(worker);
        if (!m_job.bound || !fetch.blocks || uint64_t{slowest} + *m_job.bound >= fetch.step)
        {
            const auto pull = fetch.pull;
            const auto others = m_clocks.CountOthers(shard, worker);
            m_fetches.Answer(worker, shard, {slowest, others, Simulator::Now()});
            m_observer.OnAnswer(pull, shard);
        }
    }
}

ParameterFetch
ParameterServers::Close(uint32_t worker)
{
    return m_fetches.Close(worker);
}

void
ParameterServers::Drop(uint32_t worker)
{
    m_clocks.Drop(worker);
    m_fetches.Drop(worker);
}

void
ParameterServers::AnswerAll()
{
    for (uint32_t shard = 0; shard < m_shards; ++shard)
    {
        Answer(shard);
    }
}

} // namespace ns3::gradsync
