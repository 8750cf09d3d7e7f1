// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_WORKER_H
#define GRADSYNC_AGGREGATION_WORKER_H

#include "ns3/aggregation-contents.h"
#include "ns3/event-impl.h"
#include "ns3/fabric-port.h"
#include "ns3/float-tensor.h"
#include "ns3/nstime.h"
#include "ns3/packet-pool.h"
#include "ns3/transport.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What the workers of a job have in common.
struct AggregationJob
{
    uint16_t number;
    uint8_t driver; //!< number of the one of its protocol
    uint16_t valueCount;
    uint32_t wireBytes; //!< of a packet
    uint32_t retryLimit;
    bool expectsOverflow;    //!< sums that int32 cannot hold are no failure
    uint32_t headerEvery{1}; //!< so many packets of an aggregation begin with one that has a header
    uint32_t headerBytes{0}; //!< of it, in the place of data
    bool countsBytes{true};  //!< false: the transport counts what it delivers
    PacketPool* pool;
    AggregationContents* contents;
    AggregationTensor* tensor; //!< null: only sizes matter
    FloatTensor* floats;       //!< the same, if it is one
    /// Packets of exponents only at the beginning of an aggregation, at most; 0: no exponents.
    uint32_t batch{0};
    uint64_t firstPacket{0}; //!< the number to begin with
    bool isMulticast{false}; //!< one gives, and all get that
    /// The one that measures and prints sums, of those that get the same bits.
    uint32_t measuringRank{0};
    bool isSparse{false}; //!< packets are as long as the values in them
    uint32_t unit{1};     //!< each aggregation has a multiple of so many packets
};

/// What a packet with sums says, by whatever protocol.
struct AggregationResult
{
    std::span<const int32_t> values;
    bool hasOverflowed{false}; //!< a sum left the range of int32 on the way
    bool isFloat{false};       //!< the values are the bits of floats
    int8_t exponent{0};        //!< where packets have exponents
};

/**
 * The end of an aggregation protocol at a worker: cuts what it contributes into packets, which are
 * numbered since the job began, over all its aggregations. Protocols decide when packets
 * leave.
 */
class AggregationWorker
{
  public:
    /// \param job,port must outlive the worker. \param rank in the job
    AggregationWorker(const AggregationJob& job,
                      uint16_t rank,
                      uint32_t endpoint,
                      FabricPort& port);
    virtual ~AggregationWorker();
    AggregationWorker(const AggregationWorker&) = delete;
    AggregationWorker& operator=(const AggregationWorker&) = delete;

    uint32_t GetEndpoint() const
    {
        return m_endpoint;
    }

    /// Takes part in an aggregation, after all those of smaller index.
    void Contribute(const AggregationMessage& message);

    /// A result has arrived. \param[in,out] statistics of all workers
    virtual void OnResult(const AggregationPacket& packet, AggregationStatistics& statistics) = 0;

    /// Forgets all that is under way and all that comes.
    void Stop();

    /// Fails what is under way, and stops.
    void GiveUp(const std::string& reason);

    /// From now on it sends by another port of its endpoint.
    void SetPort(FabricPort& port)
    {
        m_port = &port;
    }

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

  protected:
    /// How long to wait for an answer after so many timeouts in a row: twice as long each time, up
    /// to 64 times.
    static Time BackOff(const Time& timeout, uint32_t timeouts);

    /// Packets from `first` on are there to be sent.
    virtual void SendFrom(uint64_t first) = 0;
    /// Stop() has been called: nothing leaves any more.
    virtual void Halt() = 0;

    /// The first packet that may have to be sent, or sent once more for the sake of others.
    virtual uint64_t GetFirstNeeded() const
    {
        return m_packetCount;
    }

    /// Of all aggregations so far.
    uint64_t GetPacketCount() const
    {
        return m_packetCount;
    }

    /// Index of a packet in its own aggregation.
    uint64_t GetPlace(uint64_t packet);
    /// The number of its aggregation in the job.
    uint64_t GetAggregation(uint64_t packet);
    /// One past the last packet of the aggregation of a packet.
    uint64_t GetAggregationEnd(uint64_t packet);
    /// Data in [first, last) of an aggregation, without any headers.
    uint64_t GetBytes(uint64_t first, uint64_t last);

    /// Whether a packet may still be contributed; it is forgotten otherwise.
    bool Knows(uint64_t packet) const
    {
        return !m_messages.empty() && packet >= m_messages.front().firstPacket;
    }

    /// What it contributes in a packet; nothing where only sizes matter.
    void FillValues(uint64_t packet, std::vector<int32_t>& values) const;
    /// Where the values of a packet are in their aggregation: the first one.
    uint64_t GetFirstValue(uint64_t packet);
    /// The exponent that a packet carries, of the packet a batch later; 0 for none.
    int8_t GetExponent(uint64_t packet);
    /// The packet whose result has the exponent that this one needs.
    std::optional<uint64_t> FindExponent(uint64_t packet);
    /// The packet that needs the exponent in the result of this one.
    std::optional<uint64_t> FindFollower(uint64_t packet);
    /// A packet with contents and without a header of the protocol. Transmit sends it.
    FabricPacket* MakePacket(uint64_t packet);
    /// Likewise, one that carries nothing.
    FabricPacket* MakeEmptyPacket();
    void Transmit(FabricPacket* packet);
    void CountRetransmission(uint64_t packet);

    /// OnTimer() is called then, or before: for the earliest time that is set.
    void SetTimer(const Time& due);
    void CancelTimer();
    /// The timer is due, and not set any more.
    virtual void OnTimer();

    /// Whether packets wait in the host's port.
    bool IsWaiting();

    /// The sums of a packet are there: tells whom it may concern, which may call Contribute.
    void Finish(uint64_t packet,
                const AggregationResult& result,
                AggregationStatistics& statistics);
    /// There is nothing more to do for a packet: tells likewise. Of one whose sums it does not get.
    void Complete(uint64_t packet);
    /// Gives up: stops, and tells so.
    void Fail(uint64_t packet, const std::string& reason);

    const AggregationJob& m_job;
    const uint16_t m_rank;

  private:
    /// An aggregation that is under way.
    struct Message
    {
        AggregationMessage request;
        uint64_t firstPacket;
        uint64_t packetCount;
        uint64_t missing; //!< packets without result
        uint64_t batch;   //!< packets of exponents only, the first of them

        bool IsExponents(uint64_t packet) const
        {
            return packet - firstPacket < batch;
        }

        /// A packet of values is as many packets after the one that has its exponent.
        bool HasExponent(uint64_t packet) const
        {
            return batch > 0 && packet + batch < firstPacket + packetCount;
        }
    };

    void OnDue();
    void Append(const AggregationMessage& message);
    void ForgetFinished();
    bool CheckExponent(uint64_t packet,
                       const AggregationResult& result,
                       AggregationStatistics& statistics);
    bool CheckSums(uint64_t packet,
                   const AggregationResult& result,
                   AggregationStatistics& statistics);
    SumVerdict Judge(uint64_t block, const AggregationResult& result) const;
    bool Refuse(uint64_t packet, const std::string& reason);
    size_t FindIndex(uint64_t packet) const;
    Message& FindMessage(uint64_t packet);
    uint64_t CountPackets(uint64_t bytes) const;
    uint64_t GetOffset(uint64_t place) const;
    uint32_t GetBytes(const Message& message, uint64_t packet) const;

    uint32_t m_endpoint;
    FabricPort* m_port;
    std::deque<Message> m_messages;                 //!< in order, some at the front are finished
    std::map<uint64_t, AggregationMessage> m_ahead; //!< that wait for those before
    uint64_t m_nextIndex{0};
    uint64_t m_packetCount;
    uint64_t m_retransmissions{0};
    uint64_t m_retransmittedBytes{0};
    uint64_t m_resultBytes{0};
    Ptr<EventImpl> m_timer;       //!< null before the first one
    Time m_timerDue{Time::Max()}; //!< Time::Max(): it is not pending
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_WORKER_H
