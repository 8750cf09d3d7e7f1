// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_NIC_H
#define GRADSYNC_ROCE_NIC_H

#include "ns3/event-impl.h"
#include "ns3/fabric-port.h"
#include "ns3/ptr.h"
#include "ns3/roce-queue-pair.h"

#include <cstdint>

namespace ns3::gradsync
{

class RoceTransport;

/**
 * The sending side of one port of one endpoint: serves its queue pairs round robin, a packet each,
 * and watches over their retransmission timeout.
 *
 * Both cost O(1) in the number of queue pairs: those with something to send form a ring, those with
 * unacknowledged packets a list in the order of their last activity, of which only the first needs
 * a timer because the timeout is the same for all.
 */
class RoceNic final : public PacketSource
{
  public:
    void Install(RoceTransport* transport, FabricPort* port, SimulatorImpl* simulator);

    FabricPort& GetPort()
    {
        return *m_port;
    }

    FabricPacket* Pull(TimeStepCount start) override;

    /// The queue pair may send: puts it at the end of the ring unless it is in it. The port must be
    /// synced.
    void Add(RoceQueuePair& queuePair);

    /// Restarts the timeout of a queue pair with unacknowledged packets.
    void Touch(RoceQueuePair& queuePair, TimeStepCount now);

    /// The queue pair has nothing unacknowledged any more.
    void Forget(RoceQueuePair& queuePair);

  private:
    class Timer : public EventImpl
    {
      public:
        explicit Timer(RoceNic* nic)
            : m_nic(nic)
        {
        }

      private:
        void Notify() override
        {
            m_nic->OnTimer();
        }

        RoceNic* m_nic;
    };

    void Unlink(RoceQueuePair& queuePair);
    void OnTimer();
    void ScheduleTimer(TimeStepCount delay);

    RoceTransport* m_transport{nullptr};
    FabricPort* m_port{nullptr};
    SimulatorImpl* m_simulator{nullptr};
    RoceQueuePair* m_firstReady{nullptr};
    RoceQueuePair* m_lastReady{nullptr}; //!< valid only while m_firstReady is set
    RoceQueuePair* m_oldest{nullptr};    //!< by last activity
    RoceQueuePair* m_newest{nullptr};
    bool m_timerPending{false};
    Ptr<EventImpl> m_timer;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_NIC_H
