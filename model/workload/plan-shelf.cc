// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-shelf.h"

#include "ns3/exchange-compressor.h"
#include "ns3/low-rank-exchange.h"
#include "ns3/plan-builder.h"
#include "ns3/plan-protocol.h"
#include "ns3/workload-builder.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// The same for groups that schemes cannot tell apart.
std::vector<double>
Flatten(const WorkerGroups& groups)
{
    std::vector<double> flat;
    for (const auto& level : groups.levels)
    {
        flat.push_back(level.groupCount);
        flat.push_back(level.oversubscription);
        flat.insert(flat.end(), level.groupOf.begin(), level.groupOf.end());
    }
    return flat;
}

/// A sum of selections is their union, which only those know that pass it on.
void
CheckSparse(const Plan& plan, const CodecChoice& choice, const CodecScope& scope)
{
    const auto& codec = GetCodecInfo(choice.spec.kind);
    const auto operations = plan.GetOperations();
    const bool isUsed = std::ranges::any_of(operations, [&scope](const Operation& operation) {
        return operation.IsTransfer() && (!scope || scope(operation.src, operation.dst));
    });
    if (codec.isSparse && isUsed && !plan.GetCollective().IsAllReduce())
    {
        throw SchemeError(
            fmt::format("the codec {} sends what it selects of gradients, which goes with "
                        "all-reduces alone: here is {}, which needs a codec of all elements, such "
                        "as int8",
                        codec.name,
                        plan.GetCollective().GetTitle()));
    }
}

/// What holds for one iteration alone, or for others than ranks.
void
CheckChoice(const CodecChoice& choice)
{
    if (choice.spec.warmUp > 0)
    {
        throw WorkloadError("training iterations are all alike: a codec has no \"warmUp\" in them");
    }
    if (choice.scope == "servers")
    {
        throw WorkloadError("training has no dedicated servers: \"between\" can be all, or a level "
                            "of the topology");
    }
}

/// \param groups of the ranks \param made by the scheme
Plan
CompressGradients(Plan made,
                  const Scheme& scheme,
                  const ProfiledCodec& codec,
                  const WorkerGroups& groups)
{
    CheckChoice(codec.choice);
    const auto scope = MakeCodecScope(codec.choice.scope, made.GetWorkerCount(), groups);
    CheckSparse(made, codec.choice, scope);
    return CompressExchange(std::move(made), scheme, codec.choice, scope, codec.profile);
}

} // namespace

PlanShelf::PlanShelf(GroupFinder findGroups, uint32_t elementBytes)
    : m_findGroups(std::move(findGroups)),
      m_elementBytes(elementBytes)
{
}

void
PlanShelf::SetLevels(WorkerGroups levels)
{
    m_levels = std::move(levels);
}

void
PlanShelf::SetProtocol(const MessageProtocol& protocol, std::vector<uint32_t> serverOf)
{
    m_protocol = protocol;
    m_serverOf = std::move(serverOf);
}

/// Of some of the ranks, in order of first appearance; empty where nobody asks for them.
std::vector<uint32_t>
PlanShelf::NumberServers(std::span<const uint32_t> ranks) const
{
    std::vector<uint32_t> servers;
    if (!m_protocol)
    {
        return servers;
    }
    std::map<uint32_t, uint32_t> numbers;
    for (const auto rank : ranks)
    {
        const auto next = static_cast<uint32_t>(numbers.size());
        servers.push_back(numbers.try_emplace(m_serverOf.at(rank), next).first->second);
    }
    return servers;
}

Plan
PlanShelf::AddProtocol(Plan plan, std::span<const uint32_t> ranks) const
{
    if (!m_protocol)
    {
        return plan;
    }
    try
    {
        return ApplyProtocol(std::move(plan), *m_protocol, NumberServers(ranks));
    }
    catch (const std::invalid_argument& error)
    {
        throw SchemeError(fmt::format("protocol: {}", error.what()));
    }
}

/// That a codec may name, of some of the ranks.
WorkerGroups
PlanShelf::FindLevels(std::span<const uint32_t> ranks, const SharedCodec& codec) const
{
    WorkerGroups groups;
    if (!codec || codec->choice.scope == "all")
    {
        return groups;
    }
    for (const auto& level : m_levels.levels)
    {
        auto& own = groups.levels.emplace_back();
        own.name = level.name;
        std::ranges::transform(ranks, std::back_inserter(own.groupOf), [&level](uint32_t rank) {
            return level.groupOf.at(rank);
        });
    }
    return groups;
}

Plan
PlanShelf::Build(const Scheme& scheme,
                 const SchemeRequest& request,
                 std::span<const uint32_t> ranks,
                 const SharedCodec& codec) const
{
    return MakeWithinLimits([&] {
        if (!scheme.build)
        {
            throw SchemeError(
                fmt::format("the scheme {} is none for the collectives of training", scheme.name));
        }
        const bool isLowRank = codec && codec->choice.spec.kind == CodecKind::PowerSgd;
        auto plan = isLowRank ? BuildLowRankExchange(scheme, request, codec->choice, codec->profile)
                              : scheme.build(request);
        if (plan.GetGate())
        {
            throw SchemeError(fmt::format("the scheme {} is none for the collectives of training: "
                                          "it trains itself, in rounds that leave out who is late",
                                          scheme.name));
        }
        if (codec && !isLowRank)
        {
            plan = CompressGradients(std::move(plan), scheme, *codec, FindLevels(ranks, codec));
        }
        return AddProtocol(std::move(plan), ranks);
    });
}

std::shared_ptr<const Plan>
PlanShelf::GetCollective(const SchemeChoice& choice,
                         std::span<const uint32_t> ranks,
                         uint64_t bytes,
                         const SharedCodec& codec)
{
    const auto& scheme = *choice.scheme;
    if (scheme.countServers && scheme.countServers(choice.parameters) != 0)
    {
        throw WorkloadError(
            fmt::format("{} with dedicated servers is no collective among ranks", scheme.name));
    }
    SchemeRequest request;
    request.workers = static_cast<uint32_t>(ranks.size());
    request.gradientBytes = bytes;
    request.elementBytes = m_elementBytes;
    request.parameters = choice.parameters;
    request.groups = FindGroups(ranks);
    std::vector<uint32_t> named;
    for (const auto& level : FindLevels(ranks, codec).levels)
    {
        named.insert(named.end(), level.groupOf.begin(), level.groupOf.end());
    }
    auto& plan = m_plans[{scheme.name,
                          choice.parameters.GetAll(),
                          Flatten(request.groups),
                          request.workers,
                          bytes,
                          codec,
                          std::move(named),
                          NumberServers(ranks)}];
    if (!plan)
    {
        plan = std::make_shared<const Plan>(Build(scheme, request, ranks, codec));
    }
    return plan;
}

WorkerGroups
PlanShelf::FindGroups(std::span<const uint32_t> ranks) const
{
    return m_findGroups ? m_findGroups(ranks) : WorkerGroups();
}

std::shared_ptr<const Plan>
PlanShelf::GetMessage(std::span<const uint32_t> ranks, uint64_t bytes)
{
    auto& plan = m_plans[{"", {}, {}, 2, bytes, {}, {}, NumberServers(ranks)}];
    if (!plan)
    {
        PlanBuilder builder(2, 2, ChunkLayout::Even(bytes, 1, 1), Collective("message", {0}, {1}));
        builder.AddCopy(0, 1, 0, 1);
        plan = std::make_shared<const Plan>(AddProtocol(builder.Build(), ranks));
    }
    return plan;
}

std::shared_ptr<const Plan>
PlanShelf::GetShift(std::span<const uint32_t> ranks, uint64_t bytes)
{
    const auto count = static_cast<uint32_t>(ranks.size());
    auto& plan = m_plans[{"shift", {}, {}, count, bytes, {}, {}, NumberServers(ranks)}];
    if (!plan)
    {
        std::vector<uint32_t> sources(count);
        std::iota(sources.begin(), sources.end(), 0);
        auto targets = sources;
        std::rotate(targets.begin(), targets.begin() + 1, targets.end());
        PlanBuilder builder(count,
                            count,
                            ChunkLayout::FromSizes(std::vector<uint64_t>(count, bytes)),
                            Collective("shift", std::move(sources), targets));
        for (uint32_t rank = 0; rank < count; ++rank)
        {
            builder.AddCopy(rank, targets[rank], rank, 1);
        }
        plan = std::make_shared<const Plan>(AddProtocol(builder.Build(), ranks));
    }
    return plan;
}

} // namespace ns3::gradsync
