// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/job-assembly.h"
#include "ns3/network-parts.h"
#include "ns3/plan-aggregations.h"
#include "ns3/planned-run.h"
#include "ns3/planning-translation.h"
#include "ns3/scenario-error.h"
#include "ns3/scenario-runner.h"
#include "ns3/simulator-guard.h"
#include "ns3/survivor-planner.h"
#include "ns3/time-bound.h"
#include "ns3/time-range.h"
#include "ns3/time-resolution.h"
#include "ns3/transport-probe.h"
#include "ns3/workload-aggregations.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Before which the job does not end, as long as no rank goes: what it computes may take less time
/// than planned, and with faults it has a timeout.
Time
GetLeastTime(const JobSpec& spec, const PlannedJob& planned, const Topology& topology)
{
    auto job = spec;
    job.compute = Time();
    job.computeOf.clear();
    const auto bound = ToTime(ComputeTimeBound(job, planned, topology));
    const auto timeout = spec.timeout.value_or(DEFAULT_FAULT_TIMEOUT);
    return timeout.IsZero() ? bound : std::min(bound, AddTimes(spec.start, timeout));
}

/// Whether a training job could exchange without switches that aggregate.
bool
HasOtherWay(const TrainingJob& training)
{
    std::vector<uint32_t> ranks(training.endpointOf.size());
    std::iota(ranks.begin(), ranks.end(), 0U);
    try
    {
        return training.planFallback && training.planFallback(ranks) != nullptr;
    }
    catch (const std::runtime_error&)
    {
        return false;
    }
}

/// What a job that has another way does for want of room in switches.
std::string
DescribeDenial(const std::string& job, const AggregationDenied& denied)
{
    return fmt::format("{} begins without switches that aggregate: {}", job, denied.what());
}

/// Whether the switches can aggregate as a plan asks, all of whose groups stay open at once.
/// \throws ScenarioError
void
CheckAggregations(const JobSpec& job,
                  const Plan& plan,
                  const Ptr<Transport>& transport,
                  RunCheck& check)
{
    const bool mayAggregate =
        plan.HasAggregations() || job.scheme.scheme->planOrigin == PlanOrigin::Estimate;
    if (!job.aggregationRoots.empty() && !mayAggregate)
    {
        throw ScenarioError(DescribeScheme(job),
                            "\"aggregationRoots\" are given, but no switches aggregate for it");
    }
    try
    {
        PlanAggregations().Open(plan, job.endpointOf, transport, job.aggregationRoots);
    }
    catch (const AggregationDenied& denied)
    {
        if (!HasFallback(job))
        {
            throw ScenarioError(DescribeScheme(job), denied.what());
        }
        check.denials.push_back(DescribeDenial(job.name, denied));
    }
    catch (const std::runtime_error& error)
    {
        throw ScenarioError(DescribeScheme(job), error.what());
    }
}

/// Likewise as a workload asks. \param training the job, with its other way \throws ScenarioError
void
CheckAggregations(const TrainingJob& training, const Ptr<Transport>& transport, RunCheck& check)
{
    const auto place = training.name + ": training";
    try
    {
        WorkloadAggregations().Open(*training.workload, training.endpointOf, transport);
    }
    catch (const AggregationDenied& denied)
    {
        if (!HasOtherWay(training))
        {
            throw ScenarioError(place, denied.what());
        }
        check.denials.push_back(DescribeDenial(training.name, denied));
    }
    catch (const std::runtime_error& error)
    {
        throw ScenarioError(place, error.what());
    }
}

/// The steps of the slowest worker alone. \throws PlanningError
void
CheckTime(const AsynchronousJob& job)
{
    double seconds = job.start.GetSeconds();
    for (const auto& stage : job.stages)
    {
        double longest = 0.0;
        for (uint32_t worker = 0; worker < stage.workers; ++worker)
        {
            longest = std::max(longest, stage.GetCompute(worker).GetSeconds());
        }
        seconds += stage.steps * longest;
    }
    RefuseLongJob(job.name, seconds);
}

} // namespace

RunCheck
CheckRun(const ResolvedRun& run, bool verifyAll)
{
    UsePicoseconds();
    ProbeForeignTypes(run.transport);
    const SimulatorGuard guard;
    const auto transport = InstallTransport(run);
    RunCheck check;
    for (const auto& job : run.jobs)
    {
        const auto planned = TranslatePlanningErrors([&job, &run, verifyAll] {
            return PlanCheckedJob(job,
                                  *run.topology,
                                  verifyAll ? PlanCheck::All : PlanCheck::Small,
                                  !run.faults.empty());
        });
        CheckAggregations(job, *planned.plan, transport, check);
        check.bytes += CountTransferBytes(MakeJob(job, planned, run));
        check.least = std::max(check.least, GetLeastTime(job, planned, *run.topology));
    }
    for (const auto& training : run.trainings)
    {
        const auto planned = TranslatePlanningErrors([&training, &run] {
            return PlanCheckedTraining(training, *run.topology, !run.faults.empty());
        });
        const auto made = MakeTraining(training, planned, run);
        CheckAggregations(made, transport, check);
        check.bytes += CountTransferBytes(made);
        check.least = std::max(check.least, training.start);
    }
    for (const auto& spec : run.asynchronous)
    {
        if (run.faults.empty())
        {
            TranslatePlanningErrors([&spec] { CheckTime(spec.job); });
        }
        check.bytes += CountTransferBytes(spec.job);
        check.least = std::max(check.least, spec.job.start);
    }
    transport->Dispose();
    return check;
}

} // namespace ns3::gradsync
