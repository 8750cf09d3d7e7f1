// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RANK_LAUNCHES_H
#define GRADSYNC_RANK_LAUNCHES_H

#include "ns3/scoped-event.h"

#include <cstdint>
#include <list>
#include <span>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// Ranks that are about to begin: the protocol of a plan takes a while before its first message,
/// the same for all of them.
class RankLaunches
{
  public:
    /// \param order the EventOrder of the end \param what is called after the delay, and takes the
    /// ranks by TakeFirst
    template <typename... Ts>
    void Add(std::span<const uint32_t> ranks, uint32_t order, const Time& delay, Ts&&... what)
    {
        auto& launch = m_launches.emplace_back();
        launch.ranks.assign(ranks.begin(), ranks.end());
        launch.event.ScheduleInOrder(order, delay, std::forward<Ts>(what)...);
    }

    bool IsEmpty() const
    {
        return m_launches.empty();
    }

    /// The launch that began first is over, or will not be. \returns its ranks
    std::vector<uint32_t> TakeFirst()
    {
        auto ranks = std::move(m_launches.front().ranks);
        m_launches.pop_front();
        return ranks;
    }

    /// The rank will not begin.
    void Withdraw(uint32_t rank)
    {
        for (auto& launch : m_launches)
        {
            std::erase(launch.ranks, rank);
        }
    }

  private:
    struct Launch
    {
        std::vector<uint32_t> ranks{};
        ScopedEvent event{};
    };

    std::list<Launch> m_launches; //!< in the order in which they are over
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RANK_LAUNCHES_H
