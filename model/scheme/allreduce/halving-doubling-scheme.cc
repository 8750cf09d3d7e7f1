// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/grid-exchange.h"
#include "ns3/hypercube-fold.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Recursive halving and doubling is the exchange over a grid of two ranks in each dimension.
Plan
BuildHalvingDoubling(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto workers = request.workers;
    const HypercubeFold fold(workers);
    const auto power = static_cast<uint32_t>(fold.GetMembers().size());
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    const auto chunks = CountTrackedChunks(workers, power, pieces);
    const auto layout = ChunkLayout::Even(request.gradientBytes, chunks, request.elementBytes);

    const GridExchange grid(fold.GetMembers(), std::vector<uint32_t>(fold.GetDimensions(), 2));
    std::vector<uint32_t> order(fold.GetDimensions());
    std::iota(order.begin(), order.end(), 0U);
    if (request.parameters.Get<std::string>("order") == "far-first")
    {
        std::reverse(order.begin(), order.end());
    }
    DataflowBuilder builder(workers, workers, layout);
    for (uint32_t first = 0; first < chunks; first += power)
    {
        if (layout.GetBytes(first, power) == 0)
        {
            continue;
        }
        fold.AddBefore(builder, first, power);
        grid.Add(builder, layout, order, ExchangeStyle::Direct, first);
        fold.AddAfter(builder, first, power);
    }
    return builder.Build();
}

} // namespace

Scheme
MakeHalvingDoublingScheme()
{
    return {
        "halving-doubling",
        "recursive halving (reduce-scatter), then recursive doubling (all-gather)",
        "Rabenseifner 2004; Thakur et al. 2005",
        {
            {"order",
             std::string("near-first"),
             "which partner comes first: near-first the neighbour, far-first the one half of all "
             "ranks away; decides what crosses racks",
             {"near-first", "far-first"}},
            MakePipelineChunksSpec(1, "pieces of the gradient that are exchanged one by one"),
        },
        CountNoServers,
        BuildHalvingDoubling,
    };
}

} // namespace ns3::gradsync
