// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_LEAVING_ORDER_H
#define GRADSYNC_LEAVING_ORDER_H

#include "ns3/event-order.h"
#include "ns3/scheduler.h"

#include <cstdint>

namespace ns3::gradsync
{

/// In which order events leave a scheduler: by time, then by their EventOrder, then by their age.
/// Of uids ns-3 has 2^32 before it begins anew, so they are compared with the newest.
class LeavingOrder
{
  public:
    /// \param uid of the event inserted last
    void SetNewest(uint32_t uid)
    {
        m_newest = uid;
    }

    /// Whether one event leaves before another.
    bool IsBefore(const Scheduler::Event& one, const Scheduler::Event& other) const
    {
        return one.key.m_ts != other.key.m_ts ? one.key.m_ts < other.key.m_ts
                                              : IsBeforeAtOnce(one, other);
    }

    /// Likewise for two of the same time.
    bool IsBeforeAtOnce(const Scheduler::Event& one, const Scheduler::Event& other) const
    {
        const auto oneOrder = EventOrder::Get(one.key.m_context);
        const auto otherOrder = EventOrder::Get(other.key.m_context);
        return oneOrder != otherOrder ? oneOrder < otherOrder
                                      : m_newest - one.key.m_uid > m_newest - other.key.m_uid;
    }

  private:
    uint32_t m_newest{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_LEAVING_ORDER_H
