// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/job-planner.h"

#include "ns3/group-finder.h"
#include "ns3/plan-compressor.h"
#include "ns3/plan-verifier.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <iterator>
#include <span>
#include <stdexcept>
#include <utility>

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
    return request;
}

bool
IsFromFile(const JobSpec& job)
{
    return job.scheme.scheme->planOrigin == PlanOrigin::File;
}

PlanningError
ToPlanningError(const JobSpec& job, const SchemeError& error)
{
    return {fmt::format("{}: scheme {}", job.name, job.scheme.scheme->name), error.what()};
}

/// The time of a part of the job's codec; no function without a profile.
std::function<double(uint64_t)>
GetCosts(const JobSpec& job, const std::string& part)
{
    const auto kernel = GetKernelName(job.codec->kind, part);
    if (!job.profile || kernel.empty())
    {
        return {};
    }
    return [profile = job.profile, kernel](uint64_t elements) {
        return profile->GetSeconds(kernel, elements);
    };
}

/// \param groups of all ranks. \throws SchemeError
CodecScope
GetScope(const JobSpec& job, const WorkerGroups& groups)
{
    if (job.codecScope == "all")
    {
        return {};
    }
    if (job.codecScope == "servers")
    {
        return [workers = job.workers](uint32_t src, uint32_t dst) {
            return std::min(src, dst) >= workers;
        };
    }
    std::vector<std::string> names{"all", "servers"};
    for (const auto& level : groups.levels)
    {
        if (level.name == job.codecScope)
        {
            return [groupOf = level.groupOf](uint32_t src, uint32_t dst) {
                return groupOf.at(src) != groupOf.at(dst);
            };
        }
        names.push_back(level.name);
    }
    throw PlanningError(fmt::format("{}: codec.between", job.name),
                        fmt::format("found \"{}\", but here it can be: {}",
                                    job.codecScope,
                                    fmt::join(names, ", ")));
}

/// Workers beyond which sums in 8 bits leave each nothing but 0.
constexpr size_t MAX_INT8_WORKERS = 127;

/// Whether switches can add up what the job's codec makes of gradients. \throws SchemeError
void
CheckSummable(const Plan& plan, const JobSpec& job)
{
    const auto& codec = GetCodecInfo(job.codec->kind);
    if (!codec.isSummable)
    {
        throw SchemeError(fmt::format("a switch adds up integers: the codec must be fixed-point, "
                                      "int8, or fp32 for integers that take no time, but it is {}",
                                      codec.name));
    }
    if (!codec.sharesScale)
    {
        return;
    }
    if (!plan.GetAggregationProtocol().hasExponents)
    {
        throw SchemeError(
            fmt::format("{} needs a scale that all workers share, but packets of this "
                        "scheme have no field for it: the codec must be fixed-point, "
                        "or fp32 for integers that take no time",
                        codec.name));
    }
    const auto groups = plan.GetAggregationGroups();
    const auto most = std::ranges::max(groups, {}, &std::vector<uint32_t>::size).size();
    if (most > MAX_INT8_WORKERS)
    {
        throw SchemeError(fmt::format("a sum of {} workers in 8 bits leaves each nothing but 0; {} "
                                      "goes with {} at most",
                                      most,
                                      codec.name,
                                      MAX_INT8_WORKERS));
    }
}

/// \param groups of all ranks
Plan
Compress(Plan plan, const JobSpec& job, const WorkerGroups& groups)
{
    if (!job.codec || job.codec->kind == CodecKind::Fp32)
    {
        return plan;
    }
    if (job.scheme.scheme->sendsCodedValues)
    {
        throw SchemeError(
            "what it sends are a codec's indices and values already (sizes, density): "
            "no other codec goes with it");
    }
    if (plan.HasAggregations())
    {
        CheckSummable(plan, job);
    }
    if (IsFromFile(job) && !plan.GetCollective().IsAllReduce())
    {
        throw SchemeError(fmt::format("a codec is for gradients, but the file has {}",
                                      plan.GetCollective().GetTitle()));
    }
    const auto operations = plan.GetOperations();
    if (plan.IsCompressed() ||
        std::any_of(operations.begin(), operations.end(), std::mem_fn(&Operation::IsCompute)))
    {
        throw SchemeError("the plan in the file is compressed already, but the job has a codec");
    }
    return CompressPlan(plan,
                        *job.codec,
                        {GetCosts(job, "encode"), GetCosts(job, "decode")},
                        GetScope(job, groups));
}

/// Must not outlive the job or the groups. \param rankGroups of all ranks
AutoRequest
MakeAutoRequest(const JobSpec& job, const WorkerGroups& groups, const WorkerGroups& rankGroups)
{
    AutoRequest request;
    request.exchange = MakeRequest(job, groups);
    request.endpointOf = job.endpointOf;
    request.reduceSecondsPerByte =
        job.reduceRate ? 8.0 / static_cast<double>(job.reduceRate->GetBitRate()) : 0.0;
    request.adapt = [&job, &rankGroups](Plan plan) {
        return Compress(std::move(plan), job, rankGroups);
    };
    return request;
}

void
ChoosePlan(const JobSpec& job, const Topology& topology, PlannedJob& planned)
{
    const auto request = MakeAutoRequest(job, planned.workerGroups, planned.rankGroups);
    AutoPlanner planner(topology, job.network);
    planned.choice = planner.Rank(request).front();
    planned.plan = std::make_shared<const Plan>(AutoPlanner::Build(request, *planned.choice));
}

/// Parameter of schemes that let switches add up.
constexpr const char* FALLBACK = "fallback";

/// Makes the scheme ask for so many dedicated servers; false when no parameter does.
bool
SetServers(SchemeChoice& scheme, uint32_t servers)
{
    const auto& countServers = scheme.scheme->countServers;
    const int64_t lost = int64_t{countServers(scheme.parameters)} - servers;
    if (lost == 0)
    {
        return true;
    }
    for (const auto& spec : scheme.scheme->parameters)
    {
        const auto* number = std::get_if<int64_t>(&spec.defaultValue);
        if (number == nullptr || scheme.parameters.Get<int64_t>(spec.name) < lost)
        {
            continue;
        }
        auto fewer = scheme.parameters;
        fewer.Set(spec.name, fewer.Get<int64_t>(spec.name) - lost);
        try
        {
            if (countServers(fewer) == servers)
            {
                scheme.parameters = fewer;
                return true;
            }
        }
        catch (const SchemeError&)
        {
            continue; // not with this parameter
        }
    }
    return false;
}

/// \param job as it is in one iteration
PlannedJob
PlanIteration(const JobSpec& job, const Topology& topology)
{
    PlannedJob planned;
    const std::span<const uint32_t> ranks(job.endpointOf);
    planned.rankGroups = ComputeWorkerGroups(topology, ranks);
    planned.workerGroups = ComputeWorkerGroups(topology, ranks.first(job.workers));
    for (const auto& level : planned.workerGroups.levels)
    {
        planned.oversubscription = std::max(planned.oversubscription, level.oversubscription);
    }
    try
    {
        if (job.scheme.scheme->planOrigin == PlanOrigin::Estimate)
        {
            ChoosePlan(job, topology, planned);
        }
        else
        {
            planned.plan = std::make_shared<const Plan>(
                Compress(job.scheme.scheme->build(MakeRequest(job, planned.workerGroups)),
                         job,
                         planned.rankGroups));
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
    return planned;
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
    if (job.codec && job.codec->warmUp > 0)
    {
        const auto density = GetDensity(*job.codec, iteration);
        if (density != job.codec->density)
        {
            job.codec->unions.clear(); // they are those of the density after the warm-up
        }
        job.codec->density = density;
        job.codec->warmUp = 0;
    }
    return job;
}

PlannedJob
PlanJob(const JobSpec& job, const Topology& topology)
{
    auto planned = PlanIteration(AtIteration(job, 0), topology);
    const uint64_t warmUp = job.codec ? job.codec->warmUp : 0;
    for (uint64_t step = 1; step <= std::size(DGC_WARM_UP) && warmUp > 0; ++step)
    {
        const auto first = step * warmUp;
        if (first < job.iterations &&
            GetDensity(*job.codec, first) != GetDensity(*job.codec, first - 1))
        {
            const auto iteration = static_cast<uint32_t>(first);
            planned.laterPlans[iteration] =
                PlanIteration(AtIteration(job, iteration), topology).plan;
        }
    }
    return planned;
}

std::string
GetSchemeText(const JobSpec& job, const PlannedJob& planned)
{
    const auto& name = job.scheme.scheme->name;
    return planned.choice ? fmt::format("{}: {}", name, planned.choice->Describe()) : name;
}

std::vector<AutoCandidate>
RankSchemes(const JobSpec& job, const Topology& topology)
{
    const std::span<const uint32_t> ranks(job.endpointOf);
    const auto groups = ComputeWorkerGroups(topology, ranks.first(job.workers));
    const auto rankGroups = ComputeWorkerGroups(topology, ranks);
    try
    {
        return AutoPlanner(topology, job.network).Rank(MakeAutoRequest(job, groups, rankGroups));
    }
    catch (const SchemeError& error)
    {
        throw ToPlanningError(job, error);
    }
}

std::shared_ptr<const Plan>
PlanSurvivors(const JobSpec& job,
              const Topology& topology,
              std::span<const uint32_t> ranks,
              std::optional<uint64_t> bytes)
{
    auto left = job;
    left.gradientBytes = bytes.value_or(job.gradientBytes);
    left.endpointOf.clear();
    left.workers = 0;
    for (const auto rank : ranks)
    {
        left.endpointOf.push_back(job.endpointOf[rank]);
        left.workers += rank < job.workers ? 1 : 0;
    }
    const auto servers = static_cast<uint32_t>(ranks.size()) - left.workers;
    if (!SetServers(left.scheme, servers))
    {
        throw PlanningError(fmt::format("{}: scheme {}", job.name, job.scheme.scheme->name),
                            fmt::format("it cannot do with {} of {} dedicated servers",
                                        servers,
                                        job.endpointOf.size() - job.workers));
    }
    const auto planned = PlanJob(left, topology);
    VerifyJob(left, planned);
    return planned.plan;
}

std::shared_ptr<const Plan>
PlanFallback(const JobSpec& job,
             const Topology& topology,
             std::span<const uint32_t> ranks,
             std::optional<uint64_t> bytes)
{
    auto left = job;
    left.gradientBytes = bytes.value_or(job.gradientBytes);
    const auto& name = job.scheme.parameters.Get<std::string>(FALLBACK);
    left.scheme.scheme = FindScheme(name);
    left.scheme.parameters = MakeDefaultParameters(*left.scheme.scheme);
    left.endpointOf.clear();
    for (const auto rank : ranks)
    {
        left.endpointOf.push_back(job.endpointOf[rank]);
    }
    left.workers = static_cast<uint32_t>(ranks.size());
    const auto planned = PlanJob(left, topology);
    VerifyJob(left, planned);
    return planned.plan;
}

bool
HasFallback(const JobSpec& job)
{
    const auto& parameters = job.scheme.parameters.GetAll();
    const auto found = parameters.find(FALLBACK);
    return found != parameters.end() && std::get<std::string>(found->second) != "none";
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
        if (IsFromFile(job))
        {
            throw PlanningError(job.name, problem); // not our mistake
        }
        throw std::logic_error(fmt::format("{}: {}", job.name, problem));
    }
}

} // namespace ns3::gradsync
