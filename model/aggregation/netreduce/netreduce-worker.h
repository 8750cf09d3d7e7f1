// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NETREDUCE_WORKER_H
#define GRADSYNC_NETREDUCE_WORKER_H

#include "ns3/aggregation-worker.h"
#include "ns3/network-aggregation.h"

#include <cstdint>
#include <deque>
#include <string>

namespace ns3::gradsync
{

/**
 * A worker of NetReduce (Liu et al., ASPLOS 2023): sends its packets as RoCE messages to the next
 * worker of the ring, and gets the sums as messages of the one before. It may have so many messages
 * under way whose sums it has not (message-level credit); all else is up to the queue pairs.
 */
class NetReduceWorker final : public AggregationWorker, private MessageHandler
{
  public:
    /// What NetReduce's workers have in common beyond all protocols.
    struct Settings
    {
        Transport* transport; //!< over which messages go
        uint32_t stream;      //!< of all of them
        uint32_t messagePackets;
        uint32_t window; //!< messages
    };

    NetReduceWorker(const AggregationJob& job,
                    const Settings& settings,
                    uint16_t rank,
                    uint32_t endpoint,
                    FabricPort& port);

    /// Messages go there. \param endpoint of the next worker of the ring
    void SetNext(uint32_t endpoint)
    {
        m_next = endpoint;
    }

    /// A packet of the ring has arrived, be it in order or not.
    void OnResult(const AggregationPacket& packet, AggregationStatistics& statistics) override;

    /// Packets of which it has the sums, but for those of Restart.
    uint64_t GetDone() const
    {
        return m_done;
    }

    bool IsHalted() const
    {
        return m_halted;
    }

    /// The first packet of the message of a packet, which it has contributed or may have to.
    uint64_t GetMessageStart(uint64_t packet);

    /// Other boxes aggregate, which know of nothing yet: goes back to a packet that begins a
    /// message.
    void Restart(uint64_t first);

    /// Fills in what a packet of one of its messages carries.
    void Equip(AggregationPacket& content, FabricPacket& packet, const MessagePlace& place) const;

  private:
    void OnDelivered(uint64_t tag) override;
    void OnFailed(uint64_t tag, const std::string& reason) override;
    void SendFrom(uint64_t first) override;
    uint64_t GetFirstNeeded() const override;
    void Halt() override;
    void Abandon();

    const Settings& m_settings;
    uint32_t m_next{0};
    uint64_t m_sent{0};              //!< packets of messages that were posted
    uint64_t m_expected{0};          //!< next packet of the ring
    uint64_t m_done{0};              //!< packets whose sums are there
    std::deque<uint64_t> m_underWay; //!< ends of the messages without sum
    bool m_halted{false};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NETREDUCE_WORKER_H
