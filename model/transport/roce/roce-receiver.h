// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_RECEIVER_H
#define GRADSYNC_ROCE_RECEIVER_H

#include "ns3/fabric-packet.h"
#include "ns3/roce-nic.h"
#include "ns3/roce-queue-pair.h"
#include "ns3/traced-callback.h"

#include <cstdint>

namespace ns3::gradsync
{

class PacketPool;
class RoceSender;

/**
 * The receiving half of RoCE's connections: takes packets, in order or not, delivers messages,
 * acknowledges, and notifies of marks. One serves all connections of a transport.
 */
class RoceReceiver
{
  public:
    struct Settings
    {
        uint32_t mtuBytes;
        uint32_t ackEvery; //!< packets; 0: the sender learns by magic
        RoceRecovery recovery;
        uint32_t ackWireBytes;
        bool countsMarks;                   //!< acknowledgements tell how many were marked
        bool returnsTelemetry;              //!< acknowledgements take it home
        TimeStepCount notificationInterval; //!< between two of a connection; 0: there are none
    };

    /// Told of the payload that is taken: tag of the message, offset in it, bytes.
    using PayloadTrace = TracedCallback<uint64_t, uint64_t, uint32_t>;

    explicit RoceReceiver(const PayloadTrace& payloadTrace)
        : m_payloadTrace(payloadTrace)
    {
    }

    /// Before the first packet. All but the settings must outlive the receiver.
    void Install(const Settings& settings,
                 PacketPool& pool,
                 const RoceNics& nics,
                 RoceSender& sender);

    void OnData(RoceQueuePair& queuePair, FabricPacket& packet, TimeStepCount now);

    /// Counts what was not simulated.
    void AddGoodput(uint64_t bytes)
    {
        m_goodputBytes += bytes;
    }

    /// Bytes of messages that were taken, each once.
    uint64_t GetGoodputBytes() const
    {
        return m_goodputBytes;
    }

    /// Bytes of messages that were lost, and may be.
    uint64_t GetLostBytes() const
    {
        return m_lostBytes;
    }

  private:
    void OnDataWithGaps(RoceQueuePair& queuePair, FabricPacket& packet, TimeStepCount now);
    void TakePayload(const RoceQueuePair& queuePair, const FabricPacket& packet);
    void DeliverCompleted(RoceQueuePair& queuePair, uint32_t index);
    void FinishMessage(RoceQueuePair& queuePair, uint32_t index);
    void Acknowledge(RoceQueuePair& queuePair,
                     FabricPacket& data,
                     PacketKind kind,
                     TimeStepCount now);
    void OnMarked(RoceQueuePair& queuePair, TimeStepCount now);
    FabricPacket* MakeControlPacket(const RoceQueuePair& queuePair,
                                    PacketKind kind,
                                    uint32_t wireBytes);

    Settings m_settings{};
    uint64_t m_goodputBytes{0};
    uint64_t m_lostBytes{0};
    PacketPool* m_pool{nullptr};
    const RoceNics* m_nics{nullptr};
    RoceSender* m_sender{nullptr};
    const PayloadTrace& m_payloadTrace;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_RECEIVER_H
