// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/dataflow-builder.h"
#include "ns3/scheme-groups.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

namespace ns3::gradsync
{

namespace
{

uint32_t
CountGeoServers(const ParameterSet& parameters)
{
    return GetCount(parameters, "parties", 1) + 1;
}

/// Ranks: the workers, then a server per party, then the global server.
Plan
BuildGeoHips(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto workers = request.workers;
    const auto parties = SplitWorkers(request, "parties");
    const auto partyCount = static_cast<uint32_t>(parties.size());
    const uint32_t global = workers + partyCount;
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    CountChunks(workers, pieces); // the pushes
    const auto layout = ChunkLayout::Even(request.gradientBytes,
                                          CountTrackedChunks(global + 1, 1, pieces),
                                          request.elementBytes);
    DataflowBuilder builder(global + 1, workers, layout);
    for (uint32_t chunk = 0; chunk < pieces; ++chunk)
    {
        if (layout.GetBytes(chunk, 1) == 0)
        {
            continue;
        }
        for (uint32_t party = 0; party < partyCount; ++party)
        {
            for (const auto worker : parties[party])
            {
                builder.AddReduce(worker, workers + party, chunk, 1);
            }
            builder.AddReduce(workers + party, global, chunk, 1);
        }
        for (uint32_t party = 0; party < partyCount; ++party)
        {
            builder.AddCopy(global, workers + party, chunk, 1);
            for (const auto worker : parties[party])
            {
                builder.AddCopy(workers + party, worker, chunk, 1);
            }
        }
    }
    return builder.Build();
}

/// Mixed-sync: a party waits for nobody else. Its workers, its server and the global server
/// exchange as one party would.
std::vector<SchemePart>
SplitParties(const SchemeRequest& request)
{
    CheckRequest(request);
    std::vector<SchemePart> parts;
    if (request.parameters.Get<std::string>("sync") != "mixed")
    {
        return parts;
    }
    const auto parties = SplitWorkers(request, "parties");
    for (uint32_t party = 0; party < parties.size(); ++party)
    {
        SchemePart part{parties[party],
                        static_cast<uint32_t>(parties[party].size()),
                        request.parameters};
        part.ranks.push_back(request.workers + party);
        part.ranks.push_back(request.workers + static_cast<uint32_t>(parties.size()));
        part.parameters.Set("parties", int64_t{1});
        part.parameters.Set("sync", std::string("full"));
        parts.push_back(std::move(part));
    }
    return parts;
}

} // namespace

Scheme
MakeGeoHipsScheme()
{
    return {
        "geo-hips",
        "HiPS of GeoMX: workers to the server of their party, parties to a global one, and back",
        "Li et al. 2020 (GeoMX)",
        {
            {"parties",
             int64_t{2},
             "parties, each with a dedicated server beside the global one: the innermost level of "
             "the topology with so many groups, else equal blocks of ranks",
             {},
             1,
             65536},
            {"sync",
             std::string("full"),
             "full: the global server answers when all parties have come; mixed: it answers every "
             "party at once, and parties go through their iterations each at its own pace",
             {"full", "mixed"}},
            MakePipelineChunksSpec(1, "pieces of the gradient that travel one by one"),
        },
        CountGeoServers,
        BuildGeoHips,
        SplitParties,
    };
}

} // namespace ns3::gradsync
