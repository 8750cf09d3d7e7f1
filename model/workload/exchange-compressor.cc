// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/exchange-compressor.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

using SharedProfile = std::shared_ptr<const CodecProfile>;

/// The time of a part of a codec; no function without a profile.
std::function<double(uint64_t)>
GetCosts(const SharedProfile& profile, const CodecSpec& codec, const std::string& part)
{
    const auto kernel = GetKernelName(codec, part);
    if (!profile || kernel.empty())
    {
        return {};
    }
    return [profile, kernel](uint64_t elements) { return profile->GetSeconds(kernel, elements); };
}

/// \param areSumsOfSwitches int8 then has the exponents of packets in the place of scales
CodecUse
GetUse(const SharedProfile& profile, const CodecSpec& codec, bool areSumsOfSwitches = false)
{
    const std::string prefix = areSumsOfSwitches && codec.kind == CodecKind::Int8 ? "switch-" : "";
    CodecUse use{
        codec,
        {GetCosts(profile, codec, prefix + "encode"), GetCosts(profile, codec, prefix + "decode")}};
    if (codec.kind == CodecKind::Thc)
    {
        use.costs.addSeconds = GetCosts(profile, codec, "add");
    }
    return use;
}

/// Those that switches can add, but for fp32, which is as it is.
std::string
NameSummable()
{
    std::vector<std::string> names;
    for (const auto& codec : GetCodecs())
    {
        if (codec.isSummable && codec.kind != CodecKind::Fp32)
        {
            names.push_back(codec.name);
        }
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

/// Whether switches can aggregate what the codec makes of gradients. \throws SchemeError
void
CheckSummable(const Plan& plan, const CodecChoice& choice)
{
    const auto& codec = GetCodecInfo(choice.spec.kind);
    if (choice.elsewhere)
    {
        throw SchemeError("all that switches aggregate is of one codec: it has no \"elsewhere\"");
    }
    if (plan.GetAggregationProtocol().addsFloats)
    {
        throw SchemeError(fmt::format("the switches of this scheme add gradients as they are: the "
                                      "codec must be fp32, but it is {}",
                                      codec.name));
    }
    if (!codec.isSummable)
    {
        throw SchemeError(
            fmt::format("a switch aggregates integers: the codec must be {}, or fp32 for integers "
                        "that take no time, but it is {}",
                        NameSummable(),
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
    CheckSummands(choice.spec, static_cast<uint32_t>(most));
}

} // namespace

CodecScope
MakeCodecScope(const std::string& scope, uint32_t workers, const WorkerGroups& groups)
{
    if (scope == "all")
    {
        return {};
    }
    if (scope == "servers")
    {
        return [workers](uint32_t src, uint32_t dst) { return std::min(src, dst) >= workers; };
    }
    std::vector<std::string> names{"all", "servers"};
    for (const auto& level : groups.levels)
    {
        if (level.name == scope)
        {
            return [groupOf = level.groupOf](uint32_t src, uint32_t dst) {
                return groupOf.at(src) != groupOf.at(dst);
            };
        }
        names.push_back(level.name);
    }
    throw CodecScopeError(
        fmt::format("found \"{}\", but here it can be: {}", scope, fmt::join(names, ", ")));
}

Plan
CompressExchange(Plan plan,
                 const Scheme& scheme,
                 const CodecChoice& choice,
                 const CodecScope& scope,
                 const SharedProfile& profile)
{
    if (!choice.IsCodec())
    {
        return plan;
    }
    if (choice.spec.kind == CodecKind::PowerSgd)
    {
        throw std::invalid_argument("powersgd compresses no plan: it makes two of them");
    }
    if (scheme.sendsCodedValues)
    {
        throw SchemeError(
            "what it sends are a codec's indices and values already (sizes, density): "
            "no other codec goes with it");
    }
    if (plan.HasAggregations())
    {
        CheckSummable(plan, choice);
    }
    const auto operations = plan.GetOperations();
    if (plan.IsCompressed() ||
        std::any_of(operations.begin(), operations.end(), std::mem_fn(&Operation::IsCompute)))
    {
        throw SchemeError("the plan in the file is compressed already, but the job has a codec");
    }
    const auto use = GetUse(profile, choice.spec, plan.HasAggregations());
    return choice.elsewhere ? CompressPlan(plan, use, scope, GetUse(profile, *choice.elsewhere))
                            : CompressPlan(plan, use.codec, use.costs, scope);
}

} // namespace ns3::gradsync
