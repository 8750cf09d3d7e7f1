// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EVENT_ORDER_H
#define GRADSYNC_EVENT_ORDER_H

#include "ns3/event-impl.h"
#include "ns3/make-event.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/simulator.h"

#include <cstdint>
#include <utility>

namespace ns3::gradsync
{

/**
 * Which of the events of one instant comes first, whoever was inserted first: by the kind of the
 * event, then by its port or node, then in the order of insertion, which at one port or node is the
 * order of what happened there. All other events come after those, in the order of insertion, but
 * for what executions send, which comes last.
 *
 * It travels as the context of ns-3's ScheduleWithContext, which is otherwise the number of a node,
 * all below the orders, or NO_CONTEXT, above them. The RadixScheduler sorts by it and gives the
 * event a context of ns-3's own again; ns-3's schedulers know nothing of it.
 */
class EventOrder
{
  public:
    /// The switches of a network go on (SwitchRounds): before all arrivals.
    static constexpr uint32_t OfSwitches()
    {
        return Make(ARRIVAL, 0);
    }

    /// A packet is at the far end of the link. \param port by its index in the network
    static constexpr uint32_t OfArrival(uint32_t port)
    {
        return Make(ARRIVAL, port + 1);
    }

    /// A packet that waits leaves the port.
    static constexpr uint32_t OfDeparture(uint32_t port)
    {
        return Make(DEPARTURE, port);
    }

    /// What feeds a host's port has something to send again: before all that arrives at that
    /// instant, as where the port was not asked before, and needs no such event.
    static constexpr uint32_t OfWake(uint32_t port)
    {
        return Make(WAKE, port);
    }

    /// An answer to what left by a host's port did not come.
    static constexpr uint32_t OfTimeout(uint32_t port)
    {
        return Make(TIMEOUT, port);
    }

    /// Something else that is of one node only. \param node by its number
    static constexpr uint32_t OfNode(uint32_t node)
    {
        return Make(NODE, node);
    }

    /// An iteration of a job ends, where several processes must know that before they go on.
    static constexpr uint32_t OfEnd(uint32_t job)
    {
        return Make(END, job);
    }

    /// What an execution sends. \param execution by a number that it has in any process
    static constexpr uint32_t OfSending(uint32_t execution)
    {
        return Make(SENDING, execution);
    }

    /// The order of an event of any context.
    static constexpr uint32_t Get(uint32_t context)
    {
        return context >= FIRST && context != Simulator::NO_CONTEXT ? context : Make(OTHER, 0);
    }

    static constexpr bool IsArrival(uint32_t context)
    {
        return context >> INDEX_BITS == ARRIVAL;
    }

    static constexpr bool IsBeforeArrivals(uint32_t context)
    {
        return Get(context) >> INDEX_BITS < ARRIVAL;
    }

    /// Whether it is one of the first four, each of which belongs to a port.
    static constexpr bool IsOfPort(uint32_t context)
    {
        return context >= FIRST && context >> INDEX_BITS < NODE;
    }

    /// Whether it is of a port, a node or a job: of all kinds but the last two.
    static constexpr bool IsOfPlace(uint32_t order)
    {
        return order < Make(OTHER, 0);
    }

    /// The port of an arrival, its index plus one; 0: of switches.
    static constexpr uint32_t GetPlace(uint32_t context)
    {
        return context & MAX_INDEX;
    }

    /// Context of an event as it leaves: of its node where its order tells it.
    static constexpr uint32_t GetContext(uint32_t order)
    {
        if (order < FIRST)
        {
            return order;
        }
        return order >> INDEX_BITS == NODE ? order & MAX_INDEX : Simulator::NO_CONTEXT;
    }

  private:
    static constexpr uint32_t INDEX_BITS = 28;
    static constexpr uint32_t MAX_INDEX = (uint32_t{1} << INDEX_BITS) - 1;
    static constexpr uint32_t FIRST = uint32_t{1} << 31;

    // Kinds in their order; the first bit tells orders from numbers of nodes.
    static constexpr uint32_t WAKE = 8;
    static constexpr uint32_t ARRIVAL = 9;
    static constexpr uint32_t DEPARTURE = 10;
    static constexpr uint32_t TIMEOUT = 11;
    static constexpr uint32_t NODE = 12;
    static constexpr uint32_t END = 13;
    static constexpr uint32_t OTHER = 14;
    static constexpr uint32_t SENDING = 15;

    static constexpr uint32_t Make(uint32_t kind, uint32_t index)
    {
        return kind << INDEX_BITS | (index & MAX_INDEX);
    }
};

/// As Simulator::Schedule, with an EventOrder. \returns the event, which may be cancelled
template <typename... Ts>
Ptr<EventImpl>
ScheduleInOrder(uint32_t order, const Time& delay, Ts&&... what)
{
    const Ptr<EventImpl> event(MakeEvent(std::forward<Ts>(what)...), false);
    event->Ref(); // the simulator drops one reference after the event
    Simulator::ScheduleWithContext(order, delay, PeekPointer(event));
    return event;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_EVENT_ORDER_H
