// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-builder.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <optional>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/**
 * Step t of 2(w-1): rank i sends part (i - t) mod w to rank i + 1, which adds it in the first w - 1
 * steps and keeps it afterwards. What rank i sends in step t is what reached it in step t - 1, in
 * both phases, so that edge is the only one there is.
 */
Plan
BuildRing(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto workers = request.workers;
    const auto subChunks = GetCount(request.parameters, "pipelineChunks", 1);
    const auto layout = ChunkLayout::Even(request.gradientBytes,
                                          CountChunks(workers, subChunks),
                                          request.elementBytes);
    PlanBuilder builder(workers, workers, layout);
    const uint32_t steps = 2 * (workers - 1);
    std::vector<std::optional<OperationId>> arriving(layout.GetChunkCount()); // [chunk]: last sent
    for (uint32_t step = 0; step < steps; ++step)
    {
        for (uint32_t subChunk = 0; subChunk < subChunks; ++subChunk)
        {
            for (uint32_t rank = 0; rank < workers; ++rank)
            {
                const uint32_t part = (rank + 2 * workers - step) % workers;
                const uint32_t chunk = part * subChunks + subChunk;
                if (layout.GetBytes(chunk, 1) == 0)
                {
                    continue;
                }
                const uint32_t next = (rank + 1) % workers;
                const auto send = step < workers - 1 ? builder.AddReduce(rank, next, chunk, 1)
                                                     : builder.AddCopy(rank, next, chunk, 1);
                if (arriving[chunk])
                {
                    builder.AddEdge(*arriving[chunk], send);
                }
                arriving[chunk] = send;
            }
        }
    }
    return builder.Build();
}

} // namespace

Scheme
MakeRingScheme()
{
    return {
        "ring",
        "ring all-reduce: reduce-scatter, then all-gather, in rank order",
        "Patarasuk and Yuan 2009",
        {MakePipelineChunksSpec(1,
                                "pieces in which each of the w parts travels; a piece is forwarded "
                                "as soon as it is reduced")},
        [](const ParameterSet&) { return 0u; },
        BuildRing,
    };
}

} // namespace ns3::gradsync
