// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCOPED_EVENT_H
#define GRADSYNC_SCOPED_EVENT_H

#include "ns3/event-impl.h"
#include "ns3/event-order.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3::gradsync
{

/// An event that does not happen once its owner is gone. One at a time.
class ScopedEvent
{
  public:
    ScopedEvent() = default;

    ~ScopedEvent()
    {
        Cancel();
    }

    ScopedEvent(const ScopedEvent&) = delete;
    ScopedEvent& operator=(const ScopedEvent&) = delete;

    /// As Simulator::Schedule, in place of the one before.
    template <typename... Ts>
    void Schedule(const Time& delay, Ts&&... what)
    {
        Cancel();
        m_event = Simulator::Schedule(delay, std::forward<Ts>(what)...).PeekEventImpl();
    }

    /// Likewise, with an EventOrder.
    template <typename... Ts>
    void ScheduleInOrder(uint32_t order, const Time& delay, Ts&&... what)
    {
        Cancel();
        m_event = gradsync::ScheduleInOrder(order, delay, std::forward<Ts>(what)...);
    }

    void Cancel()
    {
        // Not EventId::Cancel, which makes a new simulator when the old one is destroyed already.
        if (m_event)
        {
            m_event->Cancel();
        }
    }

  private:
    Ptr<EventImpl> m_event; //!< null before the first one
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SCOPED_EVENT_H
