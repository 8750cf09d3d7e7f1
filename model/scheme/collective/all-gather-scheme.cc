// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/gather-exchange.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

namespace ns3::gradsync
{

namespace
{

Plan
BuildAllGather(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    const auto chunks = CountTrackedChunks(request.workers, request.workers, pieces);
    return BuildAllGatherPlan(
        request,
        ChunkLayout::Even(request.gradientBytes, chunks, request.elementBytes),
        pieces);
}

} // namespace

Scheme
MakeAllGatherScheme()
{
    return {
        "all-gather",
        "collective: worker i has one w-th of the buffer, all get all of it",
        "Thakur et al. 2005; Bruck et al. 1997",
        {MakeAllGatherAlgorithmSpec(),
         MakePipelineChunksSpec(1, "pieces of each worker's part, which travel one by one")},
        CountNoServers,
        BuildAllGather,
    };
}

} // namespace ns3::gradsync
