// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fallback-spec.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"
#include "ns3/sharp-limits.h"
#include "ns3/whole-aggregation.h"

#include <algorithm>
#include <string>

namespace ns3::gradsync
{

namespace
{

/// At least as many as there are messages that a streaming tree can take.
uint32_t
CountSharpPieces(const SchemeRequest& request, bool streams)
{
    const auto asked = GetCount(request.parameters, "pipelineChunks", 1);
    const uint64_t most = SHARP_MAX_STREAMING_BYTES / request.elementBytes * request.elementBytes;
    const auto messages = (request.gradientBytes + most - 1) / most;
    return streams ? std::max(asked, static_cast<uint32_t>(messages)) : asked;
}

Plan
BuildSharp(const SchemeRequest& request)
{
    CheckRequest(request);
    const bool streams = request.parameters.Get<std::string>("tree") == "sat";
    return BuildWholeAggregation(request,
                                 {.name = streams ? "sharp-sat" : "sharp-llt", .addsFloats = true},
                                 CountSharpPieces(request, streams));
}

} // namespace

Scheme
MakeSharpScheme()
{
    return {
        "sharp",
        "SHARP: a tree of InfiniBand switches aggregates the gradients of all workers, if the "
        "manager has one",
        "Graham et al., COM-HPC 2016; NVIDIA's manual of SHARP",
        {{"tree",
          std::string("sat"),
          "kind of tree: sat (streaming, for large messages, with an exclusive lock) or llt (low "
          "latency, by transactions)",
          {"sat", "llt"}},
         MakePipelineChunksSpec(1,
                                "pieces of the gradient that are aggregated one after another; "
                                "as many more as a streaming tree needs messages"),
         MakeFallbackSpec()},
        CountNoServers,
        BuildSharp,
    };
}

} // namespace ns3::gradsync
