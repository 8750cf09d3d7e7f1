// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCOPED_EVENT_H
#define GRADSYNC_SCOPED_EVENT_H

#include "ns3/event-id.h"
#include "ns3/event-order.h"
#include "ns3/nstime.h"
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
        m_event = Simulator::Schedule(delay, std::forward<Ts>(what)...);
    }

    /// As ScheduleInOrder, in place of the one before.
    template <typename... Ts>
    void ScheduleInOrder(uint32_t order, const Time& delay, Ts&&... what)
    {
        Cancel();
        const auto event = gradsync::ScheduleInOrder(order, delay, std::forward<Ts>(what)...);
        m_event = EventId(event, 0, order, 0);
    }

    void Cancel()
    {
        // Not EventId::Cancel, which makes a new simulator when the old one is destroyed already.
        if (auto* event = m_event.PeekEventImpl())
        {
            event->Cancel();
        }
    }

  private:
    EventId m_event;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SCOPED_EVENT_H
