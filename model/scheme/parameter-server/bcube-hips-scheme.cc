// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/grid-support.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

/// The n of w = n^h. \throws SchemeError when there is none
uint32_t
FindRoot(uint32_t workers, uint32_t exponent)
{
    for (uint32_t root = 1; root <= workers; ++root)
    {
        uint64_t power = 1;
        for (uint32_t i = 0; i < exponent && power <= workers; ++i)
        {
            power *= root;
        }
        if (power == workers)
        {
            return root;
        }
        if (power > workers)
        {
            break;
        }
    }
    throw SchemeError(
        fmt::format("{} workers with {} ports each are no BCube: workers must be n^{}",
                    workers,
                    exponent,
                    exponent));
}

Plan
BuildBcubeHips(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto ports = GetCount(request.parameters, "ports", 1);
    if (ports > 32)
    {
        throw SchemeError(fmt::format("ports is {}, but must be from 1 to 32", ports));
    }
    GridStreams streams;
    streams.ranks = CountUp(request.workers);
    streams.sizes.assign(ports, FindRoot(request.workers, ports));
    streams.style = request.parameters.Get<std::string>("style") == "ring" ? ExchangeStyle::Ring
                                                                           : ExchangeStyle::Direct;
    auto order = CountUp(ports);
    const uint32_t count = request.parameters.Get<bool>("allPorts") ? ports : 1;
    for (uint32_t stream = 0; stream < count; ++stream)
    {
        streams.orders.push_back(order);
        std::rotate(order.begin(), order.begin() + 1, order.end());
    }
    return BuildGridPlan(request, streams);
}

} // namespace

Scheme
MakeBcubeHipsScheme()
{
    return {
        "bcube-hips",
        "HiPS on server-centric networks: n^h servers of h ports, one stage per port",
        "Geng et al. 2018 (HiPS)",
        {
            {"ports",
             int64_t{2},
             "stages h; there are n^h workers, n on each switch",
             {},
             1,
             32,
             {int64_t{1}, int64_t{3}, int64_t{4}, int64_t{5}}},
            {"style",
             std::string("ps"),
             "exchange within a stage: ps, everybody with everybody; ring, between neighbours",
             {"ps", "ring"}},
            {"allPorts",
             true,
             "h streams of K/h with rotated stages, which use all ports; false: one stream",
             {}},
            MakePipelineChunksSpec(1, "pieces of each stream that are exchanged one by one"),
        },
        CountNoServers,
        BuildBcubeHips,
    };
}

} // namespace ns3::gradsync
