// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/lock-step.h"
#include "ns3/plan-builder.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <cstdint>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Chunk i w + j is what worker i has for worker j.
Collective
MakeAllToAll(uint32_t workers)
{
    std::vector<uint32_t> sources;
    std::vector<uint32_t> targets;
    sources.reserve(size_t{workers} * workers);
    targets.reserve(size_t{workers} * workers);
    for (uint32_t chunk = 0; chunk < workers * workers; ++chunk)
    {
        sources.push_back(chunk / workers);
        targets.push_back(chunk % workers);
    }
    return {"all-to-all", std::move(sources), std::move(targets)};
}

/// The buffers of all workers one after the other, each of its own K bytes and cut alike: also
/// where K is no whole number of elements, or of elements for each.
ChunkLayout
LayOutBlocks(const SchemeRequest& request)
{
    const auto workers = request.workers;
    const auto blocks = ChunkLayout::Even(request.gradientBytes, workers, request.elementBytes);
    std::vector<uint64_t> sizes;
    sizes.reserve(size_t{workers} * workers);
    for (uint32_t chunk = 0; chunk < workers * workers; ++chunk)
    {
        sizes.push_back(blocks.GetBytes(chunk % workers, 1));
    }
    return ChunkLayout::FromSizes(sizes);
}

/// No two transfers touch the same chunk: the only edges are those of the pairwise steps.
Plan
BuildAllToAll(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto workers = request.workers;
    CountChunks(workers, workers);
    constexpr uint64_t MAX_BYTES = uint64_t{1} << 52;
    if (request.gradientBytes > MAX_BYTES / workers)
    {
        throw SchemeError(fmt::format("{} workers with {} bytes each are more than {} bytes",
                                      workers,
                                      request.gradientBytes,
                                      MAX_BYTES));
    }
    const auto layout = LayOutBlocks(request);
    const bool isPairwise = request.parameters.Get<std::string>("algorithm") == "pairwise";
    PlanBuilder builder(workers, workers, layout, MakeAllToAll(workers));
    LockStep steps(builder, workers);
    for (uint32_t turn = 1; turn < workers; ++turn)
    {
        if (isPairwise)
        {
            steps.Begin();
        }
        for (uint32_t src = 0; src < workers; ++src)
        {
            const auto dst = (src + turn) % workers;
            const auto chunk = src * workers + dst;
            if (layout.GetBytes(chunk, 1) > 0)
            {
                isPairwise ? steps.AddCopy(src, dst, chunk, 1)
                           : static_cast<void>(builder.AddCopy(src, dst, chunk, 1));
            }
        }
    }
    return builder.Build();
}

} // namespace

Scheme
MakeAllToAllScheme()
{
    return {
        "all-to-all",
        "collective: every worker has one w-th of its buffer for every worker",
        "Thakur et al. 2005",
        {{"algorithm",
          std::string("direct"),
          "direct: everything at once; pairwise: in step t to the rank t further, which waits for "
          "what was sent and received in the step before",
          {"direct", "pairwise"}}},
        CountNoServers,
        BuildAllToAll,
    };
}

} // namespace ns3::gradsync
