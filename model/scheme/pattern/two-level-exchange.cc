// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/two-level-exchange.h"

#include "ns3/grid-support.h"
#include "ns3/piece-credit.h"
#include "ns3/scheme-support.h"

namespace ns3::gradsync
{

namespace
{

/// Collects the stages of one piece of the gradient after the other.
class TwoLevelPlan
{
  public:
    TwoLevelPlan(const SchemeRequest& request, const TwoLevelExchange& exchange)
        : m_exchange(exchange),
          m_workers(request.workers),
          m_pieces(exchange.pieces.empty()
                       ? std::vector<double>(GetCount(request.parameters, "pipelineChunks", 1), 1.0)
                       : exchange.pieces),
          m_slices(GetLargestSize(exchange.groups)),
          m_shards(static_cast<uint32_t>(exchange.weights.size())),
          m_layout(MakeLayout(request))
    {
    }

    Plan Build()
    {
        DataflowBuilder builder(m_workers + m_exchange.servers, m_workers, m_layout);
        GroupExchange inside(builder, m_layout, m_exchange.inside);
        GroupExchange across(builder, m_layout, m_exchange.across);
        PieceCredit credit(builder, m_workers + m_exchange.servers, m_exchange.credit);
        const auto order = m_exchange.order.empty()
                               ? CountUp(static_cast<uint32_t>(m_pieces.size()))
                               : m_exchange.order;
        for (const auto piece : order)
        {
            const auto begin = static_cast<OperationId>(builder.GetOperations().size());
            for (const auto& group : m_exchange.groups)
            {
                inside.AddReduceScatter(group, MakeSlices(piece, group));
            }
            AddAcross(across, piece);
            for (const auto& group : m_exchange.groups)
            {
                inside.AddAllGather(group, MakeSlices(piece, group));
            }
            credit.AddPiece(begin);
        }
        return builder.Build();
    }

  private:
    ChunkLayout MakeLayout(const SchemeRequest& request) const
    {
        const auto pieces = static_cast<uint32_t>(m_pieces.size());
        const auto repeats = CountChunks(m_slices, pieces);
        CountTrackedChunks(m_workers + m_exchange.servers, CountChunks(m_slices, m_shards), pieces);
        std::vector<double> weights;
        weights.reserve(size_t{repeats} * m_shards);
        for (uint32_t i = 0; i < repeats; ++i)
        {
            for (const auto weight : m_exchange.weights)
            {
                weights.push_back(m_pieces[i / m_slices] * weight);
            }
        }
        return ChunkLayout::Weighted(request.gradientBytes, weights, 1, request.elementBytes);
    }

    uint32_t GetFirstChunk(uint32_t piece, uint32_t slice) const
    {
        return (piece * m_slices + slice) * m_shards;
    }

    std::vector<Slice> MakeSlices(uint32_t piece, const Ranks& group) const
    {
        std::vector<Slice> slices;
        for (uint32_t slice = 0; slice < m_slices; ++slice)
        {
            slices.push_back({static_cast<uint32_t>(slice % group.size()),
                              GetFirstChunk(piece, slice),
                              m_shards});
        }
        return slices;
    }

    /// The owners of a slice exchange it over the shards.
    void AddAcross(GroupExchange& across, uint32_t piece) const
    {
        const auto groupCount = static_cast<uint32_t>(m_exchange.groups.size());
        for (uint32_t slice = 0; slice < m_slices; ++slice)
        {
            Ranks owners;
            for (const auto& group : m_exchange.groups)
            {
                owners.push_back(group[slice % group.size()]);
            }
            const auto first = GetFirstChunk(piece, slice);
            std::vector<Slice> shards;
            for (uint32_t group = 0; group < groupCount; ++group)
            {
                shards.push_back({group, first + group, 1});
            }
            across.AddReduceScatter(owners, shards);
            AddServers(across, owners, first + groupCount);
            across.AddAllGather(owners, shards);
        }
    }

    void AddServers(GroupExchange& across, const Ranks& owners, uint32_t firstChunk) const
    {
        for (uint32_t server = 0; server < m_exchange.servers; ++server)
        {
            auto members = owners;
            members.push_back(m_workers + server);
            const Slice shard{static_cast<uint32_t>(owners.size()), firstChunk + server, 1};
            across.AddReduceScatter(members, {shard});
            across.AddAllGather(members, {shard});
        }
    }

    const TwoLevelExchange& m_exchange;
    uint32_t m_workers;
    std::vector<double> m_pieces; //!< sizes
    uint32_t m_slices;
    uint32_t m_shards;
    ChunkLayout m_layout;
};

} // namespace

Plan
BuildTwoLevelPlan(const SchemeRequest& request, const TwoLevelExchange& exchange)
{
    return TwoLevelPlan(request, exchange).Build();
}

} // namespace ns3::gradsync
