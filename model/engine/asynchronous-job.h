// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ASYNCHRONOUS_JOB_H
#define GRADSYNC_ASYNCHRONOUS_JOB_H

#include "ns3/nstime.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// A part of a job that so many of its workers do (FlexPS: Huang et al., VLDB'18, section 3).
struct AsynchronousStage
{
    uint32_t workers{1};           //!< the first ones of the job
    uint32_t steps{1};             //!< of each
    Time compute;                  //!< a step of each
    std::vector<Time> computeOf{}; //!< [worker]: in place of `compute`; empty: all take that

    Time GetCompute(uint32_t worker) const
    {
        return computeOf.empty() ? compute : computeOf[worker];
    }
};

/**
 * A job whose workers push and pull the shards of parameter servers on their own (DistBelief's
 * Downpour SGD: Dean et al., NeurIPS'12, section 4.1).
 *
 * Its ranks are the workers, then the dedicated servers, each of which has one shard.
 */
struct AsynchronousJob
{
    std::string name;
    uint32_t workers{1};
    uint32_t servers{1}; //!< dedicated ones; 0: every worker also serves one shard
    uint64_t bytes{1};   //!< of the gradient, and of the parameters
    std::vector<AsynchronousStage> stages;
    uint32_t pushEvery{1};  //!< steps: n_push; and after the last of a stage
    uint32_t fetchEvery{1}; //!< steps: n_fetch
    /// A worker goes on while it fetches, and waits only for one fetch before the next one, and
    /// for what the bound asks (DistBelief, algorithm 7.1).
    bool overlapsFetches{false};
    /// A worker begins no step that is more than so many ahead of what has been applied of the
    /// slowest one (stale-synchronous: Ho et al., NeurIPS'13); nothing: no bound.
    std::optional<uint32_t> bound;
    uint64_t requestBytes{64};        //!< with which a worker asks a server, where no push does
    std::vector<uint32_t> endpointOf; //!< [rank] -> endpoint index; distinct
    Time start;                       //!< when the first step starts
    double reduceSecondsPerByte{0.0}; //!< as Job has it, to apply an update
    Time timeout;                     //!< of an iteration; 0: no limit
};

/// Of the model: of the servers, or of the workers where these serve.
uint32_t CountShards(const AsynchronousJob& job);

/// Bytes of each.
std::vector<uint64_t> ListShardBytes(const AsynchronousJob& job);

/// The rank that serves a shard.
uint32_t GetServerRank(const AsynchronousJob& job, uint32_t shard);

/// Bytes of pushes and of the fetches that are due by `fetchEvery`; others depend on the run.
uint64_t CountTransferBytes(const AsynchronousJob& job);

/// \throws std::invalid_argument when its parts do not fit together
void CheckJob(const AsynchronousJob& job);

/// An update that all servers have applied, as the trace source reports it.
struct UpdateRecord
{
    uint32_t job;
    uint32_t stage;
    uint32_t worker;
    uint32_t clock; //!< steps of the worker in this stage that have been applied
    /// Updates of others since the servers sent the parameters that its last step was computed
    /// with: the most of all shards.
    uint32_t staleness;
    uint32_t ahead; //!< steps that the slowest worker is behind this one, as applied
    Time time;
};

/// A step after which a worker waits for nothing more, as the trace source reports it.
struct WorkerStepRecord
{
    uint32_t job;
    uint32_t stage;
    uint32_t worker;
    uint32_t step; //!< of this stage, from 1
    Time start;    //!< the one before has ended, or the stage begins
    Time compute;  //!< for so long it computed
    Time held;     //!< for so long servers held its fetch for the bound
    Time end;
    uint32_t fetches;  //!< that it began
    uint32_t requests; //!< of these, asked for by no push
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ASYNCHRONOUS_JOB_H
