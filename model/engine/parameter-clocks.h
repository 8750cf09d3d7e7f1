// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PARAMETER_CLOCKS_H
#define GRADSYNC_PARAMETER_CLOCKS_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * What the servers of a model's shards know of its workers: how many steps of each they have
 * applied (its clock), and how old the parameters were that an update was computed with.
 */
class ParameterClocks
{
  public:
    ParameterClocks(uint32_t workers, uint32_t shards)
        : m_shards(shards, Shard{0, std::vector<Entry>(workers)})
    {
    }

    /**
     * A shard applies an update that brings a worker to that clock.
     * \returns updates of others since the worker fetched the shard
     */
    uint32_t Apply(uint32_t shard, uint32_t worker, uint32_t clock)
    {
        auto& of = m_shards[shard];
        auto& entry = of.workers[worker];
        entry.clock = clock;
        const auto others = of.version - entry.fetched - entry.own;
        ++of.version;
        ++entry.own;
        return others;
    }

    /// A worker gets the shard as it is.
    void Fetch(uint32_t shard, uint32_t worker)
    {
        auto& entry = m_shards[shard].workers[worker];
        entry.fetched = m_shards[shard].version;
        entry.own = 0;
    }

    /// The least clock of some workers at a shard. \param workers at least one
    uint32_t GetSlowest(uint32_t shard, const std::vector<uint32_t>& workers) const
    {
        auto slowest = UINT32_MAX;
        for (const auto worker : workers)
        {
            slowest = std::min(slowest, m_shards[shard].workers[worker].clock);
        }
        return slowest;
    }

    /// Steps are counted from 0 again; parameters stay as they are.
    void ResetClocks()
    {
        for (auto& shard : m_shards)
        {
            for (auto& entry : shard.workers)
            {
                entry.clock = 0;
            }
        }
    }

  private:
    struct Entry
    {
        uint32_t clock{0};
        uint32_t fetched{0}; //!< version of the shard
        uint32_t own{0};     //!< updates of this worker since then
    };

    struct Shard
    {
        uint32_t version; //!< updates applied
        std::vector<Entry> workers;
    };

    std::vector<Shard> m_shards;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PARAMETER_CLOCKS_H
