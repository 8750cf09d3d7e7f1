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

uint32_t
CountServers(const ParameterSet& parameters)
{
    return GetCount(parameters, "servers", 1);
}

Plan
BuildAtp(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto servers = CountServers(request.parameters);
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    CountChunks(request.workers, pieces); // each worker has operations for each piece
    const auto chunks = CountChunks(servers, pieces);
    const auto layout = ChunkLayout::Even(request.gradientBytes, chunks, request.elementBytes);
    PlanBuilder builder(request.workers + servers, request.workers, layout);
    if (request.workers > 1)
    {
        std::vector<uint32_t> all(request.workers);
        std::iota(all.begin(), all.end(), 0U);
        for (uint32_t server = 0; server < servers; ++server)
        {
            builder.AddAggregationGroup(all, {.name = "atp"});
        }
        // Of each piece every server has a shard; group i is the one of server i.
        for (uint32_t piece = 0; piece < pieces; ++piece)
        {
            for (uint32_t server = 0; server < servers; ++server)
            {
                const auto chunk = piece * servers + server;
                if (layout.GetBytes(chunk, 1) > 0)
                {
                    builder.AddAggregate(server, chunk, 1);
                }
            }
        }
    }
    return builder.Build();
}

} // namespace

Scheme
MakeAtpScheme()
{
    return {
        "atp",
        "ATP: switches aggregate as far as they have room, parameter servers the rest",
        "Lao et al., NSDI 2021",
        {{"servers",
          int64_t{1},
          "dedicated parameter servers over which the gradient is sharded",
          {},
          1,
          65536},
         MakePipelineChunksSpec(1, "pieces of the gradient that are exchanged one after another"),
         MakeFallbackSpec()},
        CountServers,
        BuildAtp,
    };
}

} // namespace ns3::gradsync
