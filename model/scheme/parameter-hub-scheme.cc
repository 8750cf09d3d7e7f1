// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/parameter-hub-scheme.h"

#include "ns3/grid-support.h"
#include "ns3/group-exchange.h"
#include "ns3/scheme-support.h"

#include <algorithm>

namespace ns3::gradsync
{

namespace
{

uint32_t
CountBoxes(const ParameterSet& parameters)
{
    return GetCount(parameters, "boxes", 1);
}

/// Chunks of `chunkBytes`, the last one smaller, but at least one for every box.
uint32_t
CountPieces(const SchemeRequest& request, uint32_t boxes)
{
    const auto bytes = GetCount(request.parameters, "chunkBytes", 1);
    const uint64_t pieces = (request.gradientBytes - 1) / bytes + 1;
    const auto limited = static_cast<uint32_t>(std::min<uint64_t>(pieces, UINT32_MAX));
    return CountTrackedChunks(request.workers + boxes, std::max(limited, boxes), 1);
}

/// Ranks: the workers, then a box per rack. Box c mod R sums chunk c over the racks.
Plan
BuildParameterHub(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto racks = SplitWorkers(request, "boxes");
    const auto boxCount = static_cast<uint32_t>(racks.size());
    const auto pieces = CountPieces(request, boxCount);
    const auto layout = ChunkLayout::Even(request.gradientBytes, pieces, request.elementBytes);
    auto boxes = CountUp(boxCount);
    for (auto& box : boxes)
    {
        box += request.workers;
    }
    DataflowBuilder builder(request.workers + boxCount, request.workers, layout);
    GroupExchange among(builder, layout, ExchangeStyle::Direct);
    for (uint32_t chunk = 0; chunk < pieces; ++chunk)
    {
        if (layout.GetBytes(chunk, 1) == 0)
        {
            continue;
        }
        for (uint32_t rack = 0; rack < boxCount; ++rack)
        {
            for (const auto worker : racks[rack])
            {
                builder.AddReduce(worker, boxes[rack], chunk, 1);
            }
        }
        const std::vector<Slice> slice = {{chunk % boxCount, chunk, 1}};
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
             "boxes, each a dedicated server: one for every group of the innermost level with so "
             "many groups, else for equal blocks of ranks",
             {},
             1,
             65536},
            {"chunkBytes",
             int64_t{32768},
             "bytes of a chunk, which is sent, summed and answered on its own",
             {},
             1,
             1 << 20},
        },
        CountBoxes,
        BuildParameterHub,
    };
}

} // namespace ns3::gradsync
