// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_NIC_H
#define GRADSYNC_ROCE_NIC_H

#include "ns3/event-impl.h"
#include "ns3/fabric-port.h"
#include "ns3/ptr.h"
#include "ns3/roce-queue-pair.h"
#include "ns3/timeout-queue.h"
#include "ns3/turn-queue.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::gradsync
{

class RoceSender;

/**
 * The sending side of one port of one endpoint: serves its connections round robin, a packet each,
 * and watches over the retransmission timeout of their queue pairs. Those with a reservation only
 * have the sender build their queue pair when their turn comes.
 *
 * Both cost O(1) in the number of queue pairs: those with something to send form a ring, those with
 * an answer due a list in the order in which they began to wait, of which only the first needs
 * a timer because the timeout is the same for all. Queue pairs that congestion control paces wait
 * for their time in a heap; the NIC is woken for the first of them only when the port has nothing
 * else to send.
 */
class RoceNic final : public PacketSource
{
  public:
    RoceNic() = default;
    ~RoceNic();
    RoceNic(const RoceNic&) = delete;
    RoceNic& operator=(const RoceNic&) = delete;

    void Install(RoceSender* sender, FabricPort* port, SimulatorImpl* simulator, double bitRate);

    /// Of the port, bits per second.
    double GetBitRate() const
    {
        return m_bitRate;
    }

    const FabricPort& GetPort() const
    {
        return *m_port;
    }

    FabricPort& GetPort()
    {
        return *m_port;
    }

    FabricPacket* Pull(TimeStepCount& start, TimeStepCount now) override;

    void PrefetchPull(uint32_t round) const override;

    /// The queue pair may send: puts it at the end of the ring unless it is in it. The port must be
    /// synced.
    void Add(RoceQueuePair& queuePair);

    /// A connection that may send waits at the end of the ring. \param number of the
    /// RoceConnectionTable
    void AddTurn(uint32_t number)
    {
        m_turns.Push(number);
    }

    /// The ring: numbers of the RoceConnectionTable.
    const TurnQueue& GetTurns() const
    {
        return m_turns;
    }

    /// Begins to wait for an answer that is due, anew if it waits already.
    void StartTimeout(RoceQueuePair& queuePair, TimeStepCount now);

    /// A host that does not send does not time out either: the clocks of its queue pairs stand
    /// still, and go on when it sends again. Did they begin anew, one that stops more often than
    /// they run out would never send again what was lost.
    void SetSilent(bool silent, TimeStepCount now);

    /// The queue pair goes to another NIC, in whatever list of this one it stands. Linear in those
    /// that want to send.
    void Remove(RoceQueuePair& queuePair);

    /// The queue pair has no answer due.
    void StopTimeout(RoceQueuePair& queuePair);

    /// Fetches what StopTimeout touches beside the queue pair.
    void PrefetchStop(const RoceQueuePair& queuePair) const
    {
        m_timed.PrefetchRemoval(queuePair);
    }

    /// No queue pair has anything to send, or an answer due.
    bool IsAtRest() const;

    /// What decides how it goes on.
    void AddState(StateWords& words) const;

  private:
    template <void (RoceNic::*METHOD)()>
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
            (m_nic->*METHOD)();
        }

        RoceNic* m_nic;
    };

    /// A queue pair that waits for its pace; equal times in the order in which they came.
    struct Paced
    {
        TimeStepCount due;
        uint64_t order;
        RoceQueuePair* queuePair;

        bool operator>(const Paced& other) const
        {
            return due != other.due ? due > other.due : order > other.order;
        }
    };

    bool IsAsking(const RoceQueuePair& queuePair, const FabricPacket& packet) const;
    FabricPacket* PullReady(TimeStepCount start);
    void PrefetchTurns() const;
    void Park(RoceQueuePair& queuePair);
    void ReleaseDue(TimeStepCount start);
    void WakeAt(TimeStepCount due, TimeStepCount now);
    void OnWake();
    RoceQueuePair* FindOldest() const;
    void OnTimer();
    void ScheduleTimer(TimeStepCount delay);

    RoceSender* m_sender{nullptr};
    FabricPort* m_port{nullptr};
    SimulatorImpl* m_simulator{nullptr};
    TurnQueue m_turns;                 //!< the ring
    TimeoutQueue m_timed;              //!< by timedSince
    std::vector<Paced> m_paced;        //!< heap, the first to come on top
    uint64_t m_pacedCount{0};          //!< ever
    TimeStepCount m_wakeAt{INT64_MAX}; //!< the earliest wake-up under way
    double m_bitRate{0.0};
    bool m_timerPending{false};
    bool m_silent{false};
    TimeStepCount m_silentSince{0}; //!< while it is
    Ptr<EventImpl> m_timer;
    Ptr<EventImpl> m_wake;
};

/// [endpoint][port]
using RoceNics = std::vector<std::unique_ptr<RoceNic[]>>;

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_NIC_H
