// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SHARD_PLANS_H
#define GRADSYNC_SHARD_PLANS_H

#include "ns3/asynchronous-job.h"
#include "ns3/plan.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/// What a worker and the servers send each other. Rank 0 is the worker, then come the servers.
struct AsynchronousPlans
{
    std::shared_ptr<const Plan> push;
    std::shared_ptr<const Plan> pull;
    std::shared_ptr<const Plan> request;
};

/**
 * The plans of an asynchronous job, and which shards their ranks serve.
 *
 * The shard that a worker serves itself is in none of its own. So that workers share plans all the
 * same, servers then stand in the order of the sizes of their shards: who leaves out a shard of
 * the same size has the same plans.
 */
class ShardPlans
{
  public:
    /// \param job outlives it
    explicit ShardPlans(const AsynchronousJob& job);

    uint32_t GetShardCount() const;

    /// The shard that a worker serves itself.
    std::optional<uint32_t> FindOwnShard(uint32_t worker) const;

    const AsynchronousPlans& Get(uint32_t worker);

    /// The ranks of the job, [rank of its plans].
    std::vector<uint32_t> ListRanks(uint32_t worker) const;

    /// The shard that a rank of its plans serves, and back. \param member above 0
    uint32_t GetShard(uint32_t worker, uint32_t member) const;
    uint32_t GetMember(uint32_t worker, uint32_t shard) const;

  private:
    AsynchronousPlans Make(std::optional<uint32_t> without) const;

    const AsynchronousJob& m_job;
    std::vector<uint64_t> m_bytes;                 //!< [shard]
    std::vector<uint32_t> m_order;                 //!< [place] -> shard
    std::vector<uint32_t> m_placeOf;               //!< [shard] -> place
    std::map<uint64_t, AsynchronousPlans> m_plans; //!< by the bytes of the shard that is left out
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SHARD_PLANS_H
