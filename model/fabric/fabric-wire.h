// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FABRIC_WIRE_H
#define GRADSYNC_FABRIC_WIRE_H

#include "ns3/event-impl.h"
#include "ns3/event-order.h"
#include "ns3/fabric-node.h"
#include "ns3/prefetch.h"
#include "ns3/simulator-impl.h"

#include <cstdint>

namespace ns3::gradsync
{

/**
 * The packets that have started on a link in one direction, and its far end.
 *
 * It is the event of its next arrival itself, so that the event and the wire are one cache line;
 * only the first packet on it is in the event queue. The simulator holds a reference while there is
 * one.
 */
class FabricWire : public EventImpl
{
  public:
    FabricWire(const FabricWire&) = delete;
    FabricWire& operator=(const FabricWire&) = delete;

    /// Puts a packet that has started behind those on the wire. \param packet arrives as it says,
    /// after those
    void PutOnWire(FabricPacket* packet, TimeStepCount now);

    /// The far end takes the packets off the wire by itself, told of the first
    /// (FabricNode::Expect), or no longer: their arrivals are scheduled.
    void SetGathered(bool isGathered, TimeStepCount now)
    {
        if (m_isGathered && !isGathered && m_firstFlying)
        {
            ScheduleArrival(m_firstFlying->arrival - now);
        }
        m_isGathered = isGathered;
    }

    bool IsGathered() const
    {
        return m_isGathered;
    }

    /// The packets on the wire, the first one first; nullptr: there is none.
    FabricPacket* GetWire() const
    {
        return m_firstFlying;
    }

    /// The packets before this one were taken off the wire.
    void CutWire(FabricPacket* first)
    {
        m_firstFlying = first;
    }

    /// Fetches the packet behind which PutOnWire puts another one.
    void PrefetchWire() const
    {
        Prefetch(m_lastFlying);
    }

    /// The number by which others know it: its place in the EventOrder.
    uint32_t GetIndex() const
    {
        return m_index;
    }

    /// The node at the far end.
    const FabricNode* GetPeer() const
    {
        return m_peer;
    }

  protected:
    FabricWire() = default;
    ~FabricWire() override = default;

    void Connect(SimulatorImpl* simulator, FabricNode* peer, uint16_t peerPort)
    {
        m_simulator = simulator;
        m_peer = peer;
        m_peerPort = peerPort;
    }

    /// It knows nobody any more, and does nothing when an arrival is pending still.
    void Disconnect()
    {
        Cancel();
        m_simulator = nullptr;
        m_firstFlying = nullptr;
        m_peer = nullptr;
    }

    void SetIndex(uint32_t index)
    {
        m_index = index;
    }

    /// Whether what starts at this end does so ahead of the simulator.
    void SetAhead(bool isAhead)
    {
        m_isAhead = isAhead;
    }

    bool IsAhead() const
    {
        return m_isAhead;
    }

    /// Whether packets may be lost on it.
    void SetLossy(bool isLossy)
    {
        m_isLossy = isLossy;
    }

    bool IsLossy() const
    {
        return m_isLossy;
    }

    SimulatorImpl* GetSimulator() const
    {
        return m_simulator;
    }

    /// The last packet on the wire. Only while there is one.
    const FabricPacket& GetLast() const
    {
        return *m_lastFlying;
    }

    /// The first packet arrives: it leaves the wire. The arrival of the next one is scheduled.
    FabricPacket* TakeFirst()
    {
        auto* packet = m_firstFlying;
        m_firstFlying = packet->next;
        if (packet->next)
        {
            // In a network of thousands of links it left the cache while it was on the wire.
            Prefetch(packet->next);
            ScheduleArrival(packet->nextArrival - packet->arrival);
        }
        return packet;
    }

    /// Hands a packet to the far end.
    void Deliver(FabricPacket* packet, TimeStepCount now)
    {
        m_peer->Receive(packet, m_peerPort, now);
    }

  private:
    void ScheduleArrival(TimeStepCount delay)
    {
        Ref(); // the simulator drops one reference after the event
        m_simulator->ScheduleWithContext(EventOrder::OfArrival(m_index), TimeStep(delay), this);
    }

    // Behind the members of EventImpl, where a word of the line is not full yet.
    bool m_isGathered : 1 {false}; //!< the far end takes what is on the wire
    bool m_isAhead : 1 {false};
    bool m_isLossy : 1 {false};
    uint16_t m_peerPort{0};
    FabricPacket* m_firstFlying{nullptr};
    FabricPacket* m_lastFlying{nullptr}; //!< valid only while there is a first one
    FabricNode* m_peer{nullptr};
    SimulatorImpl* m_simulator{nullptr};
    uint32_t m_index{0}; // the rest of the line is for who derives from this
};

inline void
FabricWire::PutOnWire(FabricPacket* packet, TimeStepCount now)
{
    packet->next = nullptr;
    if (m_firstFlying)
    {
        m_lastFlying->next = packet;
        m_lastFlying->nextArrival = packet->arrival;
    }
    else
    {
        m_firstFlying = packet;
        if (m_isGathered)
        {
            m_peer->Expect(m_peerPort, packet->arrival);
        }
        else
        {
            ScheduleArrival(packet->arrival - (m_isAhead ? m_simulator->Now().GetTimeStep() : now));
        }
    }
    m_lastFlying = packet;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_FABRIC_WIRE_H
