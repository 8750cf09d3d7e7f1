// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/low-rank-exchange.h"

#include "ns3/low-rank.h"
#include "ns3/plan-join.h"
#include "ns3/time-range.h"

#include <array>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t FACTOR_BYTES = 4;

ChainStep
MakeStep(OperationKind kind,
         const std::shared_ptr<const CodecProfile>& profile,
         const std::string& kernel,
         uint64_t elements)
{
    const double seconds = profile ? profile->GetSeconds(kernel, elements) : 0.0;
    return {kind, static_cast<uint64_t>(ToTimeSteps(seconds * 1e12))};
}

void
CheckLowRank(const Scheme& scheme, const CodecChoice& choice)
{
    if (choice.scope != "all" || choice.elsewhere)
    {
        throw SchemeError("powersgd sums up its factors from worker to worker: it works on all "
                          "messages, without \"between\" and \"elsewhere\"");
    }
    if (scheme.planOrigin == PlanOrigin::File)
    {
        throw SchemeError("the file says what is exchanged, but powersgd exchanges two sums of "
                          "sizes of its own");
    }
    if (scheme.sendsCodedValues)
    {
        throw SchemeError(
            "what it sends are a codec's indices and values already (sizes, density): "
            "no other codec goes with it");
    }
}

} // namespace

Plan
BuildLowRankExchange(const Scheme& scheme,
                     const SchemeRequest& request,
                     const CodecChoice& choice,
                     const std::shared_ptr<const CodecProfile>& profile)
{
    CheckLowRank(scheme, choice);
    const auto& spec = choice.spec;
    const uint64_t elements = (request.gradientBytes + FACTOR_BYTES - 1) / FACTOR_BYTES;
    if (StaysDense(spec, elements))
    {
        return scheme.build(request);
    }
    const auto shape = GetLowRankShape(elements, spec.columns, spec.rank);
    std::vector<std::shared_ptr<const Plan>> parts;
    for (const uint64_t factors : {CountRowFactors(shape), CountColumnFactors(shape)})
    {
        auto part = request;
        part.gradientBytes = FACTOR_BYTES * factors;
        parts.push_back(std::make_shared<const Plan>(scheme.build(part)));
    }
    const auto& collective = parts.front()->GetCollective();
    if (!collective.IsAllReduce() || parts.front()->GetGate())
    {
        throw SchemeError(fmt::format(
            "powersgd sums up twice, which goes with synchronous all-reduces alone, "
            "but here is {}",
            parts.front()->GetGate() ? "one that leaves out who is late" : collective.GetTitle()));
    }
    if (parts.front()->HasAggregations())
    {
        throw SchemeError("a switch aggregates integers, but powersgd's factors are fractions that "
                          "are orthogonalised in between");
    }
    const std::array steps{
        MakeStep(OperationKind::Encode, profile, GetKernelName(spec, "encode-p"), elements),
        MakeStep(OperationKind::Encode, profile, GetKernelName(spec, "encode-q"), elements),
        MakeStep(OperationKind::Decode, profile, GetKernelName(spec, "decode"), elements)};
    try
    {
        return ChainPlans(parts, steps, request.gradientBytes);
    }
    catch (const std::invalid_argument& error)
    {
        throw SchemeError(fmt::format("powersgd: {}", error.what()));
    }
}

} // namespace ns3::gradsync
