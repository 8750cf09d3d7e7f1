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
    /// \param order the EventOrder of the end \param begin is called after the delay, with the
    /// ranks
    template <typename Begin>
    void Add(std::span<const uint32_t> ranks, uint32_t order, const Time& delay, Begin begin)
    {
        const auto launch = m_launches.emplace(m_launches.end());
        launch->ranks.assign(ranks.begin(), ranks.end());
        launch->event.ScheduleInOrder(order, delay, [this, launch, begin] { begin(Take(launch)); });
    }

    bool IsEmpty() const
    {
        return m_launches.empty();
    }

    /// The launch that began first will not be over.
    void DropFirst()
    {
        m_launches.pop_front();
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

    /// It is over. \returns its ranks
    std::vector<uint32_t> Take(std::list<Launch>::iterator launch)
    {
        auto ranks = std::move(launch->ranks);
        m_launches.erase(launch);
        return ranks;
    }

    std::list<Launch> m_launches; //!< in the order in which they began
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RANK_LAUNCHES_H
