// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-trees.h"
#include "ns3/plan-builder.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Rates are computed from the graph in floating point: 1:1 may come out as a little more than 1.
constexpr double NOT_OVERSUBSCRIBED = 1.0 + 1e-9;

AggregationTrees
MakeTrees(const SchemeRequest& request)
{
    const bool all = request.parameters.Get<std::string>("levels") == "all";
    std::vector<GroupLevel> levels;
    std::copy_if(request.groups.levels.begin(),
                 request.groups.levels.end(),
                 std::back_inserter(levels),
                 [all](const GroupLevel& level) {
                     return all || level.oversubscription > NOT_OVERSUBSCRIBED;
                 });
    try
    {
        return {request.workers, levels};
    }
    catch (const std::invalid_argument& error)
    {
        throw SchemeError(error.what());
    }
}

ChunkLayout
MakeLayout(const SchemeRequest& request, uint32_t subChunks)
{
    const auto& weights = request.parameters.Get<std::vector<double>>("weights");
    const auto chunks = CountChunks(request.workers, subChunks);
    if (weights.empty())
    {
        return ChunkLayout::Even(request.gradientBytes, chunks, request.elementBytes);
    }
    if (weights.size() != request.workers)
    {
        throw SchemeError(fmt::format("weights has {} entries, but there are {} workers and so {} "
                                      "trees",
                                      weights.size(),
                                      request.workers,
                                      request.workers));
    }
    try
    {
        return ChunkLayout::Weighted(request.gradientBytes,
                                     weights,
                                     subChunks,
                                     request.elementBytes);
    }
    catch (const std::invalid_argument&)
    {
        throw SchemeError("weights must be finite, not negative, and not all 0");
    }
}

/// Collects the operations of one exchange over aggregation trees.
class RatPlan
{
  public:
    explicit RatPlan(const SchemeRequest& request)
        : m_workers(request.workers),
          m_subChunks(GetCount(request.parameters, "pipelineChunks", 1)),
          m_layout(MakeLayout(request, m_subChunks)),
          m_builder(m_workers, m_workers, m_layout)
    {
        const auto trees = MakeTrees(request);
        m_stages = trees.GetStageCount();
        const auto places = size_t{m_workers} * m_workers;
        m_parents.resize(places);
        m_stageOf.resize(places);
        for (uint32_t root = 0; root < m_workers; ++root)
        {
            const auto tree = trees.MakeTree(root);
            for (uint32_t rank = 0; rank < m_workers; ++rank)
            {
                m_parents[FindPlace(root, rank)] = tree.parent[rank];
                m_stageOf[FindPlace(root, rank)] = tree.stage[rank];
            }
        }
        m_operations.resize(places);
        m_barrier = request.parameters.Get<bool>("barrier");
    }

    Plan Build()
    {
        if (m_barrier)
        {
            AddBarriers();
        }
        if (AreSubChunksAlike())
        {
            AddSubChunk(0);
            return m_builder.Build({.count = m_subChunks, .chunks = 1});
        }
        for (uint32_t subChunk = 0; subChunk < m_subChunks; ++subChunk)
        {
            AddSubChunk(subChunk);
        }
        return m_builder.Build();
    }

  private:
    /// Whether all move something in all trees, and wait for nothing of another one.
    bool AreSubChunksAlike() const
    {
        bool areAlike = !m_barrier;
        for (uint32_t chunk = 0; chunk < m_layout.GetChunkCount(); ++chunk)
        {
            areAlike = areAlike && m_layout.GetBytes(chunk, 1) > 0;
        }
        return areAlike;
    }

    void AddSubChunk(uint32_t subChunk)
    {
        AddPhase(subChunk, OperationKind::TransferReduce);
        if (!m_barrier)
        {
            OrderReduces(subChunk);
        }
        AddPhase(subChunk, OperationKind::TransferCopy);
        if (!m_barrier)
        {
            OrderCopies(subChunk);
        }
    }

    bool IsMoved(uint32_t root, uint32_t subChunk) const
    {
        return m_layout.GetBytes(root * m_subChunks + subChunk, 1) > 0;
    }

    /// Of a rank in a tree: [turn of the tree at the rank][rank], the order of the operations.
    size_t FindPlace(uint32_t root, uint32_t rank) const
    {
        const uint32_t turn = root >= rank ? root - rank : root + m_workers - rank;
        return size_t{turn} * m_workers + rank;
    }

    /// Calls visit(place, root, rank) for every rank but the root of every tree that moves
    /// something: rank i starts with tree i + 1, so that the load is even from the start.
    template <typename Visit>
    void ForEachTurn(uint32_t subChunk, const Visit& visit) const
    {
        for (uint32_t turn = 1; turn < m_workers; ++turn)
        {
            for (uint32_t rank = 0; rank < m_workers; ++rank)
            {
                const uint32_t root = rank + turn - (rank + turn < m_workers ? 0 : m_workers);
                if (IsMoved(root, subChunk))
                {
                    visit(size_t{turn} * m_workers + rank, root, rank);
                }
            }
        }
    }

    /// One join between each two steps: m_stages steps of reduction, then as many of broadcast.
    void AddBarriers()
    {
        for (uint32_t step = 0; step + 1 < 2 * m_stages; ++step)
        {
            m_barriers.push_back(m_builder.AddJoin(0));
            if (step > 0)
            {
                m_builder.AddEdge(m_barriers[step - 1], m_barriers[step]);
            }
        }
    }

    void OrderByBarriers(OperationId operation, uint32_t step)
    {
        if (step > 0)
        {
            m_builder.AddEdge(m_barriers[step - 1], operation);
        }
        if (step < m_barriers.size())
        {
            m_builder.AddEdge(operation, m_barriers[step]);
        }
    }

    /// One chunk of every tree over every edge.
    void AddPhase(uint32_t subChunk, OperationKind kind)
    {
        const bool isReduce = kind == OperationKind::TransferReduce;
        ForEachTurn(subChunk, [&](size_t place, uint32_t root, uint32_t rank) {
            const uint32_t chunk = root * m_subChunks + subChunk;
            const uint32_t parent = m_parents[place];
            const auto operation = isReduce ? m_builder.AddReduce(rank, parent, chunk, 1, root)
                                            : m_builder.AddCopy(parent, rank, chunk, 1, root);
            m_operations[place] = operation;
            if (m_barrier)
            {
                const uint32_t stage = m_stageOf[place];
                OrderByBarriers(operation, isReduce ? stage : 2 * m_stages - 1 - stage);
            }
        });
    }

    /// A rank passes its sum on when those of all its children are in. The root's own entry becomes
    /// the join that says that the whole sum is there.
    void OrderReduces(uint32_t subChunk)
    {
        for (uint32_t root = 0; root < m_workers && m_workers > 1; ++root)
        {
            if (IsMoved(root, subChunk))
            {
                m_operations[FindPlace(root, root)] = m_builder.AddJoin(root);
            }
        }
        ForEachTurn(subChunk, [this](size_t place, uint32_t root, uint32_t /* rank */) {
            m_builder.AddEdge(m_operations[place], m_operations[FindPlace(root, m_parents[place])]);
        });
    }

    void OrderCopies(uint32_t subChunk)
    {
        ForEachTurn(subChunk, [this](size_t place, uint32_t root, uint32_t /* rank */) {
            m_builder.AddEdge(m_operations[FindPlace(root, m_parents[place])], m_operations[place]);
        });
    }

    uint32_t m_workers;
    uint32_t m_subChunks;
    uint32_t m_stages{0};
    bool m_barrier{false};
    ChunkLayout m_layout;
    PlanBuilder m_builder;
    std::vector<uint32_t> m_parents;       //!< [place]
    std::vector<uint32_t> m_stageOf;       //!< [place] see AggregationTree
    std::vector<OperationId> m_operations; //!< [place] of this phase, between a rank and its parent
    std::vector<OperationId> m_barriers;
};

Plan
BuildRat(const SchemeRequest& request)
{
    CheckRequest(request);
    return RatPlan(request).Build();
}

} // namespace

Scheme
MakeRatScheme()
{
    return {
        "rat",
        "resilient all-reduce trees: one per worker, aggregating in the oversubscribed regions",
        "Wan et al. 2020 (RAT)",
        {
            MakePipelineChunksSpec(8, "chunks per tree; a chunk is forwarded when it is reduced"),
            {"barrier", false, "no level starts before all trees are done with the one before", {}},
            {"weights",
             std::vector<double>{},
             "share of the gradient that each tree carries, one number per worker; empty: equal",
             {},
             0},
            {"levels",
             std::string("oversubscribed"),
             "levels of the topology that form regions",
             {"oversubscribed", "all"}},
        },
        [](const ParameterSet&) { return 0u; },
        BuildRat,
    };
}

} // namespace ns3::gradsync
