// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/grid-support.h"
#include "ns3/scheme-groups.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

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

/// The ranks in the order in which the ring of a stride visits them.
Ranks
MakeStrideOrder(uint32_t workers, uint32_t stride)
{
    Ranks ranks;
    for (uint64_t position = 0; position < workers; ++position)
    {
        ranks.push_back(static_cast<uint32_t>(position * stride % workers));
    }
    return ranks;
}

/**
 * The ring of a rail: in through one accelerator of a server, by all others, out through the one
 * before the first. Every second server is passed the other way, so that the ring leaves a server
 * on the rail on which it enters the next. (With an odd number of servers it changes rail once.)
 */
Ranks
MakeRailOrder(const std::vector<Ranks>& servers, uint32_t rail)
{
    Ranks ranks;
    for (size_t server = 0; server < servers.size(); ++server)
    {
        const auto size = servers[server].size();
        for (size_t i = 0; i < size; ++i)
        {
            const auto step = server % 2 == 0 ? i : size - 1 - i;
            ranks.push_back(servers[server][(rail + step) % size]);
        }
    }
    return ranks;
}

std::vector<Ranks>
MakeOrders(const SchemeRequest& request)
{
    const auto rings = GetCount(request.parameters, "rings", 1);
    std::vector<Ranks> orders;
    if (request.parameters.Get<std::string>("order") == "rails")
    {
        if (!request.parameters.Get<std::vector<double>>("strides").empty())
        {
            throw SchemeError("strides are given, but with order \"rails\" the rings follow the "
                              "servers; leave one of them out");
        }
        const auto servers = FindGroups(request, DefaultGroups::Servers);
        for (uint32_t ring = 0; ring < rings; ++ring)
        {
            orders.push_back(MakeRailOrder(servers, ring));
        }
        return orders;
    }
    for (const auto stride : GetStrides(request))
    {
        orders.push_back(MakeStrideOrder(request.workers, stride));
    }
    return orders;
}

Plan
BuildMultiRing(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto workers = request.workers;
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    const auto rings = GetCount(request.parameters, "rings", 1);
    const auto chunks = CountTrackedChunks(workers, CountChunks(workers, rings), pieces);
    const auto orders = MakeOrders(request);
    const auto layout = ChunkLayout::Even(request.gradientBytes, chunks, request.elementBytes);
    DataflowBuilder builder(workers, workers, layout);
    uint32_t first = 0;
    for (uint32_t piece = 0; piece < pieces; ++piece)
    {
        for (uint32_t ring = 0; ring < rings; ++ring)
        {
            const GridExchange exchange(orders[ring], {workers});
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
        MergeSpecs(
            MakeGroupSpecs(DefaultGroups::Servers),
            {
                {"order",
                 std::string("strides"),
                 "strides: neighbours are strides ranks apart; rails: each ring passes all "
                 "accelerators of "
                 "one server after the other, and enters and leaves by its own",
                 {"strides", "rails"}},
                {"rings",
                 int64_t{2},
                 "rings that share the gradient evenly",
                 {},
                 1,
                 1024,
                 {int64_t{4}}},
                {"strides",
                 std::vector<double>{},
                 "distance of neighbours in each ring, coprime to the number of workers (w-1: "
                 "backwards); empty: the first ones that fit",
                 {},
                 1,
                 1 << 20},
                MakePipelineChunksSpec(1, "pieces of each ring's share"),
            }),
        CountNoServers,
        BuildMultiRing,
    };
}

} // namespace ns3::gradsync
