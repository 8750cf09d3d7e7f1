// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/dataflow-builder.h"
#include "ns3/rooted-tree.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

namespace ns3::gradsync
{

namespace
{

/// Sums of all parts but the root's go around the ring, end at their owners, and from there reach
/// the root; the mirror image of the broadcast by scatter and all-gather.
void
AddReduceScatterGather(DataflowBuilder& builder,
                       const ChunkLayout& layout,
                       uint32_t workers,
                       uint32_t root,
                       uint32_t firstChunk)
{
    const auto add = [&](uint32_t src, uint32_t dst, uint32_t part) {
        if (src != 0 && layout.GetBytes(firstChunk + part, 1) > 0)
        {
            builder.AddReduce((src + root) % workers, (dst + root) % workers, firstChunk + part, 1);
        }
    };
    for (uint32_t turn = 1; turn < workers; ++turn)
    {
        for (uint32_t part = 0; part < workers; ++part)
        {
            add((part + turn) % workers, (part + turn + 1) % workers, part);
        }
    }
    for (uint32_t part = 1; part < workers; ++part)
    {
        add(part, 0, part);
    }
}

Plan
BuildReduce(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto workers = request.workers;
    const auto root = GetRoot(request);
    const auto& algorithm = request.parameters.Get<std::string>("algorithm");
    const bool isScatter = algorithm == "reduce-scatter-gather";
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    const auto parts = isScatter ? workers : 1;
    CountChunks(workers, pieces); // the transfers
    const auto chunks = CountTrackedChunks(workers, parts, pieces);
    const auto layout = ChunkLayout::Even(request.gradientBytes, chunks, request.elementBytes);
    DataflowBuilder builder(workers, workers, layout, {"reduce", {Collective::ALL}, {root}});
    const auto edges =
        isScatter ? std::vector<TreeEdge>() : MakeTreeEdges(algorithm, workers, root);
    for (uint32_t first = 0; first < chunks; first += parts)
    {
        if (isScatter)
        {
            AddReduceScatterGather(builder, layout, workers, root, first);
            continue;
        }
        for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge)
        {
            if (layout.GetBytes(first, 1) > 0)
            {
                builder.AddReduce(edge->child, edge->parent, first, 1);
            }
        }
    }
    return builder.Build();
}

} // namespace

Scheme
MakeReduceScheme()
{
    return {
        "reduce",
        "collective: the root gets the sum of what all workers have",
        "Thakur et al. 2005; Rabenseifner 2004 (reduce-scatter-gather)",
        {MakeRootSpec(),
         {"algorithm",
          std::string("chain"),
          "chain: from rank to rank; binomial: a tree; star: from everybody to the root; "
          "reduce-scatter-gather: sums of parts go around the ring and then to the root",
          {"chain", "binomial", "star", "reduce-scatter-gather"}},
         MakePipelineChunksSpec(16,
                                "pieces that follow each other; one stays whole until all of it "
                                "has arrived")},
        CountNoServers,
        BuildReduce,
    };
}

} // namespace ns3::gradsync
