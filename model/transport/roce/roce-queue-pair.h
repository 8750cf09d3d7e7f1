// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_QUEUE_PAIR_H
#define GRADSYNC_ROCE_QUEUE_PAIR_H

#include "ns3/congestion-control.h"
#include "ns3/fabric-packet.h"
#include "ns3/message-series.h"
#include "ns3/object-pool.h"
#include "ns3/roce-incidents.h"
#include "ns3/transport.h"

#include <cstdint>
#include <memory>

namespace ns3::gradsync
{

/// How a queue pair recovers from loss.
enum RoceRecovery
{
    RECOVERY_GO_BACK_N,       //!< the receiver takes packets in order only
    RECOVERY_SELECTIVE_REPEAT //!< it keeps those that come early; only lost ones are sent again
};

/// Messages in a row on their way through a queue pair, of as many packets each. They live until
/// the last packet of all is acknowledged.
struct RoceMessages
{
    RoceMessages* next;
    MessageSeries series;
    uint32_t firstPsn;
    uint32_t packetCount; //!< of each

    uint32_t GetEndPsn() const
    {
        return firstPsn + packetCount * series.GetCount();
    }

    /// True when all their packets come before `psn`.
    bool EndsBefore(uint32_t psn) const
    {
        return GetEndPsn() <= psn;
    }

    /// Which of them holds a packet of them.
    uint32_t FindIndex(uint32_t psn) const
    {
        return series.GetCount() == 1 ? 0 : (psn - firstPsn) / packetCount;
    }

    uint32_t GetFirstPsn(uint32_t index) const
    {
        return firstPsn + packetCount * index;
    }
};

/// What congestion control decides and remembers of one connection.
struct RoceFlow : CongestionFlow
{
    RoceFlow* next; //!< in the pool
};

/**
 * Both halves of a reliable connection (sender at src, receiver at dst). One exists per connection
 * that has unacknowledged messages; idle ones go back to the pool, so that memory follows the open
 * work, but for what congestion control has decided of them (RoceFlows), and for those that have
 * sent packets twice: the receiving half of such a one goes on to answer what arrives late.
 *
 * Packet sequence numbers count from 0 in each life of the struct; the wire's 24 bits are not
 * modelled.
 */
struct alignas(64) RoceQueuePair
{
    // What a receiver touches, and a sender reads: one cache line.
    uint32_t index; //!< in the transport's table
    uint32_t generation;
    uint32_t src;
    uint32_t dst;
    uint32_t stream;
    uint32_t number;   //!< of its connection, in the RoceConnectionTable
    uint32_t flowHash; //!< of the data packets; the acknowledgements' is its complement
    uint32_t expectedPsn;
    uint32_t lastAckedPsn;   //!< expectedPsn of the last acknowledgement sent
    uint32_t nextPsn;        //!< to be sent next
    RoceMessages* receiving; //!< that hold expectedPsn; null where another process receives
    std::unique_ptr<RoceIncidents> incidents; //!< null until the first
    uint16_t acknowledgePort;                 //!< port of dst by which acknowledgements leave
    uint16_t sourcePort;
    bool nakSent : 1;      //!< for the present gap
    bool isClosed : 1;     //!< it sends nothing more; to be recycled when it leaves the ring
    bool hasGaps : 1;      //!< among the incidents
    bool mayLose : 1;      //!< it has droppable packets
    bool isMirror : 1;     //!< another process has the half that sends (RoceMirrors)
    bool isReady : 1;      //!< in the NIC's ring
    bool isTimed : 1;      //!< in the TimeoutQueue
    bool isAggregated : 1; //!< the network aggregates what it carries
    bool repeats : 1;      //!< nextPsn is before highestPsn
    bool hasRepeated : 1;  //!< some packet was sent twice

    // What a sender touches for every packet or acknowledgement: one more.
    alignas(64) uint32_t ackedPsn; //!< all before it are acknowledged
    uint32_t endPsn;               //!< all packets of all messages posted so far
    RoceMessages* sending;         //!< that hold nextPsn
    RoceMessages* oldest;          //!< not wholly acknowledged
    RoceMessages* newest;
    RoceFlow* flow;           //!< its own, or the one of all that congestion has not met
    TimeStepCount timedSince; //!< last progress, or when it was asked if none came since
    uint32_t timedPlace;      //!< in the TimeoutQueue

    bool HasUnsent() const
    {
        return nextPsn != endPsn;
    }

    /// True when it has a packet to send and its window lets it.
    bool MaySend() const
    {
        return (HasUnsent() && GetInFlight() < flow->windowPackets) || HasRepair();
    }

    /// True when a packet that was lost is to be sent again, which the window does not hold back.
    bool HasRepair() const
    {
        return hasGaps && incidents->gaps->HasRepair();
    }

    uint32_t GetInFlight() const
    {
        return nextPsn - ackedPsn;
    }

    /// True when a packet is under way that the receiver answers, because the next answer is due or
    /// because it ends a message. \param ackEvery packets an answer; 0: ends of messages only
    bool IsAnswerDue(uint32_t ackEvery) const
    {
        return IsCountReached(ackEvery) || (GetInFlight() > 0 && HasEndUnderWay());
    }

    /// True when all of the oldest message was sent.
    bool HasEndUnderWay() const
    {
        return oldest != sending || oldest->FindIndex(ackedPsn) != oldest->FindIndex(nextPsn);
    }

    /// True when so much is under way that the receiver answers, or that the window is full.
    bool IsCountReached(uint32_t ackEvery) const
    {
        const auto inFlight = GetInFlight();
        return (ackEvery != 0 && inFlight >= ackEvery) || inFlight >= flow->windowPackets;
    }

    /// True when every message is acknowledged: the connection may close.
    bool IsDone() const
    {
        return oldest == nullptr;
    }

    /// The first packet has this number, not 0. Before the first message.
    void BeginAt(uint32_t psn)
    {
        expectedPsn = psn;
        lastAckedPsn = psn;
        nextPsn = psn;
        ackedPsn = psn;
        endPsn = psn;
    }

    /// The first packets of the first message have been sent, have arrived and were answered as
    /// they are due. After Post. \param ackEvery packets an answer; 0: ends of messages only
    void GoOnAt(uint32_t sent, uint32_t ackEvery)
    {
        nextPsn += sent;
        expectedPsn = nextPsn;
        ackedPsn = nextPsn - CountUnanswered(sent, ackEvery);
        lastAckedPsn = ackedPsn;
    }

    /// How many of the first packets of a message no answer is for, when all that are due have
    /// come.
    static uint32_t CountUnanswered(uint32_t sent, uint32_t ackEvery)
    {
        return ackEvery == 0 ? sent : sent % ackEvery;
    }

    /// How many packets of the message in hand were sent. Only when it HasUnsent.
    uint32_t CountSent() const
    {
        return nextPsn - sending->GetFirstPsn(sending->FindIndex(nextPsn));
    }

    /// Data packets that arrived with CE.
    uint32_t CountMarked() const
    {
        return incidents ? incidents->markedPackets : 0;
    }

    /// Likewise, as the sender knows.
    uint32_t CountSeenMarks() const
    {
        return incidents ? incidents->marksSeen : 0;
    }

    /// Its incidents, from now on not null.
    RoceIncidents& ProvideIncidents()
    {
        if (!incidents)
        {
            incidents = std::make_unique<RoceIncidents>();
        }
        return *incidents;
    }

    /// Its gaps, from now on not null.
    RoceGaps& ProvideGaps();

    /// Adds a message to the newest ones. \return false when it does not go on as they do
    bool Append(const Message& message, uint32_t packetCount);

    /// Appends messages of so many packets each, which are to stand in `place`. \throws
    /// std::length_error beyond 2^32 packets
    void Post(RoceMessages* place, const MessageSeries& series, uint32_t packetCount);

    /// The sender learns that all packets before `psn` have arrived; messages that end before go to
    /// the pool.
    void Acknowledge(uint32_t psn, ObjectPool<RoceMessages>& pool);

    /**
     * True when nothing is on the wire or was ever repeated or marked, what was sent of the message
     * in hand is answered as far as it is due, and what is left to send is one series: a queue pair
     * that goes on with these (GoOnAt) would do likewise, but for what receivers answer by a
     * sequence number. Where another process receives, all that is answered has arrived, its marks
     * are known from the answers, and a message in hand stays: amid it the receiver would not know
     * another queue pair.
     */
    bool MayBeginAnew(uint32_t ackEvery) const;

    /// The next packet to send is the oldest one not acknowledged, but for those that may be lost.
    void GoBack();

    /// While it repeats: what may be lost is not sent twice.
    void SkipDroppable();

    /// The receiver misses nothing before `psn` that may not be lost. \return how many packets it
    /// gives up
    uint32_t GiveUpBefore(uint32_t psn);

    /// The sender waits no longer for packets that may be lost and that nobody has acknowledged.
    void GiveUpSent(ObjectPool<RoceMessages>& pool);

    /// Takes the next packet to send. \return whether it went before, because of GoBack
    bool TakeNext()
    {
        repeats = repeats && nextPsn < incidents->highestPsn;
        ++nextPsn;
        return repeats;
    }

    /// Selective repeat: all packets under way that are not acknowledged count as lost.
    void RepairAll();

    /**
     * Selective repeat: the receiver has `psn`, but not the oldest packet.
     * \param tolerance a packet is lost when one that was sent more than so many later arrived
     * \return whether that reveals the first loss of a new episode
     */
    bool RepairBefore(uint32_t psn, uint32_t tolerance);

    /// Takes the packet to repeat now. Only when HasRepair. \return its sequence number
    uint32_t TakeRepair();

    /// The messages that hold a packet which is not acknowledged.
    RoceMessages& FindMessages(uint32_t psn) const;
};

static_assert(sizeof(RoceQueuePair) == 128, "two lines of the cache: there may be a million");

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_QUEUE_PAIR_H
