// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ASYNCHRONOUS_JOB_H
#define GRADSYNC_ASYNCHRONOUS_JOB_H

#include "ns3/nstime.h"
#include "ns3/plan.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// A part of a job that so many of its workers do (FlexPS: Huang et al., VLDB'18, section 3).
struct AsynchronousStage
{
    uint32_t workers{1}; //!< the first ones of the job
    uint32_t steps{1};   //!< of each
    Time compute;        //!< a step of each
};

/**
 * A job whose workers push and pull the shards of parameter servers on their own (DistBelief's
 * Downpour SGD: Dean et al., NeurIPS'12, section 4.1).
 *
 * Its ranks are the workers, then the servers, each of which has one shard.
 */
struct AsynchronousJob
{
    std::string name;
    uint32_t workers{1};
    uint32_t servers{1};
    uint64_t bytes{1}; //!< of the gradient, and of the parameters
    std::vector<AsynchronousStage> stages;
    uint32_t pushEvery{1};  //!< steps: n_push; and after the last of a stage
    uint32_t fetchEvery{1}; //!< steps: n_fetch
    /// A worker begins no step that is more than so many ahead of what has been applied of the
    /// slowest one (stale-synchronous: Ho et al., NeurIPS'13); nothing: no bound.
    std::optional<uint32_t> bound;
    uint64_t requestBytes{64}; //!< with which a worker asks a server that it does not push to
    std::vector<uint32_t> endpointOf; //!< [rank] -> endpoint index; distinct
    Time start;                       //!< when the first step starts
    double reduceSecondsPerByte{0.0}; //!< as Job has it, to apply an update
};

/// What a worker and the servers send each other. Rank 0 is the worker, then come the servers.
struct AsynchronousPlans
{
    std::shared_ptr<const Plan> push;
    std::shared_ptr<const Plan> pull;
    std::shared_ptr<const Plan> request;
};

AsynchronousPlans MakePlans(const AsynchronousJob& job);

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
    uint32_t clock;     //!< steps of the worker in this stage that have been applied
    uint32_t staleness; //!< updates of others since the worker fetched: the most of all shards
    uint32_t ahead;     //!< steps that the slowest worker is behind this one, as applied
    Time time;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ASYNCHRONOUS_JOB_H
