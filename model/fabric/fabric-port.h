// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FABRIC_PORT_H
#define GRADSYNC_FABRIC_PORT_H

#include "ns3/lazy-sender.h"
#include "ns3/pause-clock.h"
#include "ns3/port-counters.h"

#include <algorithm>
#include <cstdint>

namespace ns3::gradsync
{

class EcnMarker;
class PacketLoss;
class PacketPool;

/**
 * One direction of a link: the sending port, the wire, and the far end. The wire and the sender say
 * what moves when; this is what becomes of packets otherwise (they are queued and marked, dropped
 * or lost), what stops them, and what is counted.
 *
 * Make it as Ptr<FabricPort>(new FabricPort, false): the simulator holds a reference while a packet
 * is on the wire.
 */
class FabricPort final : public LazySender
{
  public:
    FabricPort() = default;
    ~FabricPort() override = default;

    /// ECN marking of the packets that wait here; nullptr: none.
    void SetEcnMarker(EcnMarker* marker);

    /// Random loss on this direction of the link; nullptr: none.
    void SetLoss(PacketLoss* loss)
    {
        m_loss = loss;
        SetLossy(loss != nullptr);
    }

    /// Puts a data packet in line. Only after Sync and when not IsFree.
    void QueueData(FabricPacket* packet, TimeStepCount now);

    /// Sends a data packet of a host that does not come from its source: at once, or in line before
    /// those of the source.
    void SendData(FabricPacket* packet, TimeStepCount now);

    /// PFC: stops the data class or lets it go.
    void SetPaused(bool paused, TimeStepCount now);

    /// A fault stops the data class of a host or lets it go; acknowledgements still leave.
    void SetHeld(bool held, TimeStepCount now);

    /// Gives all waiting packets to the pool and counts them as dropped; ends a pause by PFC. What
    /// a source holds stays there.
    void Flush(PacketPool& pool, TimeStepCount now);

    /// Counts a packet that found no room here, or was lost on the wire.
    void CountDrop(const FabricPacket& packet);

    /// Counts bytes that wait here for nothing but the end of a pause.
    void CountBlocked(uint64_t bytes)
    {
        m_incidents.blockedBytes += bytes;
    }

    /// Whether nothing is special about it, and nothing was marked, dropped or paused here so far,
    /// nor a number drawn whether to. \param isMarked packets here may be
    bool IsUndisturbed(bool isMarked) const;

    /// Whether nothing was marked or dropped here so far, nor a number drawn whether to.
    bool IsCertain(bool isMarked) const;

    /// How many packets have come to the far end.
    uint64_t CountArrived() const;

    /// Counters up to `now`.
    PortCounters GetCounters(TimeStepCount now) const;

    /// Counts what was not simulated; of the longest queues the longer one.
    void AddCounters(const PortCounters& counters);

    /// The longest queue is measured anew, beside that of all time.
    void MeasureQueue()
    {
        m_longestBefore = std::max(m_longestBefore, UseData().Measure());
    }

    /// Since MeasureQueue.
    uint64_t GetMeasuredQueue() const
    {
        return GetData().GetLongest();
    }

  private:
    /// As an event, a port is the arrival of the first packet on its wire.
    void Notify() override;
    void Mark(FabricPacket* packet);

    PacketLoss* m_loss{nullptr};
    EcnMarker* m_marker{nullptr};
    PortIncidents m_incidents;
    PauseClock m_pauses;
    uint64_t m_longestBefore{0}; //!< queue, before it was measured anew
};

static_assert(sizeof(FabricPort) == 6 * 64, "what is not rare is its first half");

} // namespace ns3::gradsync

#endif // GRADSYNC_FABRIC_PORT_H
