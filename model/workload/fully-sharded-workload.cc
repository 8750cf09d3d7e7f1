// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fully-sharded-workload.h"

#include "ns3/workload-builder.h"

#include <numeric>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t COMPUTE = 0;
constexpr uint32_t COMMUNICATE = 1;

/// Collectives of all ranks, in the order of their streams.
struct Collectives
{
    std::vector<CommunicationId> forward;  //!< [block] gathers it
    std::vector<CommunicationId> backward; //!< likewise, again
    std::vector<CommunicationId> reduce;   //!< [block]
};

Collectives
AddCollectives(const FullyShardedSpec& spec, PlanShelf& shelf, WorkloadBuilder& builder)
{
    std::vector<uint32_t> ranks(spec.ranks);
    std::iota(ranks.begin(), ranks.end(), 0);
    const auto group = builder.AddGroup(ranks);
    Collectives collectives;
    for (const auto& block : spec.blocks)
    {
        const auto gather = shelf.GetCollective(spec.gatherScheme, ranks, block.gradientBytes);
        const auto codec = ChooseCodec(spec.codecs, block.name, block.gradientBytes);
        const auto reduce =
            shelf.GetCollective(spec.reduceScheme, ranks, block.gradientBytes, codec);
        collectives.forward.push_back(
            builder.AddCommunication(group, gather, "parameters " + block.name));
        collectives.backward.push_back(
            builder.AddCommunication(group, gather, "parameters " + block.name));
        collectives.reduce.push_back(
            builder.AddCommunication(group,
                                     reduce,
                                     NameCompressed("gradients " + block.name, codec)));
    }
    return collectives;
}

void
WriteRank(const FullyShardedSpec& spec,
          const Collectives& collectives,
          WorkloadBuilder& builder,
          uint32_t rank)
{
    TaskId forward = 0;
    for (uint32_t block = 0; block < spec.blocks.size(); ++block)
    {
        const auto gathered = builder.AddPart(rank, COMMUNICATE, collectives.forward[block]);
        forward = builder.AddCompute(rank,
                                     COMPUTE,
                                     spec.blocks[block].forwardPicoseconds,
                                     "forward " + spec.blocks[block].name);
        builder.AddEdge(gathered, forward);
    }
    const auto gather = [&](uint32_t block) {
        const auto part = builder.AddPart(rank, COMMUNICATE, collectives.backward[block]);
        builder.AddEdge(forward, part);
        return part;
    };
    auto block = static_cast<uint32_t>(spec.blocks.size() - 1);
    auto gathered = gather(block);
    for (;; --block)
    {
        const auto next = block > 0 ? gather(block - 1) : gathered;
        const auto backward = builder.AddCompute(rank,
                                                 COMPUTE,
                                                 spec.blocks[block].backwardPicoseconds,
                                                 "backward " + spec.blocks[block].name);
        builder.AddEdge(gathered, backward);
        builder.AddEdge(backward, builder.AddPart(rank, COMMUNICATE, collectives.reduce[block]));
        gathered = next;
        if (block == 0)
        {
            return;
        }
    }
}

} // namespace

Workload
MakeFullyShardedWorkload(const FullyShardedSpec& spec, PlanShelf& shelf)
{
    if (spec.ranks == 0 || spec.blocks.empty())
    {
        throw WorkloadError("a sharded model has at least one rank and one block");
    }
    WorkloadBuilder builder(spec.ranks, {{"compute"}, {"communicate"}});
    const auto collectives = AddCollectives(spec, shelf, builder);
    for (uint32_t rank = 0; rank < spec.ranks; ++rank)
    {
        WriteRank(spec, collectives, builder, rank);
    }
    return builder.Build();
}

} // namespace ns3::gradsync
