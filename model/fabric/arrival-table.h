// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ARRIVAL_TABLE_H
#define GRADSYNC_ARRIVAL_TABLE_H

#include "ns3/leaving-order.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * Sorts many events of one instant as far as they are arrivals at ports, of which each comes once,
 * by a table of the ports: where thousands of hosts run in step, comparisons would cost more than
 * the events themselves.
 */
class ArrivalTable
{
  public:
    using Events = std::vector<Scheduler::Event>;

    /// \returns false where that cannot be done, or is not worth it: nothing has changed
    bool Sort(Events& events, const LeavingOrder& order);

  private:
    bool ListArrivals(const Events& events, bool& hasOthers);
    bool List(uint32_t port, uint32_t place);
    void AppendArrivals(const Events& events);
    void AppendOthers(const Events& events, bool isBefore, const LeavingOrder& order);

    Events m_sorted;
    std::vector<uint64_t> m_listed; //!< bit of each port, while events are sorted
    std::vector<uint32_t> m_places; //!< [port] where it was among them
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ARRIVAL_TABLE_H
