// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/handler-cores.h"

#include "ns3/event-order.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

HandlerCores::HandlerCores(uint32_t cores, NodeId node)
    : m_cores(cores),
      m_order(EventOrder::OfNode(node))
{
}

void
HandlerCores::Enter(Handler handler)
{
    const auto now = Simulator::Now();
    if (m_busy < m_cores)
    {
        Begin(handler, now);
        return;
    }
    m_queue.push_back({std::move(handler), now});
    m_statistics.longestQueue = std::max<uint64_t>(m_statistics.longestQueue, m_queue.size());
}

void
HandlerCores::Begin(const Handler& handler, const Time& since)
{
    ++m_statistics.handlers;
    m_statistics.wait += Simulator::Now() - since;
    ++m_busy;
    if (!Step(handler))
    {
        --m_busy;
    }
}

/// \returns false when the handler is over
bool
HandlerCores::Step(const Handler& handler)
{
    const auto time = handler();
    if (!time)
    {
        return false;
    }
    m_statistics.busy += *time;
    ScheduleInOrder(m_order, *time, [this, handler] { OnStepEnd(handler); });
    return true;
}

void
HandlerCores::OnStepEnd(const Handler& handler)
{
    if (Step(handler))
    {
        return;
    }
    --m_busy;
    while (m_busy < m_cores && !m_queue.empty())
    {
        auto next = std::move(m_queue.front());
        m_queue.pop_front();
        Begin(next.handler, next.since);
    }
}

} // namespace ns3::gradsync
