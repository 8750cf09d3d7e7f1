// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLANNED_RUN_H
#define GRADSYNC_PLANNED_RUN_H

#include "ns3/asynchronous-job.h"
#include "ns3/exchange-engine.h"
#include "ns3/job-planner.h"
#include "ns3/job.h"
#include "ns3/scenario.h"
#include "ns3/training-job.h"
#include "ns3/training-planner.h"
#include "ns3/transport.h"

#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

class RankShare;

/// The jobs of a run with their plans.
struct PlannedRun
{
    std::vector<PlannedJob> jobs;
    std::vector<PlannedTraining> trainings;
};

/// Of jobs in networks with faults or foreign flows, which may leave an exchange waiting for ever.
inline const Time DEFAULT_FAULT_TIMEOUT = Seconds(60);

/// Of an iteration of a job, if it has none of its own; 0: no limit.
Time FindTimeout(const std::optional<Time>& own, const ResolvedRun& run);

/// \throws PlanningError
PlannedRun PlanRun(const ResolvedRun& run);

/// The jobs as the engine takes them, with the timeouts that faults ask for.
Job MakeJob(const JobSpec& spec, const PlannedJob& planned, const ResolvedRun& run);
TrainingJob MakeTraining(const TrainingJobSpec& spec,
                         const PlannedTraining& planned,
                         const ResolvedRun& run);
AsynchronousJob MakeAsynchronous(const AsynchronousJobSpec& spec, const ResolvedRun& run);

/// As messages call a job and its scheme.
std::string DescribeScheme(const JobSpec& job);

/// Whether nothing else happens in a run than one job's iterations, and nobody looks at packets.
bool IsOneJobAlone(const ResolvedRun& run);

/// Gives an engine all jobs. \param share nullptr: all ranks are simulated in this process
/// \throws ScenarioError for what it refuses
void AddJobs(const ResolvedRun& run,
             const PlannedRun& planned,
             const Ptr<Transport>& transport,
             const Ptr<ExchangeEngine>& engine,
             RankShare* share = nullptr);

/// Which collectives need not be simulated where equal ones are.
enum class Omission
{
    None,
    Later,      //!< those that come later, see CollectiveRecords
    OfTwinsToo, //!< and those of equal planes, see TwinPlanes
};

/// An engine with all jobs. \throws ScenarioError for what it refuses
Ptr<ExchangeEngine> InstallEngine(const ResolvedRun& run,
                                  const PlannedRun& planned,
                                  const Ptr<Transport>& transport,
                                  Omission omission);

} // namespace ns3::gradsync

#endif // GRADSYNC_PLANNED_RUN_H
