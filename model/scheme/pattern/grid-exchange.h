// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GRID_EXCHANGE_H
#define GRADSYNC_GRID_EXCHANGE_H

#include "ns3/group-exchange.h"

#include <cstdint>
#include <map>
#include <vector>

namespace ns3::gradsync
{

/// How the stages of an all-reduce over a grid follow each other.
enum class GridForm
{
    Nested, //!< reduce-scatters inwards, each on what is left, then all-gathers outwards
    /// An all-reduce of everything in each dimension. A rank begins one when it has all of the one
    /// before: chunks that went ahead would take the ports from other streams' first dimension.
    Successive
};

/**
 * All-reduce over a grid of ranks: reduce-scatter in one dimension after the other, each on what
 * the one before left, then all-gather in reverse.
 *
 * With sizes p_1, p_2, ... in the order of the stages a rank sends (p_i - 1)/p_i of
 * K / (p_1 ... p_(i-1)) in stage i and again in its all-gather: 2(N-1)/N K in all, of N = p_1 p_2
 * ...
 *
 * Or a whole all-reduce in one dimension after the other (GridForm::Successive), which moves
 * 2(p_i - 1)/p_i K in stage i.
 */
class GridExchange
{
  public:
    /**
     * \param ranks the members; the one at (c_0, c_1, ...) is ranks[c_0 + sizes[0] * (c_1 + ...)]
     * \param sizes members in each dimension; their product is the number of ranks
     */
    GridExchange(Ranks ranks, std::vector<uint32_t> sizes);

    /// Chunks that one exchange cuts its part of the buffer into: one per member.
    uint32_t GetChunkCount() const;

    /**
     * Adds the exchange of the chunks [firstChunk, firstChunk + GetChunkCount()).
     * \param order the dimensions in the order of their stages
     */
    void Add(DataflowBuilder& builder,
             const ChunkLayout& layout,
             const std::vector<uint32_t>& order,
             ExchangeStyle style,
             uint32_t firstChunk,
             uint32_t stream = 0,
             GridForm form = GridForm::Nested) const;

  private:
    /// The members that differ in one coordinate only, and what they exchange.
    struct Line
    {
        Ranks members;
        std::vector<Slice> slices;
    };

    std::map<uint32_t, OperationId> JoinArrivals(DataflowBuilder& builder, OperationId first) const;
    std::vector<Line> MakeLines(const std::vector<uint32_t>& order,
                                size_t stage,
                                uint32_t firstChunk,
                                GridForm form) const;
    uint32_t GetCoordinate(uint32_t index, uint32_t dimension) const;

    Ranks m_ranks;
    std::vector<uint32_t> m_sizes;
    std::vector<uint32_t> m_strides; //!< between the indices of neighbours in each dimension
};

} // namespace ns3::gradsync

#endif // GRADSYNC_GRID_EXCHANGE_H
