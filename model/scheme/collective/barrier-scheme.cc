// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/dataflow-builder.h"
#include "ns3/rooted-tree.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <bit>

namespace ns3::gradsync
{

namespace
{

/**
 * In step t rank i tells rank i + 2^t of all that it has heard of. A token waits in a buffer of its
 * step until the receiver has sent its own.
 */
void
AddDissemination(DataflowBuilder& builder, uint32_t workers)
{
    uint8_t buffer = 1;
    for (uint64_t distance = 1; distance < workers; distance *= 2)
    {
        for (uint32_t src = 0; src < workers; ++src)
        {
            const auto dst = static_cast<uint32_t>((src + distance) % workers);
            builder.AddCopy(src, dst, 0, 1, 0, {0, buffer});
        }
        for (uint32_t rank = 0; rank < workers; ++rank)
        {
            builder.AddReduce(rank, rank, 0, 1, 0, {buffer, 0});
        }
        ++buffer;
    }
}

Plan
BuildBarrier(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto workers = request.workers;
    const auto bytes = GetCount(request.parameters, "tokenBytes", 1);
    const auto& algorithm = request.parameters.Get<std::string>("algorithm");
    const uint32_t buffers =
        algorithm == "dissemination" ? static_cast<uint32_t>(std::bit_width(workers - 1)) + 1 : 1;
    CountTrackedChunks(workers * buffers, 1, 1);
    DataflowBuilder builder(
        workers,
        workers,
        ChunkLayout::Even(bytes, 1),
        {"barrier", {Collective::ALL}, {Collective::ALL}, Collective::Sum::Idempotent},
        buffers);
    if (algorithm == "dissemination")
    {
        AddDissemination(builder, workers);
        return builder.Build();
    }
    const auto edges = MakeTreeEdges(algorithm, workers, 0);
    for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge)
    {
        builder.AddReduce(edge->child, edge->parent, 0, 1);
    }
    for (const auto& [parent, child] : edges)
    {
        builder.AddCopy(parent, child, 0, 1);
    }
    return builder.Build();
}

} // namespace

Scheme
MakeBarrierScheme()
{
    return {
        "barrier",
        "collective: all workers hear that all have come; the gradient does not move",
        "Hensgen et al. 1988",
        {{"algorithm",
          std::string("dissemination"),
          "dissemination: log2 w steps, in each every rank tells one; binomial: up a tree and "
          "down; "
          "star: to rank 0 and back",
          {"dissemination", "binomial", "star"}},
         {"tokenBytes", int64_t{8}, "bytes of a message", {}, 1, 1 << 20}},
        CountNoServers,
        BuildBarrier,
    };
}

} // namespace ns3::gradsync
