// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/group-exchange.h"
#include "ns3/scheme-groups.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

namespace ns3::gradsync
{

namespace
{

constexpr BufferPair KEEP{0, 1}; //!< a node's sum is kept while those of others are added to it
constexpr BufferPair ADD{1, 0};

/// The exchange of one slice among its owners, one in each node: everybody sends the sum of its
/// node to everybody, hop by hop, and adds what comes.
void
AddHops(DataflowBuilder& builder, const Ranks& owners, uint32_t chunk)
{
    const auto count = static_cast<uint32_t>(owners.size());
    for (uint32_t node = 0; node < count && count > 1; ++node)
    {
        builder.AddCopy(owners[node], owners[node], chunk, 1, 0, KEEP);
    }
    for (uint32_t hop = 1; hop < count; ++hop)
    {
        for (uint32_t node = 0; node < count; ++node)
        {
            builder.AddReduce(owners[node], owners[(node + hop) % count], chunk, 1, 0, ADD);
        }
    }
}

Plan
BuildBbTopK(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto workers = request.workers;
    const auto nodes = FindGroups(request, DefaultGroups::Servers);
    const auto slices = GetLargestSize(nodes);
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    CountChunks(workers, pieces); // what each gives to another node
    // Two buffers to keep track of.
    const auto chunks = CountTrackedChunks(2 * workers, slices, pieces);
    const auto layout = ChunkLayout::Even(request.gradientBytes, chunks, request.elementBytes);
    DataflowBuilder builder(workers, workers, layout, {}, 2);
    GroupExchange inside(builder, layout, ExchangeStyle::Direct);
    for (uint32_t piece = 0; piece < pieces; ++piece)
    {
        std::vector<std::vector<Slice>> slicesOf;
        for (const auto& node : nodes)
        {
            auto& own = slicesOf.emplace_back();
            for (uint32_t slice = 0; slice < slices; ++slice)
            {
                const auto owner = static_cast<uint32_t>(slice % node.size());
                own.push_back({owner, piece * slices + slice, 1});
            }
            inside.AddReduceScatter(node, own);
        }
        for (uint32_t slice = 0; slice < slices; ++slice)
        {
            Ranks owners;
            for (const auto& node : nodes)
            {
                owners.push_back(node[slice % node.size()]);
            }
            if (layout.GetBytes(piece * slices + slice, 1) > 0)
            {
                AddHops(builder, owners, piece * slices + slice);
            }
        }
        for (size_t node = 0; node < nodes.size(); ++node)
        {
            inside.AddAllGather(nodes[node], slicesOf[node]);
        }
    }
    return builder.Build();
}

} // namespace

Scheme
MakeBbTopKScheme()
{
    return {
        "bbtopk",
        "sparse reduce-scatter inside each node, its sums to all other nodes, all-gather inside",
        "Chen et al. 2023 (bbTopk); with nodes of one rank TopkA of Li et al. 2022",
        MergeSpecs(
            MakeGroupSpecs(DefaultGroups::Servers),
            {MakePipelineChunksSpec(1, "pieces of the gradient that are exchanged one by one")}),
        CountNoServers,
        BuildBbTopK,
    };
}

} // namespace ns3::gradsync
