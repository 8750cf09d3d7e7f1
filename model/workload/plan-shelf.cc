// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-shelf.h"

#include "ns3/plan-builder.h"
#include "ns3/workload-builder.h"

#include <fmt/format.h>
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

} // namespace

PlanShelf::PlanShelf(GroupFinder findGroups, uint32_t elementBytes)
    : m_findGroups(std::move(findGroups)),
      m_elementBytes(elementBytes)
{
}

std::shared_ptr<const Plan>
PlanShelf::GetCollective(const SchemeChoice& choice,
                         std::span<const uint32_t> ranks,
                         uint64_t bytes)
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
    auto& plan = m_plans[{scheme.name,
                          choice.parameters.GetAll(),
                          Flatten(request.groups),
                          request.workers,
                          bytes}];
    if (!plan)
    {
        plan =
            std::make_shared<const Plan>(MakeWithinLimits([&] { return scheme.build(request); }));
    }
    return plan;
}

WorkerGroups
PlanShelf::FindGroups(std::span<const uint32_t> ranks) const
{
    return m_findGroups ? m_findGroups(ranks) : WorkerGroups();
}

std::shared_ptr<const Plan>
PlanShelf::GetMessage(uint64_t bytes)
{
    auto& plan = m_plans[{"", {}, {}, 2, bytes}];
    if (!plan)
    {
        PlanBuilder builder(2, 2, ChunkLayout::Even(bytes, 1, 1), Collective("message", {0}, {1}));
        builder.AddCopy(0, 1, 0, 1);
        plan = std::make_shared<const Plan>(builder.Build());
    }
    return plan;
}

} // namespace ns3::gradsync
