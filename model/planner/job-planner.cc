// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/job-planner.h"

#include "ns3/exchange-builder.h"
#include "ns3/group-finder.h"
#include "ns3/plan-verifier.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <set>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

SchemeRequest
MakeRequest(const JobSpec& job, const WorkerGroups& groups)
{
    SchemeRequest request;
    request.workers = job.workers;
    request.gradientBytes = job.gradientBytes;
    request.groups = groups;
    request.parameters = job.scheme.parameters;
    request.texts = job.scheme.texts;
    return request;
}

PlanningError
ToPlanningError(const JobSpec& job, const SchemeError& error)
{
    return {fmt::format("{}: scheme {}", job.name, job.scheme.scheme->name), error.what()};
}

/// Must not outlive the job or the groups. \param rankGroups of all ranks \param serverOf likewise
AutoRequest
MakeAutoRequest(const JobSpec& job,
                const WorkerGroups& groups,
                const WorkerGroups& rankGroups,
                const std::vector<uint32_t>& serverOf)
{
    AutoRequest request;
    request.exchange = MakeRequest(job, groups);
    request.endpointOf = job.endpointOf;
    request.reduceSecondsPerByte =
        job.reduceRate ? 8.0 / static_cast<double>(job.reduceRate->GetBitRate()) : 0.0;
    request.build = [&job, &rankGroups, &serverOf](const Scheme& scheme,
                                                   const SchemeRequest& exchange) {
        return BuildExchange(job, scheme, exchange, rankGroups, serverOf);
    };
    if (job.transmission.reliableShare >= 1.0) // what is lost cannot be a summand of a switch
    {
        request.findLoads = job.findAggregations;
    }
    return request;
}

void
ChoosePlan(const JobSpec& job,
           const Topology& topology,
           const std::vector<uint32_t>& serverOf,
           PlannedJob& planned)
{
    const auto request = MakeAutoRequest(job, planned.workerGroups, planned.rankGroups, serverOf);
    AutoPlanner planner(topology, job.network);
    planned.choice = planner.Rank(request).front();
    planned.plan = std::make_shared<const Plan>(AutoPlanner::Build(request, *planned.choice));
}

/// The job with what a name of NCCL stands for in the place of that name.
JobSpec
ReplaceNames(JobSpec job, const NcclScheme& nccl)
{
    job.scheme = nccl.scheme;
    job.protocol = nccl.protocol ? nccl.protocol : job.protocol;
    return job;
}

/// Of a scheme that makes plans itself.
Plan
BuildPlan(const JobSpec& job, const PlannedJob& planned, const std::vector<uint32_t>& serverOf)
{
    return BuildExchange(job,
                         *job.scheme.scheme,
                         MakeRequest(job, planned.workerGroups),
                         planned.rankGroups,
                         serverOf);
}

/// \param job as it is in one iteration
PlannedJob
PlanIteration(const JobSpec& job, const Topology& topology)
{
    PlannedJob planned;
    const std::span<const uint32_t> ranks(job.endpointOf);
    planned.rankGroups = ComputeWorkerGroups(topology, ranks);
    planned.workerGroups = ComputeWorkerGroups(topology, ranks.first(job.workers));
    const auto serverOf = FindServers(topology, ranks);
    for (const auto& level : planned.workerGroups.levels)
    {
        planned.oversubscription = std::max(planned.oversubscription, level.oversubscription);
    }
    try
    {
        if (job.scheme.scheme->planOrigin == PlanOrigin::Estimate)
        {
            ChoosePlan(job, topology, serverOf, planned);
        }
        else
        {
            planned.nccl = ResolveNccl(job, topology, serverOf);
            planned.plan = std::make_shared<const Plan>(
                BuildPlan(planned.nccl ? ReplaceNames(job, *planned.nccl) : job,
                          planned,
                          serverOf));
        }
    }
    catch (const SchemeError& error)
    {
        throw ToPlanningError(job, error);
    }
    catch (const ProfileError& error)
    {
        throw PlanningError(job.name + ": profile", error.what());
    }
    if (job.transmission.reliableShare < 1.0 && planned.plan->HasAggregations())
    {
        throw PlanningError(job.name + ": dgt", LOST_SUMMANDS);
    }
    return planned;
}

/// All codecs of a job and its tensors. \tparam Job JobSpec, or a constant one
template <typename Job>
auto
ListCodecs(Job& job)
{
    using Codec = std::conditional_t<std::is_const_v<Job>, const CodecSpec, CodecSpec>;
    std::vector<Codec*> codecs;
    if (job.codec)
    {
        codecs.push_back(&job.codec->spec);
    }
    for (auto& tensor : job.tensors)
    {
        if (tensor.codec)
        {
            codecs.push_back(&tensor.codec->spec);
        }
    }
    return codecs;
}

/// Iterations from which on a codec has another density than before.
std::set<uint32_t>
ListPlanChanges(const JobSpec& job)
{
    std::set<uint32_t> changes;
    for (const auto* codec : ListCodecs(job))
    {
        for (uint64_t step = 1; step <= std::size(DGC_WARM_UP) && codec->warmUp > 0; ++step)
        {
            const auto first = step * codec->warmUp;
            if (first < job.iterations &&
                GetDensity(*codec, first) != GetDensity(*codec, first - 1))
            {
                changes.insert(static_cast<uint32_t>(first));
            }
        }
    }
    return changes;
}

} // namespace

std::vector<JobSpec>
SplitJob(JobSpec job, const Topology& topology)
{
    const auto& split = job.scheme.scheme->split;
    std::vector<SchemePart> parts;
    if (split)
    {
        const auto workers = std::span<const uint32_t>(job.endpointOf).first(job.workers);
        try
        {
            parts = split(MakeRequest(job, ComputeWorkerGroups(topology, workers)));
        }
        catch (const SchemeError& error)
        {
            throw ToPlanningError(job, error);
        }
    }
    if (parts.empty())
    {
        return {std::move(job)};
    }
    std::vector<JobSpec> jobs;
    for (auto& part : parts)
    {
        auto& own = jobs.emplace_back(job);
        own.name = fmt::format("{}.{}", job.name, jobs.size() - 1);
        own.workers = part.workers;
        own.scheme.parameters = std::move(part.parameters);
        own.endpointOf.clear();
        for (const auto rank : part.ranks)
        {
            own.endpointOf.push_back(job.endpointOf.at(rank));
        }
    }
    return jobs;
}

JobSpec
AtIteration(JobSpec job, uint32_t iteration)
{
    for (auto* codec : ListCodecs(job))
    {
        if (codec->warmUp == 0)
        {
            continue;
        }
        const auto density = GetDensity(*codec, iteration);
        if (density != codec->density)
        {
            codec->unions.clear(); // they are those of the density after the warm-up
        }
        codec->density = density;
        codec->warmUp = 0;
    }
    return job;
}

PlannedJob
PlanJob(const JobSpec& job, const Topology& topology)
{
    auto planned = PlanIteration(AtIteration(job, 0), topology);
    for (const auto iteration : ListPlanChanges(job))
    {
        planned.laterPlans[iteration] = PlanIteration(AtIteration(job, iteration), topology).plan;
    }
    return planned;
}

std::string
GetSchemeText(const JobSpec& job, const PlannedJob& planned)
{
    const auto& name = job.scheme.scheme->name;
    if (planned.nccl)
    {
        const auto& [scheme, protocol, choice] = *planned.nccl;
        const AutoCandidate stands{scheme.scheme, scheme.parameters, 0.0, std::nullopt, 0, {}};
        return choice
                   ? fmt::format("{}: {}: {}", name, DescribeNccl(choice->taken), stands.Describe())
                   : fmt::format("{}: {}", name, stands.Describe());
    }
    return planned.choice ? fmt::format("{}: {}", name, planned.choice->Describe()) : name;
}

std::vector<AutoCandidate>
RankSchemes(const JobSpec& job, const Topology& topology)
{
    const std::span<const uint32_t> ranks(job.endpointOf);
    const auto groups = ComputeWorkerGroups(topology, ranks.first(job.workers));
    const auto rankGroups = ComputeWorkerGroups(topology, ranks);
    const auto serverOf = FindServers(topology, ranks);
    try
    {
        return AutoPlanner(topology, job.network)
            .Rank(MakeAutoRequest(job, groups, rankGroups, serverOf));
    }
    catch (const SchemeError& error)
    {
        throw ToPlanningError(job, error);
    }
}

void
VerifyJob(const JobSpec& job, const PlannedJob& planned)
{
    std::vector<const Plan*> plans{planned.plan.get()};
    for (const auto& [iteration, plan] : planned.laterPlans)
    {
        plans.push_back(plan.get());
    }
    for (const auto* plan : plans)
    {
        const auto verification = PlanVerifier().Verify(*plan);
        if (verification.ok)
        {
            continue;
        }
        const auto problem = fmt::format("the plan of the scheme {} is no {}: {}",
                                         GetSchemeText(job, planned),
                                         plan->GetCollective().GetName(),
                                         verification.violations.front());
        if (job.scheme.scheme->planOrigin == PlanOrigin::File)
        {
            throw PlanningError(job.name, problem); // not our mistake
        }
        throw std::logic_error(fmt::format("{}: {}", job.name, problem));
    }
}

} // namespace ns3::gradsync
