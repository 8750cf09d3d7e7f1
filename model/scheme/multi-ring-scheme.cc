// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/multi-ring-scheme.h"

#include "ns3/grid-support.h"
#include "ns3/scheme-support.h"

#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace ns3::gradsync
{

namespace
{

/// Strides that a scenario gives, or the first numbers that have no divisor in common with w.
std::vector<uint32_t>
GetStrides(const SchemeRequest& request)
{
    const auto workers = request.workers;
    std::vector<uint32_t> strides;
    for (const auto stride : request.parameters.Get<std::vector<double>>("strides"))
    {
        const bool isWhole = stride == std::floor(stride) && stride >= 1 && stride <= 1 << 20;
        if (!isWhole || std::gcd(static_cast<uint32_t>(stride), workers) != 1)
        {
            throw SchemeError(
                fmt::format("strides has {}, but a ring visits all {} workers only with a positive "
                            "whole stride that has no divisor in common with {}",
                            stride,
                            workers,
                            workers));
        }
        strides.push_back(static_cast<uint32_t>(stride) % workers);
    }
    const auto rings = GetCount(request.parameters, "rings", 1);
    if (!strides.empty() && strides.size() != rings)
    {
        throw SchemeError(
            fmt::format("rings is {}, but strides has {} entries", rings, strides.size()));
    }
    for (uint32_t stride = 1; strides.size() < rings; stride = stride % workers + 1)
    {
        // With few workers the strides repeat: rings of the same order on connections of their own.
        if (std::gcd(stride, workers) == 1)
        {
            strides.push_back(stride % workers);
        }
    }
    return strides;
}

Plan
BuildMultiRing(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto workers = request.workers;
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    const auto rings = GetCount(request.parameters, "rings", 1);
    const auto chunks = CountTrackedChunks(workers, CountChunks(workers, rings), pieces);
    const auto strides = GetStrides(request);
    const auto layout = ChunkLayout::Even(request.gradientBytes, chunks, request.elementBytes);
    DataflowBuilder builder(workers, workers, layout);
    uint32_t first = 0;
    for (uint32_t piece = 0; piece < pieces; ++piece)
    {
        for (uint32_t ring = 0; ring < rings; ++ring)
        {
            Ranks ranks;
            for (uint64_t position = 0; position < workers; ++position)
            {
                ranks.push_back(static_cast<uint32_t>(position * strides[ring] % workers));
            }
            const GridExchange exchange(ranks, {workers});
            exchange.Add(builder, layout, {0}, ExchangeStyle::Ring, first, ring);
            first += workers;
        }
    }
    return builder.Build();
}

} // namespace

Scheme
MakeMultiRingScheme()
{
    return {
        "multi-ring",
        "several rings at once, each with its share of the gradient, its order and connections",
        "the channels of NCCL",
        {
            {"rings", int64_t{2}, "rings that share the gradient evenly", {}, 1, 1024},
            {"strides",
             std::vector<double>{},
             "distance of neighbours in each ring, coprime to the number of workers (w-1: "
             "backwards); empty: the first ones that fit",
             {},
             1,
             1 << 20},
            MakePipelineChunksSpec(1, "pieces of each ring's share"),
        },
        CountNoServers,
        BuildMultiRing,
    };
}

} // namespace ns3::gradsync
