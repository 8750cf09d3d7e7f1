// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/group-exchange.h"

#include <algorithm>

namespace ns3::gradsync
{

std::vector<Slice>
MakeOwnSlices(uint32_t members, uint32_t pieces, uint32_t piece)
{
    std::vector<Slice> slices;
    slices.reserve(members);
    for (uint32_t member = 0; member < members; ++member)
    {
        slices.push_back({member, member * pieces + piece, 1});
    }
    return slices;
}

GroupExchange::GroupExchange(DataflowBuilder& builder,
                             const ChunkLayout& layout,
                             ExchangeStyle style,
                             uint32_t stream)
    : m_builder(builder),
      m_layout(layout),
      m_style(style),
      m_stream(stream)
{
}

bool
GroupExchange::HasBytes(const Slice& slice) const
{
    return m_layout.GetBytes(slice.firstChunk, slice.chunkCount) > 0;
}

/// For each slice, with its owner as root.
void
GroupExchange::AddAggregations(const Ranks& members,
                               const std::vector<Slice>& slices,
                               AggregationFlow flow)
{
    if (members.size() < 2)
    {
        return;
    }
    auto ranks = members;
    std::ranges::sort(ranks);
    for (const auto& slice : slices)
    {
        if (!HasBytes(slice))
        {
            continue;
        }
        const GroupFlow own{flow, members[slice.owner]};
        auto known = m_groups.find({ranks, own});
        if (known == m_groups.end())
        {
            const auto group =
                m_builder.AddAggregationGroup(ranks, {.name = "nvls", .addsFloats = true}, own);
            known = m_groups.emplace(std::pair(ranks, own), group).first;
        }
        m_builder.AddAggregate(known->second, slice.firstChunk, slice.chunkCount);
    }
}

void
GroupExchange::AddReduceScatter(const Ranks& members, const std::vector<Slice>& slices)
{
    if (m_style == ExchangeStyle::Nvls)
    {
        AddAggregations(members, slices, AggregationFlow::Reduce);
        return;
    }
    const auto size = static_cast<uint32_t>(members.size());
    // Turn by turn and slice by slice, so that the members do not all send to the same one first.
    for (uint32_t turn = 1; turn < size; ++turn)
    {
        for (const auto& slice : slices)
        {
            if (HasBytes(slice))
            {
                const uint32_t src = (slice.owner + turn) % size;
                const uint32_t dst =
                    m_style == ExchangeStyle::Ring ? (src + 1) % size : slice.owner;
                m_builder.AddReduce(members[src],
                                    members[dst],
                                    slice.firstChunk,
                                    slice.chunkCount,
                                    m_stream);
            }
        }
    }
}

void
GroupExchange::AddAllGather(const Ranks& members, const std::vector<Slice>& slices)
{
    if (m_style == ExchangeStyle::Nvls)
    {
        AddAggregations(members, slices, AggregationFlow::Multicast);
        return;
    }
    const auto size = static_cast<uint32_t>(members.size());
    for (uint32_t turn = 1; turn < size; ++turn)
    {
        for (const auto& slice : slices)
        {
            if (HasBytes(slice))
            {
                const uint32_t dst = (slice.owner + turn) % size;
                const uint32_t src =
                    m_style == ExchangeStyle::Ring ? (dst + size - 1) % size : slice.owner;
                m_builder.AddCopy(members[src],
                                  members[dst],
                                  slice.firstChunk,
                                  slice.chunkCount,
                                  m_stream);
            }
        }
    }
}

} // namespace ns3::gradsync
