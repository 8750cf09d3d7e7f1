// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/grid-support.h"
#include "ns3/group-exchange.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <algorithm>

namespace ns3::gradsync
{

namespace
{

/// Servers: the NICs of all boxes, each with memory and a processor core of its own.
uint32_t
CountBoxNics(const ParameterSet& parameters)
{
    return CountChunks(GetCount(parameters, "boxes", 1), GetCount(parameters, "nics", 1));
}

/// Chunks of `chunkBytes`, the last one smaller, but at least one for every NIC of every box.
uint32_t
CountPieces(const SchemeRequest& request, uint32_t boxNics)
{
    const auto bytes = GetCount(request.parameters, "chunkBytes", 1);
    const uint64_t pieces = (request.gradientBytes - 1) / bytes + 1;
    const auto limited = static_cast<uint32_t>(std::min<uint64_t>(pieces, UINT32_MAX));
    return CountTrackedChunks(request.workers + boxNics, std::max(limited, boxNics), 1);
}

/// Ranks: the workers, then the NICs of the box of the first rack, of the second, ... NIC c mod n
/// of each box handles chunk c, and box c / n mod R sums it over the racks.
Plan
BuildParameterHub(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto racks = SplitWorkers(request, "boxes");
    const auto boxCount = static_cast<uint32_t>(racks.size());
    const auto nics = GetCount(request.parameters, "nics", 1);
    const auto boxNics = CountBoxNics(request.parameters);
    const auto pieces = CountPieces(request, boxNics);
    const auto layout = ChunkLayout::Even(request.gradientBytes, pieces, request.elementBytes);
    DataflowBuilder builder(request.workers + boxNics, request.workers, layout);
    GroupExchange among(builder, layout, ExchangeStyle::Direct);
    for (uint32_t chunk = 0; chunk < pieces; ++chunk)
    {
        if (layout.GetBytes(chunk, 1) == 0)
        {
            continue;
        }
        auto boxes = CountUp(boxCount);
        for (auto& box : boxes)
        {
            box = request.workers + box * nics + chunk % nics;
        }
        for (uint32_t rack = 0; rack < boxCount; ++rack)
        {
            for (const auto worker : racks[rack])
            {
                builder.AddReduce(worker, boxes[rack], chunk, 1);
            }
        }
        const std::vector<Slice> slice = {{chunk / nics % boxCount, chunk, 1}};
        among.AddReduceScatter(boxes, slice);
        among.AddAllGather(boxes, slice);
        for (uint32_t rack = 0; rack < boxCount; ++rack)
        {
            for (const auto worker : racks[rack])
            {
                builder.AddCopy(boxes[rack], worker, chunk, 1);
            }
        }
    }
    return builder.Build();
}

} // namespace

Scheme
MakeParameterHubScheme()
{
    return {
        "parameter-hub",
        "ParameterHub: a server box per rack sums its rack, the boxes exchange shards and answer",
        "Luo et al. 2018 (PHub)",
        {
            {"boxes",
             int64_t{2},
             "boxes of dedicated servers: one for every group of the innermost level with so "
             "many groups, else for equal blocks of ranks",
             {},
             1,
             65536},
            {"nics",
             int64_t{1},
             "NICs of a box, each a dedicated server; the paper's boxes have 10. 1: one server, "
             "with "
             "whatever ports the topology gives it",
             {},
             1,
             1024},
            {"chunkBytes",
             int64_t{32768},
             "bytes of a chunk, which is sent, summed and answered on its own",
             {},
             1,
             1 << 20},
        },
        CountBoxNics,
        BuildParameterHub,
    };
}

} // namespace ns3::gradsync
