// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/whole-aggregation.h"

#include "ns3/plan-builder.h"
#include "ns3/scheme-support.h"

#include <numeric>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

Plan
BuildWholeAggregation(const SchemeRequest& request, AggregationProtocol protocol, uint32_t pieces)
{
    CountChunks(request.workers, pieces); // each worker has an operation for each
    const auto layout = ChunkLayout::Even(request.gradientBytes, pieces, request.elementBytes);
    PlanBuilder builder(request.workers, request.workers, layout);
    if (request.workers > 1)
    {
        std::vector<uint32_t> all(request.workers);
        std::iota(all.begin(), all.end(), 0U);
        const auto group = builder.AddAggregationGroup(std::move(all), std::move(protocol));
        for (uint32_t piece = 0; piece < pieces; ++piece)
        {
            if (layout.GetBytes(piece, 1) > 0)
            {
                builder.AddAggregate(group, piece, 1);
            }
        }
    }
    return builder.Build();
}

} // namespace ns3::gradsync
