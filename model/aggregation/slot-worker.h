// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_WORKER_H
#define GRADSYNC_SLOT_WORKER_H

#include "ns3/event-id.h"
#include "ns3/fabric-port.h"
#include "ns3/nstime.h"
#include "ns3/packet-pool.h"
#include "ns3/slot-contents.h"
#include "ns3/slot-tensor.h"
#include "ns3/transport.h"

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace ns3::gradsync
{

/// What the workers of a job have in common.
struct SlotJob
{
    uint16_t number;
    uint32_t slots;
    uint16_t valueCount;
    uint32_t wireBytes; //!< of a packet
    Time timeout;
    uint32_t retryLimit;
    PacketPool* pool;
    SlotContents* contents;
    SlotTensor* tensor; //!< null: only sizes matter
};

/**
 * The end of the slot protocol at a worker: cuts what it contributes into packets, sends packet i
 * by slot i mod N when the result of packet i - N is there, and sends again what has no result in
 * time.
 */
class SlotWorker
{
  public:
    /// \param job,port must outlive the worker. \param rank in the job
    SlotWorker(const SlotJob& job, uint16_t rank, uint32_t endpoint, FabricPort& port);
    ~SlotWorker();
    SlotWorker(const SlotWorker&) = delete;
    SlotWorker& operator=(const SlotWorker&) = delete;

    uint32_t GetEndpoint() const
    {
        return m_endpoint;
    }

    /// Takes part in an aggregation, after all those of smaller index.
    void Contribute(const AggregationMessage& message);

    /// A result has arrived. \param[in,out] statistics of all workers
    void OnResult(const SlotPacket& packet, AggregationStatistics& statistics);

    /// Forgets all that is under way and all that comes.
    void Stop();

    /// Whether something is under way, and all of it is for these.
    bool IsMeant(const Transport::MessageFilter& isMeant) const;

    uint64_t GetRetransmissions() const
    {
        return m_retransmissions;
    }

    uint64_t GetRetransmittedBytes() const
    {
        return m_retransmittedBytes;
    }

    /// Message bytes of the results that it took.
    uint64_t GetResultBytes() const
    {
        return m_resultBytes;
    }

  private:
    /// An aggregation that is under way.
    struct Message
    {
        AggregationMessage request;
        uint64_t firstPacket; //!< packets are numbered since the job began
        uint64_t packetCount;
        uint64_t missing; //!< packets without result
    };

    struct Slot
    {
        uint64_t packet; //!< the one that is under way, or the next one
        bool isBusy{false};
        uint32_t timeouts{0}; //!< in a row
        Time due;             //!< when to send again
    };

    void Append(const AggregationMessage& message);
    Message& FindMessage(uint64_t packet);
    uint32_t GetBytes(const Message& message, uint64_t packet) const;
    void SendNext(uint32_t slot);
    void Transmit(uint32_t slot);
    void Finish(uint64_t packet);
    void SetTimer(const Time& due);
    void CancelTimer();
    void OnTimer();
    bool OnTimeout(uint32_t slot);

    const SlotJob& m_job;
    uint16_t m_rank;
    uint32_t m_endpoint;
    FabricPort& m_port;
    std::vector<Slot> m_slots;
    std::deque<Message> m_messages;                 //!< in order, finished ones but at the front
    std::map<uint64_t, AggregationMessage> m_ahead; //!< that wait for those before
    uint64_t m_nextIndex{0};
    uint64_t m_packetCount{0}; //!< of all aggregations so far
    uint64_t m_retransmissions{0};
    uint64_t m_retransmittedBytes{0};
    uint64_t m_resultBytes{0};
    uint32_t m_busySlots{0};
    EventId m_timer;
    Time m_timerDue{Time::Max()}; //!< Time::Max(): it is not pending
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_WORKER_H
