// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scheme-support.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t MAX_COUNT = 1u << 20;
constexpr uint64_t MAX_CHUNKS = 1u << 24;
constexpr uint64_t MAX_PLACES = 1u << 28;

} // namespace

void
CheckRequest(const SchemeRequest& request)
{
    if (request.workers == 0 || request.gradientBytes == 0 || request.elementBytes == 0)
    {
        throw SchemeError(
            "an exchange needs at least one worker, one byte of gradient and one byte "
            "per element");
    }
    for (const auto& level : request.groups.levels)
    {
        const bool fits =
            level.groupOf.size() == request.workers &&
            std::all_of(level.groupOf.begin(), level.groupOf.end(), [&level](uint32_t group) {
                return group < level.groupCount;
            });
        if (!fits)
        {
            throw SchemeError(fmt::format(
                "the groups of level \"{}\" do not fit {} workers: {} members, {} groups",
                level.name,
                request.workers,
                level.groupOf.size(),
                level.groupCount));
        }
    }
}

uint32_t
GetCount(const ParameterSet& parameters, const std::string& name, uint32_t minimum)
{
    const auto value = parameters.Get<int64_t>(name);
    if (value < int64_t{minimum} || value > int64_t{MAX_COUNT})
    {
        throw SchemeError(
            fmt::format("{} is {}, but must be from {} to {}", name, value, minimum, MAX_COUNT));
    }
    return static_cast<uint32_t>(value);
}

uint32_t
CountChunks(uint32_t parts, uint32_t pipelineChunks)
{
    const uint64_t chunks = uint64_t{parts} * pipelineChunks;
    if (chunks > MAX_CHUNKS)
    {
        throw SchemeError(
            fmt::format("{} parts of {} chunks are {} chunks, but at most {} are allowed",
                        parts,
                        pipelineChunks,
                        chunks,
                        MAX_CHUNKS));
    }
    return static_cast<uint32_t>(chunks);
}

uint32_t
CountTrackedChunks(uint32_t ranks, uint32_t parts, uint32_t pipelineChunks)
{
    const auto chunks = CountChunks(parts, pipelineChunks);
    if (uint64_t{ranks} * chunks > MAX_PLACES)
    {
        throw SchemeError(
            fmt::format("{} chunks at each of {} ranks are {} to keep track of, but at most {} are "
                        "allowed; a smaller pipelineChunks helps",
                        chunks,
                        ranks,
                        uint64_t{ranks} * chunks,
                        MAX_PLACES));
    }
    return chunks;
}

std::vector<ParameterSpec>
MergeSpecs(std::vector<ParameterSpec> first, const std::vector<ParameterSpec>& second)
{
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

uint32_t
CountNoServers(const ParameterSet& /* parameters */)
{
    return 0;
}

ParameterSpec
MakePipelineChunksSpec(int64_t defaultValue, std::string help)
{
    return {"pipelineChunks",
            defaultValue,
            std::move(help),
            {},
            1,
            MAX_COUNT,
            {int64_t{1}, int64_t{4}, int64_t{16}}};
}

} // namespace ns3::gradsync
