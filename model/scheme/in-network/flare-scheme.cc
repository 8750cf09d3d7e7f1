// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fallback-spec.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"
#include "ns3/whole-aggregation.h"

#include <string>

namespace ns3::gradsync
{

namespace
{

Plan
BuildFlare(const SchemeRequest& request)
{
    CheckRequest(request);
    return BuildWholeAggregation(
        request,
        {.name = "flare-" + request.parameters.Get<std::string>("sum"), .addsFloats = true},
        GetCount(request.parameters, "pipelineChunks", 1));
}

} // namespace

Scheme
MakeFlareScheme()
{
    return {
        "flare",
        "FLARE: handlers on the cores of the switches aggregate the gradients of all workers",
        "De Sensi et al., SC 2021",
        {{"sum",
          std::string("tree"),
          "how handlers add the packets of a block: single (into one buffer, one at a time), "
          "multiple (into several) or tree (in a fixed order, which gives the same bits in every "
          "run)",
          {"single", "multiple", "tree"}},
         MakePipelineChunksSpec(1, "pieces of the gradient that are aggregated one after another"),
         MakeFallbackSpec()},
        CountNoServers,
        BuildFlare,
    };
}

} // namespace ns3::gradsync
