// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CANCELLED_EVENTS_H
#define GRADSYNC_CANCELLED_EVENTS_H

#include "ns3/event-impl.h"
#include "ns3/leaving-order.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// Stands for several cancelled events, at least one.
class CancelledEvents final : public EventImpl
{
  public:
    explicit CancelledEvents(uint64_t count)
        : m_count(count)
    {
        Cancel();
    }

    /// Lets go of the cancelled ones of some events and has one stand for them, at the latest of
    /// their times. \returns whether there is one
    static bool Merge(std::vector<Scheduler::Event>& events, const LeavingOrder& order);

    /// An event leaves, or if it stands for several one of them. \returns whether another is left
    static bool Leave(const Scheduler::Event& event);

  private:
    void Notify() override
    {
    }

    uint64_t m_count;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_CANCELLED_EVENTS_H
