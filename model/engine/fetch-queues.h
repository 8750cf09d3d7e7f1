// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FETCH_QUEUES_H
#define GRADSYNC_FETCH_QUEUES_H

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace ns3::gradsync
{

/// The fetches of workers, of each of which there is one at most, and which of them each shard has
/// been asked for and has not answered.
class FetchQueues
{
  public:
    FetchQueues(uint32_t workers, uint32_t shards)
        : m_pulls(workers),
          m_waiting(shards)
    {
    }

    void Open(uint32_t worker, uint32_t pull)
    {
        m_pulls[worker] = pull;
    }

    /// Its number; nothing: none is under way.
    std::optional<uint32_t> Find(uint32_t worker) const
    {
        return m_pulls[worker];
    }

    /// The shard may answer.
    void Ask(uint32_t worker, uint32_t shard)
    {
        m_waiting[shard].insert(worker);
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

    void Answer(uint32_t worker, uint32_t shard)
    {
        m_waiting[shard].erase(worker);
    }

    /// All shards have answered.
    void Close(uint32_t worker)
    {
        m_pulls[worker].reset();
    }

    /// Nobody waits for an answer any more.
    void Drop(uint32_t worker)
    {
        Close(worker);
        for (auto& waiting : m_waiting)
        {
            waiting.erase(worker);
        }
    }

  private:
    std::vector<std::optional<uint32_t>> m_pulls; //!< [worker]
    std::vector<std::set<uint32_t>> m_waiting;    //!< [shard]
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FETCH_QUEUES_H
