// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fallback-spec.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"
#include "ns3/two-level-exchange.h"

namespace ns3::gradsync
{

namespace
{

/// Of 16 pieces one is reduced while another is multicast, which is what NVLS gains by.
constexpr int64_t PIECES = 16;

Plan
BuildNvls(const SchemeRequest& request)
{
    CheckRequest(request);
    TwoLevelExchange exchange;
    exchange.groups = FindGroups(request, DefaultGroups::ServersOrAll);
    exchange.inside = ExchangeStyle::Nvls;
    exchange.across = ExchangeStyle::Ring;
    exchange.weights.assign(exchange.groups.size(), 1.0);
    return BuildTwoLevelPlan(request, exchange);
}

} // namespace

Scheme
MakeNvlsScheme()
{
    return {
        "nvls",
        "NVLS: NVSwitches reduce and multicast inside each server, rings between those who own the "
        "same slice",
        "NCCL 2.17 (NVLS); NVIDIA NVLink SHARP",
        MergeSpecs(
            MakeGroupSpecs(DefaultGroups::ServersOrAll),
            {MakePipelineChunksSpec(PIECES, "pieces of the gradient that are exchanged one by one"),
             MakeFallbackSpec()}),
        CountNoServers,
        BuildNvls,
    };
}

} // namespace ns3::gradsync
