// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/job-assembly.h"

#include "ns3/survivor-planner.h"
#include "ns3/time-bound.h"

#include <cstdint>
#include <optional>
#include <span>

namespace ns3::gradsync
{

namespace
{

/// Operations.
constexpr size_t SMALL_PLAN = 20'000;

/// A planner for what is left of a job.
template <typename PLAN>
SurvivorPlanner
MakePlanner(const std::shared_ptr<const JobSpec>& spec,
            const std::shared_ptr<const Topology>& topology,
            PLAN plan)
{
    return [spec, topology, plan](std::span<const uint32_t> ranks,
                                  std::optional<uint64_t> bytes,
                                  uint32_t iteration) {
        return plan(AtIteration(*spec, iteration), *topology, ranks, bytes);
    };
}

} // namespace

double
GetReduceSecondsPerByte(const std::optional<DataRate>& rate)
{
    return rate ? 8.0 / static_cast<double>(rate->GetBitRate()) : 0.0;
}

PlannedJob
PlanCheckedJob(const JobSpec& job, const Topology& topology, PlanCheck check, bool mayEndEarly)
{
    auto planned = PlanJob(job, topology);
    if (check == PlanCheck::All || job.scheme.scheme->planOrigin == PlanOrigin::File ||
        planned.plan->GetOperations().size() <= SMALL_PLAN)
    {
        VerifyJob(job, planned);
    }
    if (!mayEndEarly && !job.timeout.value_or(Time()).IsStrictlyPositive())
    {
        CheckTimeBound(job, planned, topology);
    }
    return planned;
}

PlannedTraining
PlanCheckedTraining(const TrainingJobSpec& job, const Topology& topology, bool mayEndEarly)
{
    auto planned = PlanTraining(job, topology);
    if (!mayEndEarly && !job.timeout.value_or(Time()).IsStrictlyPositive())
    {
        CheckTimeBound(job, planned);
    }
    return planned;
}

Job
MakeJob(const std::shared_ptr<const JobSpec>& spec,
        const PlannedJob& planned,
        const std::shared_ptr<const Topology>& topology)
{
    Job job;
    job.name = spec->name;
    job.plan = planned.plan;
    job.laterPlans = planned.laterPlans;
    job.endpointOf = spec->endpointOf;
    job.aggregationRoots = spec->aggregationRoots;
    job.iterations = spec->iterations;
    job.start = spec->start;
    job.compute = spec->compute;
    job.computeOf = spec->computeOf;
    job.timeout = spec->timeout.value_or(Time());
    if (spec->replans)
    {
        job.planSurvivors = MakePlanner(spec, topology, PlanSurvivors);
    }
    if (planned.plan->HasAggregations() && HasFallback(*spec))
    {
        job.planFallback = MakePlanner(spec, topology, PlanFallback);
    }
    job.reduceSecondsPerByte = GetReduceSecondsPerByte(spec->reduceRate);
    job.maxOutstandingSends = spec->maxOutstandingSends;
    job.transmission = spec->transmission;
    return job;
}

TrainingJob
MakeTrainingJob(const TrainingJobSpec& spec,
                const PlannedTraining& planned,
                const std::shared_ptr<const Topology>& topology)
{
    TrainingJob job;
    job.name = spec.name;
    job.workload = planned.workload;
    job.endpointOf = spec.endpointOf;
    job.iterations = spec.iterations;
    job.start = spec.start;
    job.reduceSecondsPerByte = GetReduceSecondsPerByte(spec.reduceRate);
    job.transmission = spec.transmission;
    job.timeout = spec.timeout.value_or(Time());
    if (spec.replans)
    {
        job.planSurvivors = [spec, topology](std::span<const uint32_t> ranks) {
            return PlanTrainingSurvivors(spec, *topology, ranks).workload;
        };
    }
    if (planned.workload->HasAggregations())
    {
        job.planFallback = [spec, topology](std::span<const uint32_t> ranks) {
            return PlanTrainingFallback(spec, *topology, ranks).workload;
        };
    }
    return job;
}

} // namespace ns3::gradsync
