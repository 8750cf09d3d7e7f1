// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/hypercube-fold.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

namespace ns3::gradsync
{

namespace
{

/**
 * Partners swap all they have and both add what they get. What arrives waits in a buffer of its
 * step: it may come before the receiver has its own sum of that step together, and may not be added
 * before the receiver's sum has left.
 */
Plan
BuildButterfly(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto workers = request.workers;
    const HypercubeFold fold(workers);
    const auto& members = fold.GetMembers();
    const uint32_t buffers = fold.GetDimensions() + 1;
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    CountChunks(workers, pieces); // the transfers of a step
    const auto chunks = CountTrackedChunks(workers * buffers, 1, pieces);
    const auto layout = ChunkLayout::Even(request.gradientBytes, chunks, request.elementBytes);
    DataflowBuilder builder(workers, workers, layout, {}, buffers);
    for (uint32_t chunk = 0; chunk < chunks; ++chunk)
    {
        if (layout.GetBytes(chunk, 1) == 0)
        {
            continue;
        }
        fold.AddBefore(builder, chunk, 1);
        for (uint32_t step = 0; step < fold.GetDimensions(); ++step)
        {
            const auto buffer = static_cast<uint8_t>(step + 1);
            for (uint32_t member = 0; member < members.size(); ++member)
            {
                const auto partner = members[member ^ (1U << step)];
                builder.AddCopy(members[member], partner, chunk, 1, 0, {0, buffer});
            }
            for (const auto member : members)
            {
                builder.AddReduce(member, member, chunk, 1, 0, {buffer, 0});
            }
        }
        fold.AddAfter(builder, chunk, 1);
    }
    return builder.Build();
}

} // namespace

Scheme
MakeButterflyScheme()
{
    return {
        "butterfly",
        "recursive doubling: partners swap the whole gradient, neighbours first",
        "Thakur et al. 2005",
        {MakePipelineChunksSpec(1, "pieces of the gradient that are exchanged one by one")},
        CountNoServers,
        BuildButterfly,
    };
}

} // namespace ns3::gradsync
