// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RANK_PARTS_H
#define GRADSYNC_RANK_PARTS_H

#include "ns3/plan.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * How much each rank still has to do of a plan: the operations that it executes or receives. A
 * transfer is one for both its ends.
 */
class RankParts
{
  public:
    void Count(const Plan& plan)
    {
        m_left.assign(plan.GetRankCount(), 0);
        for (const auto& operation : plan.GetOperations())
        {
            ++m_left[operation.src];
            m_left[operation.dst] += operation.dst != operation.src ? 1 : 0;
        }
    }

    /// Else all other calls do nothing.
    bool AreCounted() const
    {
        return !m_left.empty();
    }

    bool IsDone(uint32_t rank) const
    {
        return AreCounted() && m_left[rank] == 0;
    }

    /// One operation less. \returns whether that was the last
    bool Finish(uint32_t rank)
    {
        return AreCounted() && --m_left[rank] == 0;
    }

  private:
    std::vector<uint32_t> m_left; //!< [rank]
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RANK_PARTS_H
