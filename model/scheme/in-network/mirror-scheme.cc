// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fallback-spec.h"
#include "ns3/plan-builder.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <numeric>

namespace ns3::gradsync
{

namespace
{

Plan
BuildMirror(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    CountChunks(request.workers, pieces); // each worker has an operation for each
    const auto layout = ChunkLayout::Even(request.gradientBytes, pieces, request.elementBytes);
    PlanBuilder builder(request.workers, request.workers, layout);
    if (request.workers > 1)
    {
        std::vector<uint32_t> all(request.workers);
        std::iota(all.begin(), all.end(), 0U);
        const auto group =
            builder.AddAggregationGroup(std::move(all), {.name = "mirror", .hasExponents = true});
        for (uint32_t piece = 0; piece < pieces; ++piece)
        {
            if (layout.GetBytes(piece, 1) > 0)
            {
                builder.AddAggregate(group, piece, 1);
            }
        }
    }
    return builder.Build();
}

} // namespace

Scheme
MakeMirrorScheme()
{
    return {
        "mirror",
        "mirror: in slots of its own the switches aggregate the gradients of all workers, and send "
        "everyone the sum",
        "Sapio et al., NSDI 2021, sections 3 and 4",
        {MakePipelineChunksSpec(1, "pieces of the gradient that are aggregated one after another"),
         MakeFallbackSpec()},
        CountNoServers,
        BuildMirror,
    };
}

} // namespace ns3::gradsync
