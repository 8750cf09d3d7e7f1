// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_JOB_ASSEMBLY_H
#define GRADSYNC_JOB_ASSEMBLY_H

#include "ns3/data-rate.h"
#include "ns3/job-planner.h"
#include "ns3/job-spec.h"
#include "ns3/job.h"
#include "ns3/topology.h"
#include "ns3/training-job.h"
#include "ns3/training-planner.h"

#include <memory>
#include <optional>

namespace ns3::gradsync
{

/// Which plans are proven to do what their collective says.
enum class PlanCheck
{
    Small, //!< those of files, and those that it does not take longer to prove than to run
    All
};

/**
 * PlanJob, with the plan proven, and a job refused that is bound to be unfinished when simulated
 * time ends. \param mayEndEarly faults may end it before \throws PlanningError
 */
PlannedJob PlanCheckedJob(const JobSpec& job,
                          const Topology& topology,
                          PlanCheck check,
                          bool mayEndEarly);

/// PlanTraining; a job is refused as by PlanCheckedJob. \throws PlanningError
PlannedTraining PlanCheckedTraining(const TrainingJobSpec& job,
                                    const Topology& topology,
                                    bool mayEndEarly);

/// What an engine runs of a planned job: it plans again when ranks or switches are lost, where the
/// job has a way to go on.
Job MakeJob(const std::shared_ptr<const JobSpec>& spec,
            const PlannedJob& planned,
            const std::shared_ptr<const Topology>& topology);

/// Of a rate at which a rank adds; none: no time.
double GetReduceSecondsPerByte(const std::optional<DataRate>& rate);

/// What an engine runs of a planned training job: likewise, of the survivors.
TrainingJob MakeTrainingJob(const TrainingJobSpec& spec,
                            const PlannedTraining& planned,
                            const std::shared_ptr<const Topology>& topology);

} // namespace ns3::gradsync

#endif // GRADSYNC_JOB_ASSEMBLY_H
