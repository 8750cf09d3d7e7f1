// SPDX-License-Identifier: GPL-2.0-only
// The part of FluidTransport that runs in simulated time: sharing, serving, delivering.
#include "ns3/fluid-transport.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncFluidService");

namespace
{
/// Rounding of a sum of bytes served, relative: far above a double's, far below the promised 1e-9.
constexpr double SERVED_TOLERANCE = 1e-12;
} // namespace

void
FluidTransport::StartService(uint32_t connection, double base)
{
    const auto bytes = m_messages[m_connections[connection].head].bytes;
    auto& heap = m_pairs[m_connections[connection].pair].heap;
    heap.push_back({base + static_cast<double>(bytes), connection});
    std::push_heap(heap.begin(), heap.end());
}

void
FluidTransport::Touch(uint32_t index)
{
    auto& pair = m_pairs[index];
    if (pair.activeIndex == NONE)
    {
        pair.activeIndex = static_cast<uint32_t>(m_active.size());
        m_active.push_back(index);
    }
    if (!pair.touched)
    {
        pair.touched = true;
        m_touched.push_back(index);
    }
}

void
FluidTransport::Deactivate(uint32_t index)
{
    auto& pair = m_pairs[index];
    m_active[pair.activeIndex] = m_active.back();
    m_pairs[m_active.back()].activeIndex = pair.activeIndex;
    m_active.pop_back();
    pair.activeIndex = NONE;
    pair.served = 0;
}

void
FluidTransport::Advance()
{
    const auto now = Simulator::Now();
    const auto ticks = static_cast<double>((now - m_advancedTo).GetTimeStep());
    if (ticks > 0)
    {
        for (const auto pair : m_active)
        {
            m_pairs[pair].served += m_rates[pair] * ticks;
        }
    }
    m_advancedTo = now;
}

void
FluidTransport::RequestAllocation()
{
    // One allocation for all that happens at this instant: it runs after the events already queued.
    if (!m_allocationRequested)
    {
        m_allocationRequested = true;
        Simulator::ScheduleNow(&FluidTransport::Allocate, Ptr<FluidTransport>(this));
    }
}

bool
FluidTransport::ApplyTouched()
{
    bool changed = false;
    for (const auto index : m_touched)
    {
        auto& pair = m_pairs[index];
        pair.touched = false;
        const auto flows = static_cast<uint32_t>(pair.heap.size());
        changed = changed || flows != m_flowCounts[index];
        m_flowCounts[index] = flows;
        if (flows == 0)
        {
            Deactivate(index);
        }
    }
    m_touched.clear();
    return changed;
}

void
FluidTransport::Allocate()
{
    m_allocationRequested = false;
    // Chunks that follow each other on one connection leave the rates as they are.
    if (m_ratesStale)
    {
        UpdateBlocked();
    }
    if (ApplyTouched() || m_ratesStale)
    {
        m_ratesStale = false;
        m_allocator.Allocate(m_blockedCount > 0 ? SelectFlowing() : m_active,
                             m_flowCounts,
                             m_rates);
        ++m_allocationCount;
        NS_LOG_LOGIC("rates of " << m_active.size() << " pairs");
    }
    ScheduleServe();
}

void
FluidTransport::ScheduleServe()
{
    CancelServe();
    if (m_active.empty())
    {
        return;
    }
    double ticks = std::numeric_limits<double>::infinity();
    for (const auto index : m_active)
    {
        const auto& pair = m_pairs[index];
        if (!pair.blocked)
        {
            ticks = std::min(ticks, (pair.heap.front().target - pair.served) / m_rates[index]);
        }
    }
    if (ticks == std::numeric_limits<double>::infinity())
    {
        return; // all stand still until a fault ends
    }
    m_serveEvent =
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(ToTimeSteps(std::max(ticks, 0.0)))),
                            &FluidTransport::Serve,
                            this);
}

void
FluidTransport::CancelServe()
{
    // Not EventId::Cancel, which makes a new simulator when the old one is destroyed already. The
    // event does not hold a reference to this object: with the EventId kept here that would be a
    // circle.
    if (auto* event = m_serveEvent.PeekEventImpl())
    {
        event->Cancel();
    }
}

bool
FluidTransport::IsHeadServed(uint32_t index) const
{
    const auto& pair = m_pairs[index];
    if (pair.heap.empty() || pair.blocked)
    {
        return false;
    }
    // What is due within one tick is due now: simulated time cannot tell them apart.
    const auto target = pair.heap.front().target;
    return target - pair.served <= std::max(m_rates[index], target * SERVED_TOLERANCE);
}

void
FluidTransport::Serve()
{
    Advance();
    for (const auto index : m_active)
    {
        while (IsHeadServed(index))
        {
            FinishHead(index);
        }
    }
    // Delivered first, so that the sends which follow are part of the same allocation.
    Deliver(Simulator::Now());
    RequestAllocation();
}

void
FluidTransport::FinishHead(uint32_t index)
{
    auto& pair = m_pairs[index];
    const auto service = pair.heap.front();
    std::pop_heap(pair.heap.begin(), pair.heap.end());
    pair.heap.pop_back();

    auto& connection = m_connections[service.connection];
    const auto head = connection.head;
    auto& message = m_messages[head];
    pair.payloadBytes += message.bytes;
    pair.wireBytes += std::llround(static_cast<double>(message.bytes) / m_efficiency);
    AddDelivery(pair.delay, message);
    connection.head = message.next;
    message.next = m_freeMessage;
    m_freeMessage = head;
    if (connection.head == NONE)
    {
        Touch(index);
    }
    else
    {
        // From the target, not from what is served by now: ticks lost or won do not add up.
        StartService(service.connection, service.target);
    }
}

void
FluidTransport::AddDelivery(const Time& delay, const QueuedMessage& message)
{
    const auto time = AddTimes(Simulator::Now(), delay);
    const auto [batch, isNew] = m_deliveries.try_emplace(time);
    batch->second.push_back({message.bytes, message.tag, message.handler});
    if (isNew && delay.IsStrictlyPositive())
    {
        Simulator::Schedule(delay, &FluidTransport::Deliver, Ptr<FluidTransport>(this), time);
    }
}

void
FluidTransport::Deliver(const Time& time)
{
    auto batch = m_deliveries.extract(time);
    if (batch.empty())
    {
        return;
    }
    for (const auto& delivery : batch.mapped())
    {
        m_goodputBytes += delivery.bytes;
        delivery.handler->OnDelivered(delivery.tag);
    }
}

} // namespace ns3::gradsync
