// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/cancelled-events.h"

namespace ns3::gradsync
{

bool
CancelledEvents::Merge(std::vector<Scheduler::Event>& events, const LeavingOrder& order)
{
    uint64_t count = 0;
    Scheduler::Event latest{};
    std::erase_if(events, [&](const Scheduler::Event& event) {
        if (!event.impl || !event.impl->IsCancelled())
        {
            return false;
        }
        const auto* merged = dynamic_cast<const CancelledEvents*>(event.impl);
        count += merged ? merged->m_count : 1;
        if (!latest.impl || order.IsBefore(latest, event))
        {
            latest = event;
        }
        event.impl->Unref();
        return true;
    });
    if (count > 0)
    {
        latest.impl = new CancelledEvents(count); // the simulator lets go of it
        events.push_back(latest);
    }
    return count > 0;
}

bool
CancelledEvents::Leave(const Scheduler::Event& event)
{
    const bool isCancelled = event.impl && event.impl->IsCancelled();
    auto* merged = isCancelled ? dynamic_cast<CancelledEvents*>(event.impl) : nullptr;
    return merged && --merged->m_count > 0;
}

} // namespace ns3::gradsync
