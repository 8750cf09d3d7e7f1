// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/dataflow-builder.h"
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
    /// \param isSecond the tree of the other half: mirrored for an even number of ranks and shifted
    /// by one for an odd one, so that the leaves of one tree are the inner nodes of the other
    Tree(uint32_t workers, bool isSecond)
    {
        const auto rankOf = [workers, isSecond](uint32_t position) {
            if (!isSecond)
            {
                return position;
            }
            return workers % 2 == 0 ? workers - 1 - position : (position + 1) % workers;
        };
        for (uint32_t bit = 1; bit < workers; bit <<= 1)
        {
            for (uint32_t position = bit; position < workers; position += 2 * bit)
            {
                m_edges.push_back({rankOf(position), rankOf(FindParent(position, workers))});
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

    std::vector<Edge> m_edges;
    std::vector<Edge> m_downwards; //!< the same in reverse
};

Plan
BuildDoubleBinaryTree(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto workers = request.workers;
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    CountChunks(workers, pieces); // the transfers of one direction
    const auto chunks = CountTrackedChunks(workers, 2, pieces);
    const auto layout = ChunkLayout::Even(request.gradientBytes, chunks, request.elementBytes);
    const std::vector<Tree> trees = {{workers, false}, {workers, true}};
    DataflowBuilder builder(workers, workers, layout);
    for (uint32_t chunk = 0; chunk < chunks; ++chunk)
    {
        if (layout.GetBytes(chunk, 1) > 0)
        {
            trees[chunk % 2].AddAllReduce(builder, chunk, chunk % 2);
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
        {
            MakePipelineChunksSpec(16, "pieces of each half, pipelined through its tree"),
        },
        CountNoServers,
        BuildDoubleBinaryTree,
    };
}

} // namespace ns3::gradsync
