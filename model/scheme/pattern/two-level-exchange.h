// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TWO_LEVEL_EXCHANGE_H
#define GRADSYNC_TWO_LEVEL_EXCHANGE_H

#include "ns3/group-exchange.h"
#include "ns3/scheme.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * Two levels: reduce-scatter inside every group, exchange of equal slices among the groups over
 * shards, all-gather inside.
 *
 * There are as many slices as the largest group has members; in a group of g, member j mod g owns
 * slice j. Each slice is cut in one shard per group and per dedicated server. The shard of a group
 * is summed at the member that owns the slice there, the shard of a server at the server.
 */
struct TwoLevelExchange
{
    std::vector<Ranks> groups;
    ExchangeStyle inside{ExchangeStyle::Ring};
    ExchangeStyle across{ExchangeStyle::Direct};
    uint32_t servers{0};         //!< dedicated ones; their ranks follow those of the workers
    std::vector<double> weights; //!< of the shards: groups, then servers
    std::vector<double> pieces;  //!< sizes, in any unit; empty: `pipelineChunks` equal ones
    std::vector<uint32_t>
        order;          //!< in which pieces are exchanged; empty: as they lie in the buffer
    uint32_t credit{0}; //!< of PieceCredit
};

/// The plan of this exchange; reads the parameter `pipelineChunks`.
Plan BuildTwoLevelPlan(const SchemeRequest& request, const TwoLevelExchange& exchange);

} // namespace ns3::gradsync

#endif // GRADSYNC_TWO_LEVEL_EXCHANGE_H
