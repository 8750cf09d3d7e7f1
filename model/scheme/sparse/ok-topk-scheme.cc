// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/group-exchange.h"
#include "ns3/scheme-groups.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <numeric>

namespace ns3::gradsync
{

namespace
{

Plan
BuildOkTopK(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto workers = request.workers;
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    const auto chunks = CountTrackedChunks(workers, workers, pieces);
    const auto layout = ChunkLayout::Even(request.gradientBytes, chunks, request.elementBytes);
    Ranks everybody(workers);
    std::iota(everybody.begin(), everybody.end(), 0U);
    DataflowBuilder builder(workers, workers, layout);
    GroupExchange exchange(builder, layout, ExchangeStyle::Direct);
    for (uint32_t piece = 0; piece < pieces; ++piece)
    {
        const auto regions = MakeOwnSlices(workers, pieces, piece);
        exchange.AddReduceScatter(everybody, regions);
        exchange.AddAllGather(everybody, regions);
    }
    builder.SetSelectsSums();
    return builder.Build();
}

} // namespace

Scheme
MakeOkTopKScheme()
{
    return {
        "ok-topk",
        "Ok-Topk: each worker sums a region of the sparse gradients, selects from it again and "
        "gives that to all",
        "Li, Hoefler 2022 (Ok-Topk, PPoPP'22)",
        {MakePipelineChunksSpec(1, "pieces of each region that are exchanged one by one")},
        CountNoServers,
        BuildOkTopK,
    };
}

} // namespace ns3::gradsync
