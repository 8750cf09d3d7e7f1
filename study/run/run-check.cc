// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/job-assembly.h"
#include "ns3/network-parts.h"
#include "ns3/planned-run.h"
#include "ns3/planning-translation.h"
#include "ns3/scenario-error.h"
#include "ns3/scenario-runner.h"
#include "ns3/simulator-guard.h"
#include "ns3/time-bound.h"
#include "ns3/time-range.h"
#include "ns3/time-resolution.h"
#include "ns3/transport-probe.h"
#include "ns3/workload-aggregations.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
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

/// Whether the switches can aggregate as a plan asks. \throws ScenarioError
void
CheckAggregations(const JobSpec& job, const Plan& plan, const Ptr<Transport>& transport)
{
    const auto servers = plan.GetRankCount() - plan.GetWorkerCount();
    for (const auto& group : plan.GetAggregationGroups())
    {
        const auto server =
            servers > 0 ? std::optional(job.endpointOf[plan.GetWorkerCount()]) : std::nullopt;
        std::vector<uint32_t> endpoints;
        endpoints.reserve(group.size());
        for (const auto rank : group)
        {
            endpoints.push_back(job.endpointOf[rank]);
        }
        try
        {
            transport->RequireAggregation().OpenAggregation({std::move(endpoints),
                                                             server,
                                                             plan.GetAggregationProtocol().name,
                                                             plan.SharesExponents()});
        }
        catch (const std::invalid_argument& error)
        {
            throw ScenarioError(DescribeScheme(job), error.what());
        }
    }
}

/// Likewise as a workload asks, all of whose groups stay open at once. \throws ScenarioError
void
CheckAggregations(const TrainingJobSpec& job,
                  const Workload& workload,
                  const Ptr<Transport>& transport)
{
    try
    {
        WorkloadAggregations().Open(workload, job.endpointOf, transport);
    }
    catch (const std::runtime_error& error)
    {
        throw ScenarioError(job.name + ": training", error.what());
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
        CheckAggregations(job, *planned.plan, transport);
        check.bytes += CountTransferBytes(MakeJob(job, planned, run));
        check.least = std::max(check.least, GetLeastTime(job, planned, *run.topology));
    }
    for (const auto& training : run.trainings)
    {
        const auto planned = TranslatePlanningErrors([&training, &run] {
            return PlanCheckedTraining(training, *run.topology, !run.faults.empty());
        });
        CheckAggregations(training, *planned.workload, transport);
        check.bytes += CountTransferBytes(MakeTraining(training, planned, run));
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
