// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/halving-doubling-scheme.h"

#include "ns3/grid-exchange.h"
#include "ns3/scheme-support.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/**
 * Recursive halving and doubling is the exchange over a grid of two ranks in each dimension. With
 * 2^n + e ranks the first e pairs of neighbours are folded: the second of a pair gives everything
 * to the first before, and gets the result back.
 */
Plan
BuildHalvingDoubling(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto workers = request.workers;
    const auto power = std::bit_floor(workers);
    const auto folded = workers - power;
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    const auto chunks = CountTrackedChunks(workers, power, pieces);
    const auto layout = ChunkLayout::Even(request.gradientBytes, chunks, request.elementBytes);

    Ranks members;
    for (uint32_t rank = 0; rank < workers; ++rank)
    {
        if (rank >= 2 * folded || rank % 2 == 0)
        {
            members.push_back(rank);
        }
    }
    const GridExchange grid(members,
                            std::vector<uint32_t>(static_cast<size_t>(std::countr_zero(power)), 2));
    std::vector<uint32_t> order(static_cast<size_t>(std::countr_zero(power)));
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
        for (uint32_t pair = 0; pair < folded; ++pair)
        {
            builder.AddReduce(2 * pair + 1, 2 * pair, first, power);
        }
        grid.Add(builder, layout, order, ExchangeStyle::Direct, first);
        for (uint32_t pair = 0; pair < folded; ++pair)
        {
            builder.AddCopy(2 * pair, 2 * pair + 1, first, power);
        }
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
