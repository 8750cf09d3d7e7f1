// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/grid-support.h"
#include "ns3/group-exchange.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

namespace ns3::gradsync
{

namespace
{

Plan
BuildReduceScatter(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto workers = request.workers;
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    const auto chunks = CountTrackedChunks(workers, workers, pieces);
    const auto layout = ChunkLayout::Even(request.gradientBytes, chunks, request.elementBytes);
    std::vector<uint32_t> targets(chunks);
    for (uint32_t chunk = 0; chunk < chunks; ++chunk)
    {
        targets[chunk] = chunk / pieces;
    }
    DataflowBuilder builder(workers,
                            workers,
                            layout,
                            {"reduce-scatter", {Collective::ALL}, std::move(targets)});
    const bool isRing = request.parameters.Get<std::string>("algorithm") == "ring";
    GroupExchange exchange(builder, layout, isRing ? ExchangeStyle::Ring : ExchangeStyle::Direct);
    for (uint32_t piece = 0; piece < pieces; ++piece)
    {
        exchange.AddReduceScatter(CountUp(workers), MakeOwnSlices(workers, pieces, piece));
    }
    return builder.Build();
}

} // namespace

Scheme
MakeReduceScatterScheme()
{
    return {
        "reduce-scatter",
        "collective: worker i gets the sum of one w-th of the buffer",
        "Thakur et al. 2005",
        {{"algorithm",
          std::string("ring"),
          "ring: sums go from neighbour to neighbour; direct: from everybody to everybody",
          {"ring", "direct"}},
         MakePipelineChunksSpec(1, "pieces of each part, which travel one by one")},
        CountNoServers,
        BuildReduceScatter,
    };
}

} // namespace ns3::gradsync
