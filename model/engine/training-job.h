// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_JOB_H
#define GRADSYNC_TRAINING_JOB_H

#include "ns3/differential-transmission.h"
#include "ns3/nstime.h"
#include "ns3/workload.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

class TaskLog;

/**
 * Makes the workload of the ranks of a job that are left, ascending, numbered from 0 in it, with as
 * many iterations as the one before.
 * \throws std::runtime_error with a text for the user when there is none
 */
using SurvivorWorkloadPlanner =
    std::function<std::shared_ptr<const Workload>(std::span<const uint32_t> ranks)>;

/// A job that runs a workload until it has done its iterations.
struct TrainingJob
{
    std::string name;
    std::shared_ptr<const Workload> workload;
    std::vector<uint32_t> endpointOf;      //!< [rank] -> endpoint index; distinct
    uint32_t iterations{1};                //!< a multiple of those of the workload
    Time start;                            //!< when the first iteration starts
    double reduceSecondsPerByte{0.0};      //!< as Job has it
    DifferentialTransmission transmission; //!< likewise
    SurvivorWorkloadPlanner planSurvivors; //!< empty: a job that loses a rank has failed
    /// Of ranks for whom the network does not aggregate any more; empty: such a job has failed.
    SurvivorWorkloadPlanner planFallback;
    Time timeout; //!< a run that takes longer has failed; 0: no limit
};

/// Bytes of all messages of one use of a plan.
uint64_t CountTransferBytes(const Plan& plan);

/// Bytes of all messages of a job.
uint64_t CountTransferBytes(const TrainingJob& job);

/// \throws std::invalid_argument when its parts do not fit together
void CheckJob(const TrainingJob& job);

/// A run of a workload that has ended, as the trace source reports it.
struct TrainingRecord
{
    uint32_t job;
    uint32_t iteration; //!< the first of those of the workload; of the job, from 0
    Time start; //!< of its first iteration, which ranks that are lost may have begun with others
    Time end;
    Time resumed;                //!< when the workload began: `start`, or when survivors began anew
    std::vector<uint32_t> ranks; //!< [rank of the workload] -> rank of the job
    std::shared_ptr<const Workload> workload;
    const TaskLog* log; //!< for the time of the call
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_JOB_H
