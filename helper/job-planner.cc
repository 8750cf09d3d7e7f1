// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/job-planner.h"

#include "ns3/group-finder.h"
#include "ns3/plan-verifier.h"
#include "ns3/scenario-error.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <stdexcept>

namespace ns3::gradsync
{

PlannedJob
PlanJob(const JobSpec& job, const Topology& topology)
{
    PlannedJob planned;
    const std::span<const uint32_t> ranks(job.endpointOf);
    planned.rankGroups = ComputeWorkerGroups(topology, ranks);
    planned.workerGroups = ComputeWorkerGroups(topology, ranks.first(job.workers));
    for (const auto& level : planned.workerGroups.levels)
    {
        planned.oversubscription = std::max(planned.oversubscription, level.oversubscription);
    }
    SchemeRequest request;
    request.workers = job.workers;
    request.gradientBytes = job.gradientBytes;
    request.groups = planned.workerGroups;
    request.parameters = job.scheme.parameters;
    try
    {
        planned.plan = std::make_shared<const Plan>(job.scheme.scheme->build(request));
    }
    catch (const SchemeError& error)
    {
        throw ScenarioError(fmt::format("{}: scheme {}", job.name, job.scheme.scheme->name),
                            error.what());
    }
    return planned;
}

void
VerifyJob(const JobSpec& job, const PlannedJob& planned)
{
    const auto verification = PlanVerifier().Verify(*planned.plan);
    if (!verification.ok)
    {
        throw std::logic_error(fmt::format("{}: the plan of the scheme {} is no {}: {}",
                                           job.name,
                                           job.scheme.scheme->name,
                                           planned.plan->GetCollective().GetName(),
                                           verification.violations.front()));
    }
}

} // namespace ns3::gradsync
