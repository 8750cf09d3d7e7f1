// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_ORDER_H
#define GRADSYNC_PLAN_ORDER_H

#include "ns3/plan.h"

#include <cstddef>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// All operations of a plan, each after everything that it waits for. The same order on every
/// machine.
std::vector<OperationId> SortTopologically(const Plan& plan);

/**
 * The transfers of each chunk, in the order of SortTopologically. 4 bytes for each chunk that an
 * operation moves; while it is built, 8 bytes an operation more.
 */
class ChunkTransfers
{
  public:
    explicit ChunkTransfers(const Plan& plan);

    std::span<const OperationId> Get(uint32_t chunk) const
    {
        return {m_transfers.data() + m_offsets[chunk], m_offsets[chunk + 1] - m_offsets[chunk]};
    }

  private:
    std::vector<size_t> m_offsets; //!< size_t: a wide transfer counts once for each chunk
    std::vector<OperationId> m_transfers;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_ORDER_H
