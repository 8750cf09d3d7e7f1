// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_SENDER_H
#define GRADSYNC_ROCE_SENDER_H

#include "ns3/fabric-network.h"
#include "ns3/message-shapes.h"
#include "ns3/network-aggregation.h"
#include "ns3/object-pool.h"
#include "ns3/roce-connection-table.h"
#include "ns3/roce-flows.h"
#include "ns3/roce-nic.h"
#include "ns3/roce-queue-pair.h"
#include "ns3/topology.h"
#include "ns3/traced-callback.h"
#include "ns3/transport.h"

#include <cstdint>
#include <string>

namespace ns3::gradsync
{

class RoceMirrors;

/**
 * The sending half of RoCE's connections: opens them for messages, makes their packets when a NIC
 * asks, takes acknowledgements, recovers from losses, and closes them when all is acknowledged. One
 * serves all connections of a transport.
 */
class RoceSender
{
  public:
    struct Settings
    {
        uint32_t mtuBytes;
        uint32_t telemetryBytes; //!< of each packet
        uint8_t dataFlags;       //!< of each data packet
        uint32_t ackEvery;       //!< packets after which receivers answer; 0: never
        TimeStepCount timeout;
        uint32_t retryLimit; //!< timeouts in a row after which a connection has failed
        RoceRecovery recovery;
        uint32_t reorderTolerance; //!< packets
        uint32_t keptQueuePairs;   //!< so many in use may wait for their turns; see m_keptAtNic
    };

    /// Told of losses: source, destination, whether by a timeout.
    using RecoveryTrace = TracedCallback<uint32_t, uint32_t, bool>;

    /// All must outlive the sender.
    RoceSender(RoceConnectionTable& connections,
               RoceFlows& flows,
               const RoceNics& nics,
               const RecoveryTrace& recoveryTrace)
        : m_connections(connections),
          m_flows(flows),
          m_nics(nics),
          m_recoveryTrace(recoveryTrace)
    {
    }

    /// Before the first message; both must outlive the sender. \param aggregation null: there is
    /// none
    void Install(const Settings& settings,
                 FabricNetwork& fabric,
                 const Topology& topology,
                 NetworkAggregation* aggregation);

    /// \return false when the connection would have more packets than sequence numbers; nothing is
    /// sent then
    bool Send(const Message& message, TimeStepCount now);

    /// The connections are those of one of so many processes. \param mirrors tell the others of
    /// the messages for their hosts
    void Divide(RoceMirrors& mirrors, uint32_t processes)
    {
        m_mirrors = &mirrors;
        m_settings.keptQueuePairs /= processes;
    }

    /// From now on all connections have their queue pairs, with the same index, from the first
    /// message to the last acknowledgement: somebody tells them apart by these.
    void KeepQueuePairs()
    {
        m_mayReserve = false;
    }

    /// All that wait get their queue pairs.
    void BuildReserved();

    /// A queue pair has more to receive from another process.
    void AddMessages(RoceQueuePair& queuePair, const MessageSeries& series);

    /// True when so many queue pairs are in use that none is to wait for its turn.
    bool AreMany() const
    {
        return m_connections.CountUsedQueuePairs() >= m_settings.keptQueuePairs;
    }

    /// A packet has arrived that needs no answer, and so has all that the queue pair sent, which
    /// waits for its turn: takes it back if there are many.
    void Rest(RoceQueuePair& queuePair)
    {
        if (AreMany() && MayTakeBack(queuePair))
        {
            TakeBack(queuePair);
        }
    }

    /// By which port of an endpoint packets leave for another one.
    uint16_t ChoosePort(uint32_t endpoint, uint32_t flowHash, uint32_t peer) const;

    /// The oldest messages in a row of a connection that this process mirrors are delivered.
    void Forget(RoceQueuePair& queuePair);

    /// Ends the connections all of whose messages are meant.
    void Abandon(const Transport::MessageFilter& isMeant, TimeStepCount now);

    /// The fabric has other routes: connections leave by the ports that these say.
    void FollowRoutes(TimeStepCount now);

    void OnAcknowledgement(RoceQueuePair& queuePair, const FabricPacket& packet, TimeStepCount now);
    void OnNotification(RoceQueuePair& queuePair, TimeStepCount now);

    /// All that arrived is acknowledged without a packet on the wire.
    void AcknowledgeAtOnce(RoceQueuePair& queuePair, TimeStepCount now)
    {
        GetNic(queuePair).GetPort().Sync(now);
        Advance(queuePair, queuePair.expectedPsn, now);
    }

    // Called by RoceNic.

    /// The queue pair whose turn it is, by the number of its connection; built if that waits.
    RoceQueuePair& TakeTurn(uint32_t number)
    {
        auto* queuePair = FindQueuePair(number);
        return queuePair ? *queuePair : Build(number);
    }

    /// A queue pair is to wait for a turn. \param turns of others that come before
    void AwaitTurn(RoceQueuePair& queuePair, size_t turns)
    {
        if (turns >= m_keptAtNic && !RoceConnectionTable::IsReservation(queuePair.number))
            [[unlikely]]
        {
            AddReservation(queuePair);
        }
    }

    /// Fetches what TakeTurn and MakeDataPacket look at.
    void PrefetchTurn(uint32_t number, uint32_t round) const;

    /// nullptr: the connection waits in its reservation.
    RoceQueuePair* FindQueuePair(uint32_t number) const
    {
        return m_connections.FindQueuePair(number);
    }

    /// The next data packet of a queue pair that MaySend. \param start when its first bit leaves
    FabricPacket* MakeDataPacket(RoceQueuePair& queuePair, TimeStepCount start);

    /// No acknowledgement came in time.
    void OnTimeout(RoceQueuePair& queuePair, TimeStepCount now);

    /// A closed queue pair has left the ring of its NIC: it may serve another connection.
    void Recycle(RoceQueuePair& queuePair)
    {
        m_connections.Recycle(queuePair);
    }

    uint32_t GetAckEvery() const
    {
        return m_settings.ackEvery;
    }

    TimeStepCount GetTimeout() const
    {
        return m_settings.timeout;
    }

    /// A timer has come, and no timeout was over; or one that wakes who paces.
    void CountLook()
    {
        ++m_timerLooks;
    }

    uint64_t GetTimerLooks() const
    {
        return m_timerLooks;
    }

    /// Whether any message had packets that may be lost.
    bool MayLose() const
    {
        return m_mayLose;
    }

    uint64_t GetRetransmittedPackets() const
    {
        return m_retransmittedPackets;
    }

    uint64_t GetRetransmittedBytes() const
    {
        return m_retransmittedBytes;
    }

  private:
    RoceNic& GetNic(const RoceQueuePair& queuePair) const
    {
        return m_nics[queuePair.src][queuePair.sourcePort];
    }

    /// Of a message; an empty one still costs one.
    uint64_t CountPackets(uint64_t bytes) const;
    /// A queue pair has one more message.
    void AddMessage(RoceQueuePair& queuePair, const Message& message);
    /// Appends messages of which the first has as many packets as each.
    void Post(RoceQueuePair& queuePair, const MessageSeries& series);
    void MarkDroppable(RoceQueuePair& queuePair, uint32_t firstPsn, const ByteRange& bytes);
    bool MayReserve(const Message& message, const RoceConnection& connection) const;
    bool Reserve(const RoceConnection& connection, const Message& message, TimeStepCount now);
    MessageSeries GetMessages(const RoceReservation& reservation) const;
    bool Append(RoceReservation& reservation, const Message& message);
    RoceQueuePair& Build(uint32_t number);
    void AddReservation(RoceQueuePair& queuePair);
    bool IsWorthTakingBack(const RoceQueuePair& queuePair) const;
    bool MayTakeBack(const RoceQueuePair& queuePair) const;
    void TakeBack(RoceQueuePair& queuePair);
    RoceQueuePair& Open(const RoceConnection& connection);
    void ChooseFirstPorts(RoceQueuePair& queuePair);
    RoceNic& FindNic(const RoceConnection& connection) const;
    /// \param isIdle all its messages were acknowledged
    void Close(RoceQueuePair& queuePair, bool isIdle);
    uint16_t ChooseSourcePort(const RoceQueuePair& queuePair) const;
    /// The NICs of both ends, by the routes in use; moves the queue pair if its sender's changes.
    void ChoosePorts(RoceQueuePair& queuePair, TimeStepCount now);

    bool Advance(RoceQueuePair& queuePair, uint32_t ackedPsn, TimeStepCount now);
    void OnGap(RoceQueuePair& queuePair, const FabricPacket& packet, TimeStepCount now);
    void TellLoss(RoceQueuePair& queuePair, bool isTimeout, TimeStepCount now);
    void Fail(RoceQueuePair& queuePair);
    std::string DescribeFailure(const RoceQueuePair& queuePair) const;
    static bool IsMeant(const RoceQueuePair& queuePair, const Transport::MessageFilter& isMeant);
    void GiveMessages(RoceQueuePair& queuePair);

    Settings m_settings{};
    RoceConnectionTable& m_connections;
    RoceFlows& m_flows;
    const RoceNics& m_nics;
    const RecoveryTrace& m_recoveryTrace;
    FabricNetwork* m_fabric{nullptr};
    const Topology* m_topology{nullptr};
    NetworkAggregation* m_aggregation{nullptr};
    RoceMirrors* m_mirrors{nullptr};
    ObjectPool<RoceMessages> m_messages;
    RoceHandlers m_handlers; //!< of what waits, or has waited
    MessageShapes m_shapes;  //!< likewise
    uint64_t m_retransmittedPackets{0};
    uint64_t m_retransmittedBytes{0};
    uint64_t m_timerLooks{0};
    bool m_mayLose{false};
    bool m_mayReserve{true};
    bool m_hasChoice{false}; //!< an endpoint has several ports
    uint64_t m_keptAtNic{0}; //!< behind so many at a NIC connections wait in reservations
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_SENDER_H
