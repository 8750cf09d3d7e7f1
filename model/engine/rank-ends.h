// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RANK_ENDS_H
#define GRADSYNC_RANK_ENDS_H

#include "ns3/rank-parts.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// Which ranks have done their part of a plan, and have not been told of yet. Where parts are not
/// counted no rank ends.
class RankEnds
{
  public:
    void Count(const Plan& plan)
    {
        m_parts.Count(plan);
    }

    bool AreCounted() const
    {
        return m_parts.AreCounted();
    }

    /// The rank has started; it may have had nothing to do.
    void OnStarted(uint32_t rank)
    {
        if (m_parts.IsDone(rank))
        {
            m_ended.push_back(rank);
        }
    }

    /// One operation less to do for the rank. One that has not started ends when it does.
    void Finish(uint32_t rank, bool isStarted)
    {
        if (m_parts.Finish(rank) && isStarted)
        {
            m_ended.push_back(rank);
        }
    }

    /// Whoever tells is at work further up the stack, and goes on with what ends meanwhile.
    bool AreTold() const
    {
        return m_areTold;
    }

    /// Ranks that were told of, each once.
    uint32_t CountTold() const
    {
        return m_told;
    }

    /// Calls `tell` with each rank that has ended. It may start other ranks, which then end behind
    /// these.
    template <typename Tell>
    void TellAll(Tell tell)
    {
        m_areTold = true;
        while (!m_ended.empty())
        {
            const auto ended = std::exchange(m_ended, {});
            for (const auto rank : ended)
            {
                ++m_told;
                tell(rank);
            }
        }
        m_areTold = false;
    }

  private:
    RankParts m_parts;
    std::vector<uint32_t> m_ended; //!< not told yet
    uint32_t m_told{0};
    bool m_areTold{false};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RANK_ENDS_H
