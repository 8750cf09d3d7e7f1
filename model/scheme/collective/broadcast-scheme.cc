// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/dataflow-builder.h"
#include "ns3/rooted-tree.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <optional>

namespace ns3::gradsync
{

namespace
{

/// Every part goes from the root to the worker that owns it, and from there around the ring; the
/// root, which has everything, gets nothing.
void
AddScatterAllGather(DataflowBuilder& builder,
                    const ChunkLayout& layout,
                    uint32_t workers,
                    uint32_t root,
                    uint32_t firstChunk)
{
    const auto add = [&](uint32_t src, uint32_t dst, uint32_t part) {
        if (dst % workers != 0 && layout.GetBytes(firstChunk + part, 1) > 0)
        {
            builder.AddCopy((src + root) % workers, (dst + root) % workers, firstChunk + part, 1);
        }
    };
    for (uint32_t part = 1; part < workers; ++part)
    {
        add(0, part, part);
    }
    for (uint32_t turn = 1; turn < workers; ++turn)
    {
        for (uint32_t part = 0; part < workers; ++part)
        {
            add((part + turn - 1) % workers, (part + turn) % workers, part);
        }
    }
}

Plan
BuildBroadcast(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto workers = request.workers;
    const auto root = GetRoot(request);
    const auto& algorithm = request.parameters.Get<std::string>("algorithm");
    const bool isScatter = algorithm == "scatter-all-gather";
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    const auto parts = isScatter ? workers : 1;
    CountChunks(workers, pieces); // the transfers
    const auto chunks = CountTrackedChunks(workers, parts, pieces);
    const auto layout = ChunkLayout::Even(request.gradientBytes, chunks, request.elementBytes);
    DataflowBuilder builder(workers, workers, layout, {"broadcast", {root}, {Collective::ALL}});
    const auto edges =
        isScatter ? std::vector<TreeEdge>() : MakeTreeEdges(algorithm, workers, root);
    // The rounds of the binomial tree: a parent serves its children one after the other.
    std::vector<std::optional<OperationId>> lastSent(workers);
    for (uint32_t first = 0; first < chunks; first += parts)
    {
        if (isScatter)
        {
            AddScatterAllGather(builder, layout, workers, root, first);
            continue;
        }
        for (const auto& [parent, child] : edges)
        {
            if (layout.GetBytes(first, 1) == 0)
            {
                continue;
            }
            const auto copy = builder.AddCopy(parent, child, first, 1);
            if (algorithm == "binomial" && lastSent[parent])
            {
                builder.AddEdge(*lastSent[parent], copy);
            }
            lastSent[parent] = copy;
        }
    }
    return builder.Build();
}

} // namespace

Scheme
MakeBroadcastScheme()
{
    return {
        "broadcast",
        "collective: all workers get what the root has",
        "Thakur et al. 2005; Barnett et al. 1994 (scatter-all-gather)",
        {MakeRootSpec(),
         {"algorithm",
          std::string("chain"),
          "chain: from rank to rank; binomial: a tree; star: from the root to everybody; "
          "scatter-all-gather: the root gives everybody a part, the parts go around the ring",
          {"chain", "binomial", "star", "scatter-all-gather"}},
         MakePipelineChunksSpec(16,
                                "pieces that follow each other; one stays whole until all of it "
                                "has arrived")},
        CountNoServers,
        BuildBroadcast,
    };
}

} // namespace ns3::gradsync
