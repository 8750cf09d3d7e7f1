// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FABRIC_PORT_H
#define GRADSYNC_FABRIC_PORT_H

#include "ns3/control-queue.h"
#include "ns3/data-queue.h"
#include "ns3/event-impl.h"
#include "ns3/fabric-packet.h"
#include "ns3/packet-source.h"
#include "ns3/packet-state.h"
#include "ns3/pause-clock.h"
#include "ns3/port-counters.h"
#include "ns3/port-taps.h"
#include "ns3/prefetch.h"
#include "ns3/ptr.h"
#include "ns3/serialisation-time.h"
#include "ns3/simulator-impl.h"
#include "ns3/telemetry-writer.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace ns3::gradsync
{

class EcnMarker;
class FabricNode;
class PacketLoss;
class PacketPool;
class PortObserver;
class SwitchBuffer;
class SwitchProgram;
class SwitchRounds;

/**
 * One direction of a link: the sending port with its classes (PFC frames, then control, then data:
 * strict and non-preemptive), the wire, and the far end.
 *
 * *Departures are lazy.* Nobody needs to know the instant at which a waiting packet starts, only
 * what follows from it, so there is no transmit-done event. Sync(now) starts, at their true times,
 * all packets that should have started up to now; it runs before anything looks at the port or
 * changes it, and at each arrival at the far end. Since a packet starts at the latest one
 * propagation delay before its predecessor arrives, the next arrival is always known in time: one
 * event per packet and hop, and the pending events are the busy links. Only while a switch holds
 * one of its neighbours paused must departures be seen in time (they decide when to resume); its
 * ports then do schedule them (SetEager).
 *
 * The port is the event of its next arrival itself, so that the event, the wire and the port are
 * one cache line. Make it as Ptr<FabricPort>(new FabricPort, false): the simulator holds a
 * reference while a packet is on the wire.
 */
class alignas(64) FabricPort final : public EventImpl
{
  public:
    FabricPort() = default;
    ~FabricPort() override = default;
    FabricPort(const FabricPort&) = delete;
    FabricPort& operator=(const FabricPort&) = delete;

    /// Wires the port. \param simulator runs the events; \param peer,peerPort the far end
    void Install(SimulatorImpl* simulator,
                 const DataRate& rate,
                 const Time& delay,
                 FabricNode* peer,
                 uint16_t peerPort);

    /// The network goes away. The simulator may hold the port as a pending event for longer: it
    /// does nothing from now on, and knows none of those that go too.
    void Disconnect();

    /// The buffer that waiting data packets occupy; nullptr (hosts): none.
    void SetBuffer(SwitchBuffer* buffer)
    {
        m_buffer = buffer;
    }

    /// The transport that feeds a host's port.
    void SetSource(PacketSource* source)
    {
        m_source = source;
    }

    /// ECN marking of the packets that wait here; nullptr: none.
    void SetEcnMarker(EcnMarker* marker);

    /// Writes telemetry into the packets that ask for it. \param pool where their records are
    void SetTelemetry(PacketPool* pool, const DataRate& rate);

    /// Random loss on this direction of the link; nullptr: none.
    void SetLoss(PacketLoss* loss)
    {
        m_loss = loss;
        m_isLossy = loss != nullptr;
    }

    /// Who hears of drops and pauses. \param index the number by which it knows this port; also the
    /// port's place in the EventOrder
    void SetObserver(PortObserver* observer, uint32_t index)
    {
        m_observer = observer;
        m_index = index;
    }

    /// Who is told of the departures of packets with PacketFlag::DEPARTURE; from now on the port is
    /// eager (see SetEager).
    void SetProgram(SwitchProgram* program);

    /// Whether the observer hears of every change of the queue.
    void SetWatched(bool isWatched)
    {
        m_isWatched = isWatched;
    }

    /// Who sees the packets that leave here; nullptr: nobody. SetObserver gives the port's index.
    void SetTap(PacketTap* tap)
    {
        m_taps.SetTap(tap);
        m_isTapped = !m_taps.IsEmpty();
    }

    /// Who takes what leaves here. No arrivals bring the port up to date any more: whoever wants to
    /// see what has left calls Sync.
    void SetTaker(PacketTaker* taker)
    {
        m_taps.SetTaker(taker);
        m_isTapped = !m_taps.IsEmpty();
    }

    /**
     * A RadixScheduler::PrefetchFunction. In a network of thousands of ports nothing that an
     * arrival touches is in the cache any more, and each thing is found through the one before: the
     * port, the packet on its wire, the next port or the connection, its queue. For one event after
     * the other that is a row of waits for memory; for many at once, they wait together.
     */
    static void PrefetchArrivals(std::span<EventImpl* const> next);

    /// Fetches what taking a packet touches of the port itself if none waits.
    void PrefetchSelf() const
    {
        Prefetch(this, TAKING_BYTES);
    }

    /// Likewise if some wait.
    void PrefetchWaiting() const
    {
        Prefetch(this, HOT_BYTES);
    }

    /// Fetches the packets that are linked or started when the port takes another one.
    void PrefetchPackets() const
    {
        Prefetch(m_lastFlying);
        if (m_dataWaits)
        {
            Prefetch(m_data.Front());
            Prefetch(m_data.Back());
        }
    }

    /// Fetches the packet behind which PutOnWire puts another one.
    void PrefetchWire() const
    {
        Prefetch(m_lastFlying);
    }

    /// Starts everything that should have started up to `now`.
    void Sync(TimeStepCount now)
    {
        while (m_busyUntil <= now && StartNext(m_busyUntil, now))
        {
        }
    }

    /// Starts what should have started before `end`, `now` or 1 later. What leaves now does so
    /// after all that arrives now at this end, as a pause of who sends it may end by that: far ends
    /// must not have it leave sooner.
    void SyncBefore(TimeStepCount end, TimeStepCount now)
    {
        while (m_busyUntil < end && StartNext(m_busyUntil, now))
        {
        }
    }

    /// True when a data packet would start at once. Only after Sync.
    bool IsFree(TimeStepCount now) const
    {
        return m_busyUntil <= now && m_stops == 0 && !m_dataWaits;
    }

    /// Starts a data packet at once. Only when IsFree.
    void StartNow(FabricPacket* packet, TimeStepCount now);

    /// Puts a data packet in line. Only after Sync and when not IsFree.
    void QueueData(FabricPacket* packet, TimeStepCount now);

    /// Sends a data packet of a host that does not come from its source: at once, or in line before
    /// those of the source.
    void SendData(FabricPacket* packet, TimeStepCount now);

    /// Sends a packet of any kind but Data.
    void SendControl(FabricPacket* packet, TimeStepCount now);

    /// The source may have packets again. Call Sync before the source changes, and this after.
    void SourceReady(TimeStepCount now)
    {
        m_sourceEmpty = false;
        Restart(now);
    }

    /// PFC: stops the data class or lets it go.
    void SetPaused(bool paused, TimeStepCount now);

    /// A fault stops the data class of a host or lets it go; acknowledgements still leave.
    void SetHeld(bool held, TimeStepCount now);

    /// From now on packets take this long.
    void SetWire(const DataRate& rate, const Time& delay, TimeStepCount now);

    /// Gives all waiting packets to the pool and counts them as dropped; ends a pause by PFC. What
    /// a source holds stays there.
    void Flush(PacketPool& pool, TimeStepCount now);

    /// Puts a packet that started elsewhere behind those on the wire. \param packet arrives as it
    /// says, after those
    void PutOnWire(FabricPacket* packet, TimeStepCount now);

    /// The far end takes the packets off the wire by itself, told of the first
    /// (FabricNode::Expect), or no longer: the port schedules their arrivals.
    void SetGathered(bool isGathered, TimeStepCount now);

    bool IsGathered() const
    {
        return m_isGathered;
    }

    /// What is at this end goes on in rounds, ahead of the simulator. \param number there; null:
    /// no longer
    void SetRounds(SwitchRounds* rounds, uint32_t number);

    /// The packets on the wire, the first one first; nullptr: there is none.
    FabricPacket* GetWire() const
    {
        return m_firstFlying;
    }

    /// The packets before this one were taken off the wire.
    void CutWire(FabricPacket* first)
    {
        m_firstFlying = first;
    }

    /// The departure that SwitchRounds has for the port is due.
    void Depart(TimeStepCount now);

    /// SwitchRounds will not see to the departure that it has for the port.
    void Reschedule(TimeStepCount now);

    /// Fetches what Sync touches, of a port whose first line was fetched: in rounds, each of which
    /// needs the one before.
    void PrefetchForSync(uint32_t round) const;

    static constexpr uint32_t SYNC_ROUNDS = 4;

    /// Fetches what it touches when the port takes a packet, beyond its first two lines.
    void PrefetchForOne(TimeStepCount arrival) const;

    /// When the next packet that waits here starts unless something happens before; INT64_MAX: none
    /// waits for its turn alone. Exact after Sync.
    TimeStepCount GetNextStart() const
    {
        return m_controlWaits || (m_dataWaits && m_stops == 0) ? m_busyUntil : INT64_MAX;
    }

    /// When the last packet on the wire is at the far end; -1: there is none.
    TimeStepCount GetLastArrival(TimeStepCount now);

    /// Sees departures by events from now on (true) or lazily again (false).
    void SetEager(bool eager, TimeStepCount now);

    /// Bytes of waiting data, headers included. Exact after Sync.
    uint64_t GetQueueBytes() const
    {
        return m_data.GetBytes();
    }

    /// How long a data packet that came now would wait before it starts, as far as is known; a
    /// paused port is the last choice. Exact after Sync.
    TimeStepCount GetWait(TimeStepCount now) const;

    /// Counts a packet that found no room here, or was lost on the wire.
    void CountDrop(const FabricPacket& packet);

    /// Counts bytes that wait here for nothing but the end of a pause.
    void CountBlocked(uint64_t bytes)
    {
        m_incidents.blockedBytes += bytes;
    }

    /// The data packets that wait, the first one first; nullptr: none. Exact after Sync.
    const FabricPacket* GetFirstWaiting() const
    {
        return m_data.Front();
    }

    /// How many they are, counted one by one.
    uint32_t CountWaiting() const;

    /// Nothing is on its wire, waits or is stopped, and its source has nothing. Exact after Sync.
    bool IsAtRest(TimeStepCount now) const;

    /// What decides how it goes on, but for how it is built. Exact after Sync.
    void AddState(const PacketStateWriter& addConnection, StateWords& words) const;

    /// Whether nothing is special about it, and nothing was marked, dropped or paused here so far,
    /// nor a number drawn whether to. \param isMarked packets here may be
    bool IsUndisturbed(bool isMarked) const;

    /// Whether nothing was marked or dropped here so far, nor a number drawn whether to.
    bool IsCertain(bool isMarked) const;

    /// How many packets have come to the far end.
    uint64_t CountArrived() const;

    /// When the last packet that has left is at the far end; where none has, the delay of the link.
    TimeStepCount GetRestTime() const
    {
        return m_busyUntil + m_delay;
    }

    /// Counts what was not simulated; of the longest queues the longer one.
    void AddCounters(const PortCounters& counters);

    /// The longest queue is measured anew, beside that of all time.
    void MeasureQueue()
    {
        m_longestBefore = std::max(m_longestBefore, m_data.Measure());
    }

    /// Since MeasureQueue.
    uint64_t GetMeasuredQueue() const
    {
        return m_data.GetLongest();
    }

    /// As of SetObserver.
    uint32_t GetIndex() const
    {
        return m_index;
    }

    /// The node at the far end.
    const FabricNode* GetPeer() const
    {
        return m_peer;
    }

    /// Counters up to `now`.
    PortCounters GetCounters(TimeStepCount now) const;

  private:
    /// When a packet that waits starts; made once, scheduled again and again.
    class Departure : public EventImpl
    {
      public:
        explicit Departure(FabricPort* port)
            : m_port(port)
        {
        }

        const FabricPort* GetPort() const
        {
            return m_port;
        }

      private:
        void Notify() override
        {
            m_port->Depart(m_port->m_simulator->Now().GetTimeStep());
        }

        FabricPort* m_port;
    };

    /// As an event, a port is the arrival of the first packet on its wire.
    void Notify() override
    {
        Arrive();
    }

    void Arrive();
    PortTraffic CountStartsAfter(TimeStepCount now) const;
    void Mark(FabricPacket* packet);
    void TellQueue(TimeStepCount at) const;
    void WriteTelemetry(const FabricPacket& packet, TimeStepCount start) const;
    bool StartNext(TimeStepCount start, TimeStepCount now);
    void SetStop(uint8_t reason, bool stopped, TimeStepCount now);
    void Start(FabricPacket* packet, TimeStepCount start, TimeStepCount now);
    void Fly(FabricPacket* packet, TimeStepCount now);
    void Restart(TimeStepCount now);
    void ScheduleDeparture(TimeStepCount now);
    void ScheduleArrival(TimeStepCount delay);
    bool StartControl(TimeStepCount start, TimeStepCount now);
    bool StartData(TimeStepCount start, TimeStepCount now);
    void StartWatched(FabricPacket* packet, TimeStepCount start, TimeStepCount now);
    static void PrefetchArrivalsAt(std::span<const FabricPort* const> ports);

    /// Whether something may start when it is brought up to date.
    bool MayStart() const
    {
        return m_dataWaits || m_controlWaits || !m_sourceEmpty;
    }

    static constexpr size_t TAKING_BYTES = 128; //!< of a port: what each packet touches
    static constexpr size_t HOT_BYTES = 192;    //!< all but what is rare
    static constexpr uint8_t STOP_PFC = 1;
    static constexpr uint8_t STOP_FAULT = 2;

    // An arrival takes one packet off a wire and puts it on the next. What it touches of the first
    // port lies in the first cache line, of the second one in the first two, or where packets wait
    // in the first three.
    uint8_t m_stops{0}; //!< why the data class does not start: a set of the reasons above
    bool m_sourceEmpty{true};
    bool m_controlWaits{false}; //!< m_control has packets
    TimeStepCount m_busyUntil{0};
    FabricPacket* m_firstFlying{nullptr}; //!< on the wire; only this one is in the event queue
    FabricPacket* m_lastFlying{nullptr};  //!< valid only while there is a first one
    FabricNode* m_peer{nullptr};
    SimulatorImpl* m_simulator{nullptr};
    uint16_t m_peerPort{0};
    bool m_dataWaits{false}; //!< m_data has packets
    bool m_isLossy : 1 {false};
    bool m_isTapped : 1 {false};
    bool m_eager : 1 {false};
    bool m_departurePending : 1 {false};
    bool m_isWatched : 1 {false};  //!< the observer hears of the queue
    bool m_isGathered : 1 {false}; //!< the far end takes what is on the wire
    bool m_isAhead : 1 {false};    //!< this end is ahead of the simulator
    bool m_hasDelay : 1 {false};   //!< m_delay is not 0
    uint32_t m_index{0}; //!< by which the observer knows it, and simultaneous events stand

    // The second line.
    SerialisationTime m_serialisation;
    TimeStepCount m_delay{0};
    PortTraffic m_traffic;
    DataQueue m_data; // its packets

    // The third line: what only packets that wait need, and the length of their queue.
    SwitchBuffer* m_buffer{nullptr};
    PacketSource* m_source{nullptr};
    ControlQueue m_control; // but for its end

    PortIncidents m_incidents;
    PauseClock m_pauses;
    PortTaps m_taps;
    SwitchRounds* m_rounds{nullptr}; //!< null: this end is in step with the simulator
    uint32_t m_number{0};            //!< there
    PacketLoss* m_loss{nullptr};
    Ptr<EventImpl> m_departure;  //!< null until there is one for the first time
    uint64_t m_longestBefore{0}; //!< queue, before it was measured anew
    PortObserver* m_observer{nullptr};
    EcnMarker* m_marker{nullptr};
    SwitchProgram* m_program{nullptr};
    TelemetryWriter m_telemetry;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FABRIC_PORT_H
