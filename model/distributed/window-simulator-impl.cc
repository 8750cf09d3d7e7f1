// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/window-simulator-impl.h"

#include "ns3/assert.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(WindowSimulatorImpl);

TypeId
WindowSimulatorImpl::GetTypeId()
{
    static TypeId tid = TypeId("ns3::gradsync::WindowSimulatorImpl")
                            .SetParent<SimulatorImpl>()
                            .SetGroupName("GradSync")
                            .AddConstructor<WindowSimulatorImpl>();
    return tid;
}

WindowSimulatorImpl::WindowSimulatorImpl()
    : m_events(CreateObject<RadixScheduler>()),
      m_currentContext(Simulator::NO_CONTEXT),
      m_currentOrder(Simulator::NO_CONTEXT)
{
}

WindowSimulatorImpl::~WindowSimulatorImpl() = default;

void
WindowSimulatorImpl::DoDispose()
{
    while (!m_events->IsEmpty())
    {
        m_events->RemoveNext().impl->Unref();
    }
    SimulatorImpl::DoDispose();
}

void
WindowSimulatorImpl::Destroy()
{
    while (!m_destroyEvents.empty())
    {
        const auto event = m_destroyEvents.front().PeekEventImpl();
        const Ptr<EventImpl> kept(event);
        m_destroyEvents.pop_front();
        if (!kept->IsCancelled())
        {
            kept->Invoke();
        }
    }
}

void
WindowSimulatorImpl::SetScheduler(ObjectFactory schedulerFactory)
{
    const auto scheduler = DynamicCast<RadixScheduler>(schedulerFactory.Create<Scheduler>());
    if (!scheduler)
    {
        return;
    }
    while (!m_events->IsEmpty())
    {
        scheduler->Insert(m_events->RemoveNextInOrder());
    }
    m_events = scheduler;
}

uint32_t
WindowSimulatorImpl::GetSystemId() const
{
    return 0; // as every process has all nodes
}

void
WindowSimulatorImpl::ProcessOneEvent()
{
    const auto next = m_events->RemoveNextInOrder();
    m_eventCount++;
    m_currentTs = next.key.m_ts;
    m_lastTime = static_cast<int64_t>(next.key.m_ts);
    m_currentOrder = next.key.m_context;
    m_currentContext = EventOrder::GetContext(next.key.m_context);
    m_currentUid = next.key.m_uid;
    next.impl->Invoke();
    next.impl->Unref();
}

bool
WindowSimulatorImpl::IsFinished() const
{
    return m_events->IsEmpty() || m_stop;
}

void
WindowSimulatorImpl::Run()
{
    m_stop = false;
    if (m_run)
    {
        m_run();
        m_stop = true; // finished, whatever is left: others have ended the run
        return;
    }
    while (!IsFinished())
    {
        ProcessOneEvent();
    }
}

void
WindowSimulatorImpl::RunUntil(int64_t end)
{
    m_pauses = false;
    while (!m_pauses && !m_stop && m_events->HasBefore(static_cast<uint64_t>(end)))
    {
        ProcessOneEvent();
    }
}

void
WindowSimulatorImpl::RunOrdered(int64_t ts)
{
    m_pauses = false;
    while (!m_pauses && !m_stop && GetNextTime() == ts && IsNextOrdered())
    {
        ProcessOneEvent();
    }
}

bool
WindowSimulatorImpl::IsNextOrdered() const
{
    return !m_events->IsEmpty() && EventOrder::IsOfPlace(m_events->GetNextOrder());
}

void
WindowSimulatorImpl::AdvanceTo(int64_t ts)
{
    const auto time = static_cast<uint64_t>(ts);
    if (time != m_currentTs)
    {
        m_currentUid = EventId::UID::INVALID; // none of that time has been
    }
    m_currentTs = time;
}

int64_t
WindowSimulatorImpl::GetNextTime() const
{
    return m_events->IsEmpty() ? INT64_MAX : static_cast<int64_t>(m_events->PeekNext().key.m_ts);
}

void
WindowSimulatorImpl::Stop()
{
    m_stop = true;
}

StopResult
WindowSimulatorImpl::Stop(const Time& delay)
{
    return static_cast<StopResult>(
        Simulator::Schedule(delay, static_cast<void (*)()>(&Simulator::Stop)));
}

inline Scheduler::EventKey
WindowSimulatorImpl::Insert(uint32_t context, uint64_t ts, EventImpl* event)
{
    Scheduler::Event entry{};
    entry.impl = event;
    entry.key.m_ts = ts;
    entry.key.m_context = context;
    entry.key.m_uid = m_uid++;
    m_events->Insert(entry);
    return entry.key;
}

EventId
WindowSimulatorImpl::Schedule(const Time& delay, EventImpl* event)
{
    NS_ASSERT_MSG(!delay.IsStrictlyNegative(), "an event in the past");
    const auto key =
        Insert(m_currentContext, m_currentTs + static_cast<uint64_t>(delay.GetTimeStep()), event);
    return EventId(event, key.m_ts, key.m_context, key.m_uid);
}

void
WindowSimulatorImpl::ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event)
{
    NS_ASSERT_MSG(!delay.IsStrictlyNegative(), "an event in the past");
    Insert(context, m_currentTs + static_cast<uint64_t>(delay.GetTimeStep()), event);
}

EventId
WindowSimulatorImpl::ScheduleNow(EventImpl* event)
{
    return Schedule(Time(0), event);
}

EventId
WindowSimulatorImpl::ScheduleDestroy(EventImpl* event)
{
    EventId id(Ptr<EventImpl>(event, false),
               m_currentTs,
               Simulator::NO_CONTEXT,
               EventId::UID::DESTROY);
    m_destroyEvents.push_back(id);
    m_uid++;
    return id;
}

Time
WindowSimulatorImpl::Now() const
{
    return TimeStep(m_currentTs);
}

Time
WindowSimulatorImpl::GetDelayLeft(const EventId& id) const
{
    return IsExpired(id) ? TimeStep(0) : TimeStep(id.GetTs() - m_currentTs);
}

void
WindowSimulatorImpl::Remove(const EventId& id)
{
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        m_destroyEvents.remove(id);
        return;
    }
    if (IsExpired(id))
    {
        return;
    }
    Scheduler::Event event{};
    event.impl = id.PeekEventImpl();
    event.key.m_ts = id.GetTs();
    event.key.m_context = id.GetContext();
    event.key.m_uid = id.GetUid();
    m_events->Remove(event);
    event.impl->Cancel();
    event.impl->Unref();
}

void
WindowSimulatorImpl::Cancel(const EventId& id)
{
    if (!IsExpired(id))
    {
        id.PeekEventImpl()->Cancel();
    }
}

bool
WindowSimulatorImpl::IsExpired(const EventId& id) const
{
    auto* event = id.PeekEventImpl();
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        if (event == nullptr || event->IsCancelled())
        {
            return true;
        }
        for (const auto& pending : m_destroyEvents)
        {
            if (pending == id)
            {
                return false;
            }
        }
        return true;
    }
    return event == nullptr || id.GetTs() < m_currentTs ||
           (id.GetTs() == m_currentTs && id.GetUid() <= m_currentUid) || event->IsCancelled();
}

Time
WindowSimulatorImpl::GetMaximumSimulationTime() const
{
    return TimeStep(INT64_MAX);
}

uint32_t
WindowSimulatorImpl::GetContext() const
{
    return m_currentContext;
}

uint64_t
WindowSimulatorImpl::GetEventCount() const
{
    return m_eventCount;
}

} // namespace ns3::gradsync
