// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TIME_BOUND_H
#define GRADSYNC_TIME_BOUND_H

#include "ns3/job-planner.h"
#include "ns3/job-spec.h"
#include "ns3/topology.h"
#include "ns3/training-planner.h"

#include <string>

namespace ns3::gradsync
{

/**
 * A time before which a job cannot end when nothing fails, in seconds: each iteration computes, and
 * no endpoint sends or receives the bytes of the plan faster than all its links together.
 * 0 where workers are not awaited.
 */
double ComputeTimeBound(const JobSpec& job, const PlannedJob& planned, const Topology& topology);

/// Refuses a job that takes so many seconds at least, where simulated time ends before.
/// \throws PlanningError
void RefuseLongJob(const std::string& name, double bound);

/// Refuses a job that is bound to be unfinished when simulated time ends. \throws PlanningError
void CheckTimeBound(const JobSpec& job, const PlannedJob& planned, const Topology& topology);

/// Likewise, of a job that trains, by what its ranks compute. \throws PlanningError
void CheckTimeBound(const TrainingJobSpec& job, const PlannedTraining& planned);

} // namespace ns3::gradsync

#endif // GRADSYNC_TIME_BOUND_H
