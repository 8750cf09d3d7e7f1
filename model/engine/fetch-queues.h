// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FETCH_QUEUES_H
#define GRADSYNC_FETCH_QUEUES_H

#include "ns3/nstime.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// Of each shard, how many updates of others than a worker it had applied.
using OthersUpdates = std::vector<uint32_t>;

/// What a worker waits for from all shards.
struct ParameterFetch
{
    uint32_t pull;                           //!< its number
    uint32_t step;                           //!< that the worker has computed
    bool blocks;                             //!< the worker does nothing before it has it
    uint32_t slowest{UINT32_MAX};            //!< clock of the slowest worker, as the answers tell
    std::shared_ptr<OthersUpdates> others{}; //!< when they were given
    Time lastAsked{};                        //!< the last shard may answer
    Time lastAnswered{};                     //!< the last shard answers

    /// For so long servers held it.
    Time GetHeld() const
    {
        return std::max(lastAnswered - lastAsked, Time(0));
    }
};

/// What a shard knows when it answers.
struct ShardAnswer
{
    uint32_t slowest; //!< clock of a worker
    uint32_t others;  //!< updates of others than who asks
    Time time;
};

/// The fetches of workers, of each of which there is one at most, and which of them each shard has
/// been asked for and has not answered.
class FetchQueues
{
  public:
    FetchQueues(uint32_t workers, uint32_t shards)
        : m_fetches(workers),
          m_waiting(shards)
    {
    }

    void Open(uint32_t worker, ParameterFetch fetch)
    {
        fetch.others = std::make_shared<OthersUpdates>(m_waiting.size());
        m_fetches[worker] = std::move(fetch);
    }

    /// nullptr: none is under way.
    const ParameterFetch* Find(uint32_t worker) const
    {
        return m_fetches[worker] ? &*m_fetches[worker] : nullptr;
    }

    /// The shard may answer.
    void Ask(uint32_t worker, uint32_t shard, const Time& now)
    {
        m_waiting[shard].insert(worker);
        m_fetches[worker]->lastAsked = now;
    }

    bool IsWaiting(uint32_t worker, uint32_t shard) const
    {
        return m_waiting[shard].contains(worker);
    }

    /// Whom the shard has not answered, ascending: a copy, as answers change it.
    std::vector<uint32_t> ListWaiting(uint32_t shard) const
    {
        return {m_waiting[shard].begin(), m_waiting[shard].end()};
    }

    void Answer(uint32_t worker, uint32_t shard, const ShardAnswer& answer)
    {
        m_waiting[shard].erase(worker);
        auto& fetch = *m_fetches[worker];
        fetch.slowest = std::min(fetch.slowest, answer.slowest);
        (*fetch.others)[shard] = answer.others;
        fetch.lastAnswered = answer.time;
    }

    /// All shards have answered.
    ParameterFetch Close(uint32_t worker)
    {
        return *std::exchange(m_fetches[worker], std::nullopt);
    }

    /// Nobody waits for an answer any more.
    void Drop(uint32_t worker)
    {
        m_fetches[worker].reset();
        for (auto& waiting : m_waiting)
        {
            waiting.erase(worker);
        }
    }

  private:
    std::vector<std::optional<ParameterFetch>> m_fetches; //!< [worker]
    std::vector<std::set<uint32_t>> m_waiting;            //!< [shard]
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FETCH_QUEUES_H
