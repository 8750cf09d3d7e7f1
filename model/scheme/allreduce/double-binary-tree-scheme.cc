// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/dataflow-builder.h"
#include "ns3/scheme-groups.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <vector>

namespace ns3::gradsync
{

namespace
{

/**
 * The in-order binary tree over the positions 0 .. w-1: a position with lowest set bit b hangs
 * below the neighbour in which that bit is cleared and the next one set, where that exists. Odd
 * positions are leaves; position 0 is the root and has one child.
 */
uint32_t
FindParent(uint32_t position, uint32_t workers)
{
    const uint32_t lowest = position & (~position + 1);
    const uint32_t cleared = position ^ lowest;
    const uint32_t parent = cleared | (lowest << 1);
    return parent < workers ? parent : cleared;
}

/// Edges (child, parent) of one tree, children before the edge of their parent upwards.
class Tree
{
  public:
    /// \param groups of ranks: in each a chain to its head, and the heads are the tree
    /// \param head place in its group, modulo the size
    /// \param isSecond the tree of the other half: mirrored for an even number of heads and shifted
    /// by one for an odd one, so that the leaves of one tree are the inner nodes of the other
    Tree(const std::vector<Ranks>& groups, uint32_t head, bool isSecond)
    {
        for (const auto& group : groups)
        {
            AddChain(group, head);
        }
        const auto count = static_cast<uint32_t>(groups.size());
        const auto headOf = [&](uint32_t position) {
            const auto group = !isSecond        ? position
                               : count % 2 == 0 ? count - 1 - position
                                                : (position + 1) % count;
            return groups[group][head % groups[group].size()];
        };
        for (uint32_t bit = 1; bit < count; bit <<= 1)
        {
            for (uint32_t position = bit; position < count; position += 2 * bit)
            {
                m_edges.push_back({headOf(position), headOf(FindParent(position, count))});
            }
        }
        m_downwards.assign(m_edges.rbegin(), m_edges.rend());
    }

    void AddAllReduce(DataflowBuilder& builder, uint32_t chunk, uint32_t stream) const
    {
        for (const auto& edge : m_edges)
        {
            builder.AddReduce(edge.child, edge.parent, chunk, 1, stream);
        }
        for (const auto& edge : m_downwards)
        {
            builder.AddCopy(edge.parent, edge.child, chunk, 1, stream);
        }
    }

  private:
    struct Edge
    {
        uint32_t child;
        uint32_t parent;
    };

    /// From the last rank of a group, counted from its head on, to the head.
    void AddChain(const Ranks& group, uint32_t head)
    {
        for (auto place = group.size() - 1; place > 0; --place)
        {
            m_edges.push_back(
                {group[(head + place) % group.size()], group[(head + place - 1) % group.size()]});
        }
    }

    std::vector<Edge> m_edges;
    std::vector<Edge> m_downwards; //!< the same in reverse
};

/// The groups whose heads the trees join: of one rank each, unless there are chains in them.
std::vector<Ranks>
FindChains(const SchemeRequest& request)
{
    if (request.parameters.Get<bool>("chains"))
    {
        return FindGroups(request, DefaultGroups::Servers);
    }
    return CutGroups(request.workers, 1);
}

Plan
BuildDoubleBinaryTree(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto workers = request.workers;
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    const auto trees = 2 * GetCount(request.parameters, "channels", 1);
    CountChunks(workers, pieces); // the transfers of one direction
    const auto chunks = CountTrackedChunks(workers, trees, pieces);
    const auto layout = ChunkLayout::Even(request.gradientBytes, chunks, request.elementBytes);
    const auto groups = FindChains(request);
    std::vector<Tree> treeOf;
    for (uint32_t tree = 0; tree < trees; ++tree)
    {
        treeOf.emplace_back(groups, tree / 2, tree % 2 == 1);
    }
    DataflowBuilder builder(workers, workers, layout);
    for (uint32_t chunk = 0; chunk < chunks; ++chunk)
    {
        if (layout.GetBytes(chunk, 1) > 0)
        {
            treeOf[chunk % trees].AddAllReduce(builder, chunk, chunk % trees);
        }
    }
    return builder.Build();
}

} // namespace

Scheme
MakeDoubleBinaryTreeScheme()
{
    return {
        "double-binary-tree",
        "two binary trees of half the gradient each; the leaves of one are inner in the other",
        "Sanders, Speck, Traeff 2009; NCCL 2.4",
        MergeSpecs(MakeGroupSpecs(DefaultGroups::Servers),
                   {{"chains",
                     false,
                     "whether the trees are over servers, each of which is a chain to one of its "
                     "ranks, as in NCCL; else over ranks"},
                    {"channels",
                     int64_t{1},
                     "pairs of trees that share the gradient evenly; with chains each has another "
                     "rank of a server at its head",
                     {},
                     1,
                     1024},
                    MakePipelineChunksSpec(16, "pieces of each half, pipelined through its tree")}),
        CountNoServers,
        BuildDoubleBinaryTree,
    };
}

} // namespace ns3::gradsync
