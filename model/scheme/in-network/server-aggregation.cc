// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/server-aggregation.h"

#include "ns3/group-exchange.h"
#include "ns3/scheme-support.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/**
 * A gradient has as many slices as the largest server has members, each cut in parts, one a switch.
 * In a server of g, member j mod g owns slice j.
 */
class ServerAggregationPlan
{
  public:
    ServerAggregationPlan(const SchemeRequest& request,
                          AggregationProtocol protocol,
                          uint32_t parts)
        : m_workers(request.workers),
          m_protocol(std::move(protocol)),
          m_servers(FindGroups(request, DefaultGroups::Servers)),
          m_pieces(GetCount(request.parameters, "pipelineChunks", 1)),
          m_parts(parts),
          m_slices(GetLargestSize(m_servers)),
          m_layout(MakeLayout(request))
    {
    }

    Plan Build()
    {
        DataflowBuilder builder(m_workers, m_workers, m_layout);
        GroupExchange inside(builder, m_layout, ExchangeStyle::Ring);
        AddGroups(builder);
        for (uint32_t piece = 0; piece < m_pieces; ++piece)
        {
            for (const auto& server : m_servers)
            {
                inside.AddReduceScatter(server, MakeSlices(piece, server));
            }
            AddAggregations(builder, piece);
            for (const auto& server : m_servers)
            {
                inside.AddAllGather(server, MakeSlices(piece, server));
            }
        }
        return builder.Build();
    }

  private:
    ChunkLayout MakeLayout(const SchemeRequest& request) const
    {
        CountChunks(m_workers, m_pieces); // each worker has operations for each piece
        const auto parts = CountChunks(m_slices, m_parts);
        CountTrackedChunks(m_workers, parts, m_pieces);
        return ChunkLayout::Even(request.gradientBytes,
                                 CountChunks(parts, m_pieces),
                                 request.elementBytes);
    }

    uint32_t GetFirstChunk(uint32_t piece, uint32_t slice) const
    {
        return (piece * m_slices + slice) * m_parts;
    }

    std::vector<Slice> MakeSlices(uint32_t piece, const Ranks& server) const
    {
        std::vector<Slice> slices;
        slices.reserve(m_slices);
        for (uint32_t slice = 0; slice < m_slices; ++slice)
        {
            slices.push_back({static_cast<uint32_t>(slice % server.size()),
                              GetFirstChunk(piece, slice),
                              m_parts});
        }
        return slices;
    }

    /// A group for each slice and part, of those that own the slice.
    void AddGroups(DataflowBuilder& builder)
    {
        for (uint32_t slice = 0; slice < m_slices && m_servers.size() > 1; ++slice)
        {
            Ranks owners;
            for (const auto& server : m_servers)
            {
                owners.push_back(server[slice % server.size()]);
            }
            std::ranges::sort(owners);
            for (uint32_t part = 0; part < m_parts; ++part)
            {
                builder.AddAggregationGroup(owners, m_protocol);
            }
        }
    }

    void AddAggregations(DataflowBuilder& builder, uint32_t piece) const
    {
        for (uint32_t group = 0; group < m_slices * m_parts && m_servers.size() > 1; ++group)
        {
            const auto chunk = GetFirstChunk(piece, 0) + group;
            if (m_layout.GetBytes(chunk, 1) > 0)
            {
                builder.AddAggregate(group, chunk, 1);
            }
        }
    }

    uint32_t m_workers;
    AggregationProtocol m_protocol;
    std::vector<Ranks> m_servers;
    uint32_t m_pieces;
    uint32_t m_parts;
    uint32_t m_slices;
    ChunkLayout m_layout;
};

} // namespace

Plan
BuildServerAggregation(const SchemeRequest& request,
                       const AggregationProtocol& protocol,
                       uint32_t parts)
{
    CheckRequest(request);
    return ServerAggregationPlan(request, protocol, parts).Build();
}

} // namespace ns3::gradsync
