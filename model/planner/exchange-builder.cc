// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/exchange-builder.h"

#include "ns3/exchange-compressor.h"
#include "ns3/low-rank-exchange.h"
#include "ns3/plan-join.h"
#include "ns3/plan-protocol.h"
#include "ns3/planning-error.h"

#include <fmt/format.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Of a gradient that is exchanged as one. \param groups of all ranks
Plan
BuildOne(const JobSpec& job,
         const Scheme& made,
         const SchemeRequest& request,
         const WorkerGroups& groups)
{
    if (job.codec && job.codec->spec.kind == CodecKind::PowerSgd)
    {
        return BuildLowRankExchange(made, request, *job.codec, job.profile);
    }
    auto plan = made.build(request);
    if (!job.codec || !job.codec->IsCodec())
    {
        return plan;
    }
    const auto& scheme = *job.scheme.scheme;
    if (scheme.planOrigin == PlanOrigin::File && !plan.GetCollective().IsAllReduce())
    {
        throw SchemeError(fmt::format("a codec is for gradients, but the file has {}",
                                      plan.GetCollective().GetTitle()));
    }
    try
    {
        const auto scope = MakeCodecScope(job.codec->scope, job.workers, groups);
        return CompressExchange(std::move(plan), scheme, *job.codec, scope, job.profile);
    }
    catch (const CodecScopeError& error)
    {
        throw PlanningError(fmt::format("{}: codec.between", job.name), error.what());
    }
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
        return BuildOne(job, scheme, request, rankGroups);
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
        const auto plan = std::make_shared<const Plan>(BuildOne(own, scheme, part, rankGroups));
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
              const WorkerGroups& rankGroups,
              const std::vector<uint32_t>& serverOf)
{
    return MakeWithinLimits([&] {
        auto plan = BuildTensors(job, scheme, request, rankGroups);
        if (!job.protocol)
        {
            return plan;
        }
        try
        {
            return ApplyProtocol(std::move(plan), *job.protocol, serverOf);
        }
        catch (const std::invalid_argument& error)
        {
            throw SchemeError(fmt::format("protocol: {}", error.what()));
        }
    });
}

} // namespace ns3::gradsync
