// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/exchange-builder.h"

#include "ns3/plan-compressor.h"
#include "ns3/plan-join.h"
#include "ns3/planning-error.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// The time of a part of a codec; no function without a profile.
std::function<double(uint64_t)>
GetCosts(const JobSpec& job, const CodecSpec& codec, const std::string& part)
{
    const auto kernel = GetKernelName(codec.kind, part);
    if (!job.profile || kernel.empty())
    {
        return {};
    }
    return [profile = job.profile, kernel](uint64_t elements) {
        return profile->GetSeconds(kernel, elements);
    };
}

CodecUse
GetUse(const JobSpec& job, const CodecSpec& codec)
{
    return {codec, {GetCosts(job, codec, "encode"), GetCosts(job, codec, "decode")}};
}

/// \param groups of all ranks. \throws SchemeError
CodecScope
GetScope(const JobSpec& job, const WorkerGroups& groups)
{
    if (job.codec->scope == "all")
    {
        return {};
    }
    if (job.codec->scope == "servers")
    {
        return [workers = job.workers](uint32_t src, uint32_t dst) {
            return std::min(src, dst) >= workers;
        };
    }
    std::vector<std::string> names{"all", "servers"};
    for (const auto& level : groups.levels)
    {
        if (level.name == job.codec->scope)
        {
            return [groupOf = level.groupOf](uint32_t src, uint32_t dst) {
                return groupOf.at(src) != groupOf.at(dst);
            };
        }
        names.push_back(level.name);
    }
    throw PlanningError(fmt::format("{}: codec.between", job.name),
                        fmt::format("found \"{}\", but here it can be: {}",
                                    job.codec->scope,
                                    fmt::join(names, ", ")));
}

/// Workers beyond which sums in 8 bits leave each nothing but 0.
constexpr size_t MAX_INT8_WORKERS = 127;

/// Whether switches can aggregate what the job's codec makes of gradients. \throws SchemeError
void
CheckSummable(const Plan& plan, const JobSpec& job)
{
    const auto& codec = GetCodecInfo(job.codec->spec.kind);
    if (job.codec->elsewhere)
    {
        throw SchemeError("all that switches aggregate is of one codec: it has no \"elsewhere\"");
    }
    if (!codec.isSummable)
    {
        throw SchemeError(
            fmt::format("a switch aggregates integers: the codec must be fixed-point, "
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
    if (!job.codec || (job.codec->spec.kind == CodecKind::Fp32 && !job.codec->elsewhere))
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
    if (job.scheme.scheme->planOrigin == PlanOrigin::File && !plan.GetCollective().IsAllReduce())
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
    const auto use = GetUse(job, job.codec->spec);
    const auto scope = GetScope(job, groups);
    return job.codec->elsewhere ? CompressPlan(plan, use, scope, GetUse(job, *job.codec->elsewhere))
                                : CompressPlan(plan, use.codec, use.costs, scope);
}

/// One of the tensors as a job of its own.
JobSpec
AtTensor(const JobSpec& job, const TensorSpec& tensor)
{
    auto own = job;
    own.gradientBytes = tensor.bytes;
    own.codec = tensor.codec;
    own.tensors.clear();
    return own;
}

Plan
BuildTensors(const JobSpec& job,
             const Scheme& scheme,
             const SchemeRequest& request,
             const WorkerGroups& rankGroups)
{
    if (job.tensors.empty())
    {
        return Compress(scheme.build(request), job, rankGroups);
    }
    if (job.scheme.scheme->planOrigin == PlanOrigin::File)
    {
        throw SchemeError("the file says what is exchanged: \"tensors\" do not go with it");
    }
    std::vector<std::shared_ptr<const Plan>> parts;
    for (const auto& tensor : job.tensors)
    {
        const auto own = AtTensor(job, tensor);
        auto part = request;
        part.gradientBytes = tensor.bytes;
        const auto plan =
            std::make_shared<const Plan>(Compress(scheme.build(part), own, rankGroups));
        parts.insert(parts.end(), tensor.count, plan);
    }
    try
    {
        return JoinPlans(parts);
    }
    catch (const std::invalid_argument& error)
    {
        throw SchemeError(fmt::format("tensors: {}", error.what()));
    }
}

} // namespace

Plan
BuildExchange(const JobSpec& job,
              const Scheme& scheme,
              const SchemeRequest& request,
              const WorkerGroups& rankGroups)
{
    return MakeWithinLimits([&] { return BuildTensors(job, scheme, request, rankGroups); });
}

} // namespace ns3::gradsync
