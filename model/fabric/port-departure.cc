// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/port-departure.h"

#include "ns3/event-order.h"
#include "ns3/lazy-sender.h"
#include "ns3/switch-rounds.h"

#include <typeinfo>

namespace ns3::gradsync
{

namespace
{

/// Made once, scheduled again and again.
class DepartureEvent final : public EventImpl
{
  public:
    DepartureEvent(LazySender& sender, SimulatorImpl& simulator)
        : m_sender(sender),
          m_simulator(simulator)
    {
    }

    const LazySender& GetSender() const
    {
        return m_sender;
    }

  private:
    void Notify() override
    {
        m_sender.Depart(m_simulator.Now().GetTimeStep());
    }

    LazySender& m_sender;
    SimulatorImpl& m_simulator;
};

} // namespace

void
PortDeparture::Schedule(LazySender& sender,
                        SimulatorImpl& simulator,
                        TimeStepCount at,
                        TimeStepCount now)
{
    if (m_rounds)
    {
        m_rounds->AddDeparture(m_number, sender, at);
        return;
    }
    if (!m_event)
    {
        m_event = Ptr<EventImpl>(new DepartureEvent(sender, simulator), false);
    }
    m_event->Ref(); // the simulator drops one reference after the event
    simulator.ScheduleWithContext(EventOrder::OfDeparture(sender.GetIndex()),
                                  TimeStep(at - now),
                                  PeekPointer(m_event));
}

void
PortDeparture::Cancel()
{
    if (m_event)
    {
        m_event->Cancel();
    }
}

const LazySender*
PortDeparture::FindSender(EventImpl& event)
{
    // The sender of a cancelled one may be gone.
    const bool isPending = typeid(event) == typeid(DepartureEvent) && !event.IsCancelled();
    return isPending ? &static_cast<const DepartureEvent&>(event).GetSender() : nullptr;
}

} // namespace ns3::gradsync
