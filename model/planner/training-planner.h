// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_PLANNER_H
#define GRADSYNC_TRAINING_PLANNER_H

#include "ns3/planning-error.h"
#include "ns3/topology.h"
#include "ns3/training-job-spec.h"
#include "ns3/training-tuner.h"
#include "ns3/workload.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace ns3::gradsync
{

/// A training job with its workload.
struct PlannedTraining
{
    std::shared_ptr<const Workload> workload;
    std::optional<TrainingChoice> choice; //!< where something was to be chosen
    std::vector<uint32_t> inFlight;       //!< as TrainingFigures has it
    double oversubscription{1.0};         //!< the largest of the levels that all ranks fall into
};

/**
 * Makes the workload of a training job on a network; its schemes see the levels that the ranks of
 * each group fall into.
 * \throws PlanningError for a spec or a scheme that cannot be, or a scheme of another collective
 */
PlannedTraining PlanTraining(const TrainingJobSpec& job, const Topology& topology);

/**
 * Likewise of the ranks that are left, ascending.
 * \throws PlanningError when a part of the model is lost with the others
 */
PlannedTraining PlanTrainingSurvivors(TrainingJobSpec job,
                                      const Topology& topology,
                                      std::span<const uint32_t> ranks);

/**
 * Likewise for ranks for whom the network does not aggregate any more: by the scheme that each of
 * those by which it did names in `fallback`.
 * \throws PlanningError when one names none, or the ranks that are left cannot go on
 */
PlannedTraining PlanTrainingFallback(TrainingJobSpec job,
                                     const Topology& topology,
                                     std::span<const uint32_t> ranks);

/// Which gradients of a training job are compressed.
std::span<const GradientCodecRule> GetCodecs(const TrainingJobSpec& job);

/// Before which no iteration ends: the most that any rank computes, in picoseconds.
uint64_t GetLeastPicoseconds(const Workload& workload);

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_PLANNER_H
