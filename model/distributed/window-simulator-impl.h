// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WINDOW_SIMULATOR_IMPL_H
#define GRADSYNC_WINDOW_SIMULATOR_IMPL_H

#include "ns3/event-id.h"
#include "ns3/event-impl.h"
#include "ns3/event-order.h"
#include "ns3/ns3-interfaces.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/ptr.h"
#include "ns3/radix-scheduler.h"
#include "ns3/simulator-impl.h"

#include <cstdint>
#include <functional>
#include <list>
#include <utility>

namespace ns3::gradsync
{

/**
 * An ns-3 simulator that can be run up to a time and on from there, so that several processes may
 * keep step (WindowProtocol). Run alone, it is as DefaultSimulatorImpl. It works with a
 * RadixScheduler only, whatever scheduler it is asked for: others do not know the EventOrder.
 */
class WindowSimulatorImpl : public SimulatorImpl
{
  public:
    static TypeId GetTypeId();
    WindowSimulatorImpl();
    ~WindowSimulatorImpl() override;

    // SimulatorImpl
    void Destroy() override;
    bool IsFinished() const override;
    void Stop() override;
    StopResult Stop(const Time& delay) override;
    EventId Schedule(const Time& delay, EventImpl* event) override;
    void ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event) override;
    EventId ScheduleNow(EventImpl* event) override;
    EventId ScheduleDestroy(EventImpl* event) override;
    void Remove(const EventId& id) override;
    void Cancel(const EventId& id) override;
    bool IsExpired(const EventId& id) const override;
    void Run() override;
    Time Now() const override;
    Time GetDelayLeft(const EventId& id) const override;
    Time GetMaximumSimulationTime() const override;
    void SetScheduler(ObjectFactory schedulerFactory) override;
    uint32_t GetSystemId() const override;
    uint32_t GetContext() const override;
    uint64_t GetEventCount() const override;

    /// What Run does in place of processing all events.
    void SetRun(std::function<void()> run)
    {
        m_run = std::move(run);
    }

    /// Runs the events that are earlier than `end`, in time steps, until Pause or Stop.
    void RunUntil(int64_t end);

    /// Runs the events at `ts` that have an EventOrder, likewise. None may be pending before.
    void RunOrdered(int64_t ts);

    /// RunUntil returns when the event in hand is over.
    void Pause()
    {
        m_pauses = true;
    }

    /// Somebody has called Pause since it was run last.
    bool IsPaused() const
    {
        return m_pauses;
    }

    /// Time goes on to `ts`. No event may be pending before.
    void AdvanceTo(int64_t ts);

    /// Of the next event, in time steps; INT64_MAX: there is none.
    int64_t GetNextTime() const;

    /// Of the last event, in time steps.
    int64_t GetLastTime() const
    {
        return m_lastTime;
    }

    /// Whether the next event has an EventOrder.
    bool IsNextOrdered() const;

    /// Somebody has called Stop.
    bool IsStopped() const
    {
        return m_stop;
    }

    /// The EventOrder of the event in hand.
    uint32_t GetOrder() const
    {
        return EventOrder::Get(m_currentOrder);
    }

  private:
    void DoDispose() override;
    void ProcessOneEvent();
    Scheduler::EventKey Insert(uint32_t context, uint64_t ts, EventImpl* event);

    Ptr<RadixScheduler> m_events;
    std::list<EventId> m_destroyEvents;
    std::function<void()> m_run; //!< empty: all events
    bool m_stop{false};
    bool m_pauses{false};
    uint32_t m_uid{EventId::UID::VALID};
    uint32_t m_currentUid{EventId::UID::INVALID};
    uint64_t m_currentTs{0};
    int64_t m_lastTime{0};
    uint32_t m_currentContext;
    uint32_t m_currentOrder;
    uint64_t m_eventCount{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_WINDOW_SIMULATOR_IMPL_H
