// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scheme-groups.h"

#include "ns3/scheme-support.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ns3::gradsync
{

std::vector<Ranks>
CollectGroups(const GroupLevel& level)
{
    std::vector<Ranks> groups(level.groupCount);
    for (uint32_t rank = 0; rank < level.groupOf.size(); ++rank)
    {
        groups[level.groupOf[rank]].push_back(rank);
    }
    std::erase_if(groups, [](const Ranks& group) { return group.empty(); });
    return groups;
}

std::vector<Ranks>
CutGroups(uint32_t workers, uint32_t groupSize)
{
    std::vector<Ranks> groups;
    for (uint32_t rank = 0; rank < workers; ++rank)
    {
        if (rank % groupSize == 0)
        {
            groups.emplace_back();
        }
        groups.back().push_back(rank);
    }
    return groups;
}

std::vector<Ranks>
FindGroups(const SchemeRequest& request, DefaultGroups byDefault)
{
    const auto& name = request.parameters.Get<std::string>("groupLevel");
    const auto groupSize = GetCount(request.parameters, "groupSize", 0);
    if (groupSize > 0 && !name.empty())
    {
        throw SchemeError("groupSize and groupLevel exclude each other");
    }
    if (groupSize > 0)
    {
        return CutGroups(request.workers, groupSize);
    }
    const bool takesServers = byDefault != DefaultGroups::InnermostLevel;
    std::vector<std::string> names;
    for (const auto& level : request.groups.levels)
    {
        // Innermost level first.
        auto groups = CollectGroups(level);
        const bool isDefault =
            takesServers ? level.name == "server" : groups.size() < request.workers;
        if (name.empty() ? isDefault : level.name == name)
        {
            return groups;
        }
        names.push_back(level.name);
    }
    if (!name.empty())
    {
        throw SchemeError(
            fmt::format("groupLevel \"{}\" does not exist; the levels are: {}",
                        name,
                        names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
    }
    return CutGroups(request.workers, byDefault == DefaultGroups::Servers ? 1 : request.workers);
}

namespace
{

const char*
DescribeDefault(DefaultGroups byDefault)
{
    switch (byDefault)
    {
    case DefaultGroups::Servers:
        return "\"server\" where it exists, else every rank alone";
    case DefaultGroups::ServersOrAll:
        return "\"server\" where it exists, else all ranks together";
    case DefaultGroups::InnermostLevel:
        break;
    }
    return "the innermost one with a group of more than one rank";
}

} // namespace

std::vector<ParameterSpec>
MakeGroupSpecs(DefaultGroups byDefault)
{
    const std::string standard = DescribeDefault(byDefault);
    return {
        {"groupLevel",
         std::string(),
         "level of the topology that forms the groups; empty: " + standard,
         {},
         -std::numeric_limits<double>::infinity(),
         std::numeric_limits<double>::infinity(),
         {std::string("rack"), std::string("pod")}},
        {"groupSize",
         int64_t{0},
         "ranks per group, cut in rank order; 0: groups of the topology",
         {},
         0,
         1 << 20},
    };
}

std::vector<Ranks>
SplitWorkers(const SchemeRequest& request, const std::string& parameter)
{
    const auto count = GetCount(request.parameters, parameter, 1);
    if (count > request.workers)
    {
        throw SchemeError(fmt::format("{} is {}, but there are only {} workers",
                                      parameter,
                                      count,
                                      request.workers));
    }
    for (const auto& level : request.groups.levels)
    {
        auto groups = CollectGroups(level);
        if (groups.size() == count)
        {
            return groups;
        }
    }
    std::vector<Ranks> groups(count);
    for (uint32_t rank = 0; rank < request.workers; ++rank)
    {
        groups[uint64_t{rank} * count / request.workers].push_back(rank);
    }
    return groups;
}

uint32_t
GetLargestSize(const std::vector<Ranks>& groups)
{
    size_t largest = 0;
    for (const auto& group : groups)
    {
        largest = std::max(largest, group.size());
    }
    return static_cast<uint32_t>(largest);
}

} // namespace ns3::gradsync
