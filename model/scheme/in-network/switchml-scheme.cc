// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fallback-spec.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"
#include "ns3/whole-aggregation.h"

namespace ns3::gradsync
{

namespace
{

Plan
BuildSwitchMl(const SchemeRequest& request)
{
    CheckRequest(request);
    return BuildWholeAggregation(request,
                                 {.name = "switchml", .hasExponents = true},
                                 GetCount(request.parameters, "pipelineChunks", 1));
}

} // namespace

Scheme
MakeSwitchMlScheme()
{
    return {
        "switchml",
        "SwitchML: the switches aggregate the gradients of all workers, and send everyone the sum",
        "Sapio et al., NSDI 2021, sections 3 and 4",
        {MakePipelineChunksSpec(1, "pieces of the gradient that are aggregated one after another"),
         MakeFallbackSpec()},
        CountNoServers,
        BuildSwitchMl,
    };
}

} // namespace ns3::gradsync
