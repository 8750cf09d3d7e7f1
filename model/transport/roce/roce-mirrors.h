// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_MIRRORS_H
#define GRADSYNC_ROCE_MIRRORS_H

#include "ns3/divided-transport.h"
#include "ns3/fabric-cut.h"
#include "ns3/outgoing-batch.h"
#include "ns3/roce-arrivals.h"
#include "ns3/roce-connection-table.h"
#include "ns3/roce-post.h"
#include "ns3/roce-sender.h"

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * RoCE among several processes: connections whose ends are simulated by different ones.
 *
 * The process of the source has the half that sends, that of the destination a mirror with the half
 * that receives, under the same index and generation. Of each message the mirror is told before any
 * of its packets can be there: when the first one leaves, or, where the connection has never waited
 * in a reservation, when it is sent. It lives as long as the other half counts on it: until the
 * next connection of that index, which there is only where no packet was sent twice. The half that
 * sends closes, or goes back to its reservation, when all is acknowledged; the mirror then hears
 * nothing more, or answers what comes twice, and nobody listens.
 */
class RoceMirrors
{
  public:
    /// All but the division must outlive this. Before the first connection.
    RoceMirrors(RoceConnectionTable& connections,
                RoceSender& sender,
                FabricNetwork& fabric,
                const Topology& topology,
                const TopologyDivision& division,
                DividedMessages messages);

    /// See DividedTransport.
    Time Announce(const AwaitedEndpoints& endpoints);
    SwitchRounds* HoldSwitches(TimeStepCount lookahead);
    void Depart(TimeStepCount now);
    TimeStepCount GetFirstArrival() const;
    TimeStepCount GetNextStart() const;

    /// Whether both ends of all these ports are of this process.
    bool AreHere(std::span<const uint32_t> ports) const;

    /// A message is sent on a connection that has its queue pair. \param firstPsn of the message
    void OnPost(RoceQueuePair& queuePair,
                const Message& message,
                uint32_t firstPsn,
                TimeStepCount now);

    /// A connection that waited in its reservation has got its queue pair.
    void OnBuilt(RoceQueuePair& queuePair) const;

    /// The first packet of one of these messages leaves, for the first time. Of a connection with a
    /// reservation.
    void OnFirst(const RoceQueuePair& queuePair, const RoceMessages& messages, uint32_t message);

    /// Moves the messages and packets for a process to the end of a batch, which refers to them
    /// until the next call.
    void Take(uint32_t part, OutgoingBatch& batch);

    /// Takes those of another one. \param now the time of the simulator
    void Put(BatchReader& batch, TimeStepCount now);

  private:
    /// Told of the messages of switches that aggregate: what is in their packets says all.
    class Nobody final : public MessageHandler
    {
      public:
        void OnDelivered(uint64_t tag) override;
        void OnFailed(uint64_t tag, const std::string& reason) override;
    };

    /// Of an endpoint.
    struct NumberedReceiver
    {
        const MessageHandler* handler;
        uint32_t number;
    };

    /// In its place: mostly it is one, and whoever is told of no messages.
    using NumberedReceivers = boost::container::small_vector<NumberedReceiver, 2>;

    RocePost MakePost(const RoceQueuePair& queuePair,
                      const MessageSeries& messages,
                      uint32_t firstPsn);
    void Tell(uint32_t part,
              const RoceQueuePair& queuePair,
              const Message& message,
              uint32_t firstPsn,
              TimeStepCount now);
    void Expect(const RocePost& post, TimeStepCount now);
    void TellSending(MessageHandler* handler, uint64_t tag, const Time& at, TimeStepCount now);
    uint32_t FindReceiver(uint32_t endpoint, uint32_t stream, const MessageHandler* handler);
    const DividedMessages::Receiver& GetReceiver(uint32_t number);
    void ListReceivers();

    RoceConnectionTable& m_connections;
    RoceSender& m_sender;
    FabricNetwork& m_fabric;
    TopologyDivision m_division;
    uint32_t m_own;
    std::vector<uint32_t> m_partOf;             //!< [endpoint] -> process
    std::vector<ChunkedList<RocePost>> m_posts; //!< [process] since the last Take
    std::vector<ChunkedList<RocePost>> m_taken; //!< [process] of the last Take
    std::vector<uint32_t> m_lastPosts; //!< [queue pair] the place of its last one, if it is there
    DividedMessages m_messages;
    std::vector<DividedMessages::Receiver> m_receivers; //!< [number]; empty: not asked for yet
    std::vector<NumberedReceivers> m_receiversAt;       //!< [endpoint]
    Nobody m_nobody;
    FabricCut m_cut; //!< the links between the processes
    RoceArrivals m_arrivals;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_MIRRORS_H
