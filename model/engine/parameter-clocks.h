// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PARAMETER_CLOCKS_H
#define GRADSYNC_PARAMETER_CLOCKS_H

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * What the servers of a model's shards know of its workers: how many steps of each they have
 * applied (its clock), and how many updates of whom.
 */
class ParameterClocks
{
  public:
    ParameterClocks(uint32_t workers, uint32_t shards)
        : m_shards(shards, Shard{0, 0, 0, std::vector<Entry>(workers)})
    {
    }

    /// Steps are counted from 0 again, of these workers; parameters stay as they are.
    void Begin(std::vector<uint32_t> active)
    {
        m_active = std::move(active);
        for (auto& shard : m_shards)
        {
            for (auto& entry : shard.workers)
            {
                entry.clock = 0;
            }
            FindSlowest(shard);
        }
    }

    /// A worker is not waited for any more.
    void Drop(uint32_t worker)
    {
        std::erase(m_active, worker);
        for (auto& shard : m_shards)
        {
            FindSlowest(shard);
        }
    }

    /// A shard applies an update that brings an active worker to that clock.
    void Apply(uint32_t shard, uint32_t worker, uint32_t clock)
    {
        auto& of = m_shards[shard];
        auto& entry = of.workers[worker];
        ++of.updates;
        ++entry.updates;
        const bool wasSlowest = std::exchange(entry.clock, clock) == of.slowest;
        // Looked for once for all workers: when the last of the slowest goes on.
        if (wasSlowest && --of.slowestCount == 0)
        {
            FindSlowest(of);
        }
    }

    /// Updates of others that a shard has applied.
    uint32_t CountOthers(uint32_t shard, uint32_t worker) const
    {
        return m_shards[shard].updates - m_shards[shard].workers[worker].updates;
    }

    /// The least clock of the active workers at a shard; without any UINT32_MAX.
    uint32_t GetSlowest(uint32_t shard) const
    {
        return m_shards[shard].slowest;
    }

  private:
    struct Entry
    {
        uint32_t clock{0};
        uint32_t updates{0};
    };

    struct Shard
    {
        uint32_t updates; //!< applied, of all workers
        uint32_t slowest;
        uint32_t slowestCount; //!< workers that have this clock
        std::vector<Entry> workers;
    };

    void FindSlowest(Shard& shard) const
    {
        shard.slowest = UINT32_MAX;
        for (const auto worker : m_active)
        {
            shard.slowest = std::min(shard.slowest, shard.workers[worker].clock);
        }
        shard.slowestCount =
            static_cast<uint32_t>(std::ranges::count_if(m_active, [&shard](uint32_t worker) {
                return shard.workers[worker].clock == shard.slowest;
            }));
    }

    std::vector<Shard> m_shards;
    std::vector<uint32_t> m_active;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PARAMETER_CLOCKS_H
