// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/grid-exchange.h"

#include <utility>

namespace ns3::gradsync
{

GridExchange::GridExchange(Ranks ranks, std::vector<uint32_t> sizes)
    : m_ranks(std::move(ranks)),
      m_sizes(std::move(sizes))
{
    uint32_t stride = 1;
    for (const auto size : m_sizes)
    {
        m_strides.push_back(stride);
        stride *= size;
    }
}

uint32_t
GridExchange::GetChunkCount() const
{
    return static_cast<uint32_t>(m_ranks.size());
}

uint32_t
GridExchange::GetCoordinate(uint32_t index, uint32_t dimension) const
{
    return index / m_strides[dimension] % m_sizes[dimension];
}

std::vector<GridExchange::Line>
GridExchange::MakeLines(const std::vector<uint32_t>& order,
                        size_t stage,
                        uint32_t firstChunk,
                        GridForm form) const
{
    const auto dimension = order[stage];
    std::vector<Line> lines;
    for (uint32_t index = 0; index < m_ranks.size(); ++index)
    {
        if (GetCoordinate(index, dimension) != 0)
        {
            continue;
        }
        // Earlier reduce-scatters left this line the chunks whose leading digits are its
        // coordinates.
        uint32_t begin = firstChunk;
        uint32_t held = GetChunkCount();
        for (size_t earlier = 0; form == GridForm::Nested && earlier < stage; ++earlier)
        {
            held /= m_sizes[order[earlier]];
            begin += GetCoordinate(index, order[earlier]) * held;
        }
        const uint32_t share = held / m_sizes[dimension];
        Line line;
        for (uint32_t owner = 0; owner < m_sizes[dimension]; ++owner)
        {
            line.members.push_back(m_ranks[index + owner * m_strides[dimension]]);
            line.slices.push_back({owner, begin + owner * share, share});
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

/// Of each rank the end of what it receives by the operations from `first` on.
std::map<uint32_t, OperationId>
GridExchange::JoinArrivals(DataflowBuilder& builder, OperationId first) const
{
    const auto end = static_cast<OperationId>(builder.GetOperations().size());
    std::map<uint32_t, OperationId> joins;
    for (const auto rank : m_ranks)
    {
        joins[rank] = builder.AddJoin(rank);
    }
    for (auto id = first; id < end; ++id)
    {
        const auto operation = builder.GetOperations()[id];
        if (operation.IsTransfer())
        {
            builder.AddEdge(id, joins.at(operation.dst));
        }
    }
    return joins;
}

void
GridExchange::Add(DataflowBuilder& builder,
                  const ChunkLayout& layout,
                  const std::vector<uint32_t>& order,
                  ExchangeStyle style,
                  uint32_t firstChunk,
                  uint32_t stream,
                  GridForm form) const
{
    GroupExchange exchange(builder, layout, style, stream);
    std::map<uint32_t, OperationId> ready; // [rank] of GridForm::Successive: the stage before
    for (size_t stage = 0; stage < order.size(); ++stage)
    {
        const auto first = static_cast<OperationId>(builder.GetOperations().size());
        for (const auto& line : MakeLines(order, stage, firstChunk, form))
        {
            exchange.AddReduceScatter(line.members, line.slices);
            if (form == GridForm::Successive)
            {
                exchange.AddAllGather(line.members, line.slices);
            }
        }
        const auto end = static_cast<OperationId>(builder.GetOperations().size());
        for (auto id = first; id < end && !ready.empty(); ++id)
        {
            const auto operation = builder.GetOperations()[id];
            if (operation.IsTransfer())
            {
                builder.AddEdge(ready.at(operation.src), id);
            }
        }
        if (form == GridForm::Successive && stage + 1 < order.size())
        {
            ready = JoinArrivals(builder, first);
        }
    }
    for (size_t stage = order.size(); form == GridForm::Nested && stage-- > 0;)
    {
        for (const auto& line : MakeLines(order, stage, firstChunk, form))
        {
            exchange.AddAllGather(line.members, line.slices);
        }
    }
}

} // namespace ns3::gradsync
