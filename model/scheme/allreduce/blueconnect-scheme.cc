// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/grid-support.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ns3::gradsync
{

namespace
{

/// Sizes that a scenario gives. \throws SchemeError when they are not those of a full grid
std::vector<uint32_t>
ReadSizes(const std::vector<double>& dimensions, uint32_t workers)
{
    std::vector<uint32_t> sizes;
    uint64_t product = 1;
    for (const auto size : dimensions)
    {
        if (!(size >= 1 && size <= workers) || size != std::floor(size))
        {
            throw SchemeError(
                fmt::format("dimensions has {}, but each must be a whole number from 1 to the {} "
                            "workers",
                            size,
                            workers));
        }
        sizes.push_back(static_cast<uint32_t>(size));
        product = std::min<uint64_t>(product * sizes.back(), uint64_t{1} << 40);
    }
    if (product != workers)
    {
        throw SchemeError(fmt::format("dimensions are {}, but their product must be the {} workers",
                                      fmt::join(sizes, " x "),
                                      workers));
    }
    return sizes;
}

/// One dimension per level of the topology: ranks in a group, groups in the next one, ...
std::vector<uint32_t>
DeriveSizes(const SchemeRequest& request)
{
    std::vector<uint32_t> sizes;
    uint32_t inside = 1; // ranks in a group of the level below
    for (const auto& level : request.groups.levels)
    {
        const auto groups = CollectGroups(level);
        const auto size = static_cast<uint32_t>(groups.front().size());
        if (std::any_of(groups.begin(), groups.end(), [size](const Ranks& group) {
                return group.size() != size;
            }))
        {
            throw SchemeError(
                fmt::format("the groups of level \"{}\" differ in size, which is no grid: give "
                            "dimensions, or take plink or rat",
                            level.name));
        }
        sizes.push_back(size / inside);
        inside = size;
    }
    sizes.push_back(request.workers / inside);
    std::erase(sizes, 1U);
    return sizes;
}

/// Ranks so that the members of every group stand side by side.
Ranks
SortByGroups(const SchemeRequest& request)
{
    auto ranks = CountUp(request.workers);
    for (const auto& level : request.groups.levels) // innermost first: the outermost decides
    {
        std::stable_sort(ranks.begin(), ranks.end(), [&level](uint32_t a, uint32_t b) {
            return level.groupOf[a] < level.groupOf[b];
        });
    }
    return ranks;
}

/// \throws SchemeError when a group of some level holds only a part of one of a lower level
void
CheckNesting(const SchemeRequest& request, const Ranks& sorted)
{
    for (const auto& level : request.groups.levels)
    {
        uint32_t changes = 0; // of the group along the sorted ranks: one less than there are groups
        for (size_t i = 1; i < sorted.size(); ++i)
        {
            changes += level.groupOf[sorted[i]] == level.groupOf[sorted[i - 1]] ? 0 : 1;
        }
        if (changes >= CollectGroups(level).size())
        {
            throw SchemeError(fmt::format(
                "the levels are no grid: groups of a higher level cut through those of level "
                "\"{}\"; give dimensions",
                level.name));
        }
    }
}

Plan
BuildBlueConnect(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto& dimensions = request.parameters.Get<std::vector<double>>("dimensions");
    GridStreams streams;
    streams.ranks = dimensions.empty() ? SortByGroups(request) : CountUp(request.workers);
    streams.sizes =
        dimensions.empty() ? DeriveSizes(request) : ReadSizes(dimensions, request.workers);
    if (dimensions.empty())
    {
        CheckNesting(request, streams.ranks);
    }
    streams.orders = {CountUp(static_cast<uint32_t>(streams.sizes.size()))};
    return BuildGridPlan(request, streams);
}

} // namespace

Scheme
MakeBlueConnectScheme()
{
    return {
        "blueconnect",
        "BlueConnect: rings in one dimension after the other, each on what the one before left",
        "Cho et al. 2019 (IBM)",
        {
            {"dimensions",
             std::vector<double>{},
             "ranks in each dimension, the one of consecutive ranks first; empty: one dimension "
             "per level of the topology",
             {},
             1,
             1 << 20},
            MakePipelineChunksSpec(1, "pieces of the gradient that are exchanged one by one"),
        },
        CountNoServers,
        BuildBlueConnect,
    };
}

} // namespace ns3::gradsync
