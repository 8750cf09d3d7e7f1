// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"
#include "ns3/two-level-exchange.h"

namespace ns3::gradsync
{

namespace
{

Plan
BuildPlink(const SchemeRequest& request)
{
    CheckRequest(request);
    TwoLevelExchange exchange;
    exchange.groups = FindGroups(request, DefaultGroups::InnermostLevel);
    exchange.inside = ExchangeStyle::Direct;
    exchange.weights.assign(exchange.groups.size(), 1.0);
    return BuildTwoLevelPlan(request, exchange);
}

} // namespace

Scheme
MakePlinkScheme()
{
    return {
        "plink",
        "PLink: sharded reduce-scatter in each group, exchange of equal shards among groups, "
        "all-gather",
        "Luo et al. 2020 (PLink)",
        MergeSpecs(
            MakeGroupSpecs(DefaultGroups::InnermostLevel),
            {MakePipelineChunksSpec(1, "pieces of the gradient that are exchanged one by one")}),
        CountNoServers,
        BuildPlink,
    };
}

} // namespace ns3::gradsync
