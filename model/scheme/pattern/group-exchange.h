// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GROUP_EXCHANGE_H
#define GRADSYNC_GROUP_EXCHANGE_H

#include "ns3/dataflow-builder.h"
#include "ns3/scheme-groups.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// How the members of a group exchange their slices.
enum class ExchangeStyle
{
    Direct, //!< everybody with everybody at once, as co-located parameter servers: one step
    Ring,   //!< from neighbour to neighbour: as many steps as there are other members
    Nvls    //!< the switch between them reduces to the owner and multicasts for it (NVLS)
};

/// A range of chunks and the member of a group (an index into it) that owns its sum.
struct Slice
{
    uint32_t owner;
    uint32_t firstChunk;
    uint32_t chunkCount;
};

/// Member i owns piece `piece` of the `pieces` chunks of part i.
std::vector<Slice> MakeOwnSlices(uint32_t members, uint32_t pieces, uint32_t piece);

/**
 * Reduce-scatter and all-gather of slices inside groups, the stages of many schemes.
 *
 * Slices without bytes are not sent. A group of one moves nothing.
 */
class GroupExchange
{
  public:
    /// Both must outlive the exchange. \param stream of all its transfers
    GroupExchange(DataflowBuilder& builder,
                  const ChunkLayout& layout,
                  ExchangeStyle style,
                  uint32_t stream = 0);

    /// Every slice is summed over the members at its owner.
    void AddReduceScatter(const Ranks& members, const std::vector<Slice>& slices);
    /// Every slice goes from its owner to all other members.
    void AddAllGather(const Ranks& members, const std::vector<Slice>& slices);

  private:
    bool HasBytes(const Slice& slice) const;
    void AddAggregations(const Ranks& members,
                         const std::vector<Slice>& slices,
                         AggregationFlow flow);

    DataflowBuilder& m_builder;
    const ChunkLayout& m_layout;
    ExchangeStyle m_style;
    uint32_t m_stream;
    std::map<std::pair<Ranks, GroupFlow>, uint32_t> m_groups; //!< that aggregate
};

} // namespace ns3::gradsync

#endif // GRADSYNC_GROUP_EXCHANGE_H
