// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_JOB_H
#define GRADSYNC_JOB_H

#include "ns3/differential-transmission.h"
#include "ns3/nstime.h"
#include "ns3/plan.h"
#include "ns3/topology.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * Makes a plan for the ranks of a job that are left, ascending, numbered from 0 in it.
 * \param bytes of the gradient that are still to be exchanged; nothing: all of it
 * \throws std::runtime_error with a text for the user when there is none
 */
using SurvivorPlanner = std::function<std::shared_ptr<const Plan>(std::span<const uint32_t> ranks,
                                                                  std::optional<uint64_t> bytes,
                                                                  uint32_t iteration)>;

/// One training job: a plan that is executed once per iteration.
struct Job
{
    std::string name;
    std::shared_ptr<const Plan> plan;
    /// Iteration -> what takes the place of the plan from then on, for the same ranks.
    std::map<uint32_t, std::shared_ptr<const Plan>> laterPlans;
    std::vector<uint32_t> endpointOf; //!< [rank] -> endpoint index; distinct
    /// Switches at which the groups for which the network aggregates come together, in turn;
    /// empty: the network chooses.
    std::vector<NodeId> aggregationRoots{};
    uint32_t iterations{1};
    Time start;   //!< when the first iteration starts
    Time compute; //!< forward and backward pass of every worker, before its exchange starts
    std::vector<Time> computeOf; //!< [worker]: in place of `compute`; empty: all take that
    /// Time that a receiver needs to add one byte of a TransferReduce (serial per rank), in
    /// seconds; 0: free.
    double reduceSecondsPerByte{0.0};
    DifferentialTransmission transmission; //!< of what others add
    /// Transfers that a rank has under way at once; the others wait, the lowest id goes first. 0:
    /// no limit.
    uint32_t maxOutstandingSends{0};
    Time timeout;                  //!< an iteration that takes longer has failed; 0: no limit
    SurvivorPlanner planSurvivors; //!< empty: a job that loses a rank has failed
    /// Of workers for whom the network does not aggregate any more; empty: such a job has failed.
    SurvivorPlanner planFallback;
};

/// Bytes of all messages of a job that nothing disturbs.
uint64_t CountTransferBytes(const Job& job);

/// \throws std::invalid_argument when its parts do not fit together
void CheckJob(const Job& job);

} // namespace ns3::gradsync

#endif // GRADSYNC_JOB_H
