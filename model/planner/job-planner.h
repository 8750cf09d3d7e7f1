// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_JOB_PLANNER_H
#define GRADSYNC_JOB_PLANNER_H

#include "ns3/auto-planner.h"
#include "ns3/job-spec.h"
#include "ns3/nccl-schemes.h"
#include "ns3/plan.h"
#include "ns3/planning-error.h"
#include "ns3/topology.h"
#include "ns3/worker-groups.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// A job with its plan.
struct PlannedJob
{
    std::shared_ptr<const Plan> plan; //!< of the first iteration
    /// Iteration -> the plan from then on, where the codec warms up.
    std::map<uint32_t, std::shared_ptr<const Plan>> laterPlans;
    WorkerGroups workerGroups;           //!< over the workers: what the scheme saw
    WorkerGroups rankGroups;             //!< over all ranks, dedicated servers included
    double oversubscription{1.0};        //!< the largest of the workers' levels
    std::optional<AutoCandidate> choice; //!< of the scheme `auto`
    std::optional<NcclScheme> nccl;      //!< what a name of NCCL stands for
};

/**
 * The jobs that a job of an asynchronous scheme is made of, called "NAME.0", "NAME.1", ...; of
 * others the job itself. \throws PlanningError when the scheme cannot run on this request
 */
std::vector<JobSpec> SplitJob(JobSpec job, const Topology& topology);

/// The job as it is in one iteration: with the density that its codec has then.
JobSpec AtIteration(JobSpec job, uint32_t iteration);

/**
 * Makes the plan of a job on a network.
 * \throws PlanningError when the scheme cannot run on this request
 */
PlannedJob PlanJob(const JobSpec& job, const Topology& topology);

/// The scheme of a job, and of `auto` what it chose, as `auto: ring pipelineChunks=4`; of names of
/// NCCL what they stand for.
std::string GetSchemeText(const JobSpec& job, const PlannedJob& planned);

/**
 * What the scheme `auto` chooses from for a job, best first (AutoPlanner::Rank).
 * \throws PlanningError
 */
std::vector<AutoCandidate> RankSchemes(const JobSpec& job, const Topology& topology);

/**
 * Proves that the plans do what their collective says (PlanVerifier).
 * \throws std::logic_error with the first violation: a defect of the scheme, not of the scenario
 */
void VerifyJob(const JobSpec& job, const PlannedJob& planned);

} // namespace ns3::gradsync

#endif // GRADSYNC_JOB_PLANNER_H
