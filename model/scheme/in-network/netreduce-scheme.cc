// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fallback-spec.h"
#include "ns3/scheme-groups.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"
#include "ns3/server-aggregation.h"

namespace ns3::gradsync
{

namespace
{

Plan
BuildNetReduce(const SchemeRequest& request)
{
    return BuildServerAggregation(request, {.name = "netreduce"}, 1);
}

} // namespace

Scheme
MakeNetReduceScheme()
{
    return {
        "netreduce",
        "NetReduce: ring reduce-scatter inside each server, boxes at switches that aggregate the "
        "RoCE "
        "messages between them, ring all-gather",
        "Liu et al., ASPLOS 2023",
        MergeSpecs(
            MakeGroupSpecs(DefaultGroups::Servers),
            {MakePipelineChunksSpec(1, "pieces of the gradient that are exchanged one by one"),
             MakeFallbackSpec()}),
        CountNoServers,
        BuildNetReduce,
    };
}

} // namespace ns3::gradsync
