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
BuildPassing(const SchemeRequest& request)
{
    return BuildServerAggregation(request,
                                  {.name = "passing", .hasExponents = true},
                                  GetCount(request.parameters, "switches", 1));
}

} // namespace

Scheme
MakePassingScheme()
{
    return {
        "passing",
        "PASSING: ring reduce-scatter inside each server, switches that aggregate between them, "
        "ring "
        "all-gather",
        "Yu et al. 2025 (PASSING)",
        MergeSpecs(
            MakeGroupSpecs(DefaultGroups::Servers),
            {{"switches",
              int64_t{1},
              "parts of each slice that are aggregated apart, by different switches where the "
              "network has several that are equally near",
              {},
              1,
              64,
              {int64_t{4}}},
             MakePipelineChunksSpec(1, "pieces of the gradient that are exchanged one by one"),
             MakeFallbackSpec()}),
        CountNoServers,
        BuildPassing,
    };
}

} // namespace ns3::gradsync
