// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fallback-spec.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"
#include "ns3/two-level-exchange.h"

#include <string>

namespace ns3::gradsync
{

namespace
{

uint32_t
CountPsRingServers(const ParameterSet& parameters)
{
    return GetCount(parameters, "servers", 0);
}

Plan
BuildPsRing(const SchemeRequest& request)
{
    CheckRequest(request);
    TwoLevelExchange exchange;
    exchange.groups = FindGroups(request, DefaultGroups::Servers);
    exchange.servers = CountPsRingServers(request.parameters);
    exchange.inside = request.parameters.Get<std::string>("inside") == "nvls" ? ExchangeStyle::Nvls
                                                                              : ExchangeStyle::Ring;
    // With dedicated servers the machines of the workers serve nothing.
    exchange.weights.assign(exchange.groups.size(), exchange.servers > 0 ? 0.0 : 1.0);
    exchange.weights.insert(exchange.weights.end(), exchange.servers, 1.0);
    return BuildTwoLevelPlan(request, exchange);
}

} // namespace

Scheme
MakePsRingScheme()
{
    return {
        "ps-ring",
        "PSRing: ring reduce-scatter inside each server, parameter servers between them, ring "
        "all-gather",
        "Yu et al. 2025 (PASSING)",
        MergeSpecs(
            MakeGroupSpecs(DefaultGroups::Servers),
            {{"servers",
              int64_t{1},
              "dedicated parameter servers over which the gradient is sharded; 0: the servers of "
              "the workers serve",
              {},
              0,
              65536,
              {int64_t{0}}},
             {"inside",
              std::string("ring"),
              "how the accelerators of a server exchange: around a ring, or by the switch between "
              "them, which reduces and multicasts (nvls)",
              {"ring", "nvls"}},
             MakePipelineChunksSpec(1, "pieces of the gradient that are exchanged one by one"),
             MakeFallbackSpec()}),
        CountPsRingServers,
        BuildPsRing,
    };
}

} // namespace ns3::gradsync
