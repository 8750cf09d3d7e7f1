// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_LAZY_SENDER_H
#define GRADSYNC_LAZY_SENDER_H

#include "ns3/control-queue.h"
#include "ns3/data-queue.h"
#include "ns3/fabric-wire.h"
#include "ns3/packet-source.h"
#include "ns3/packet-state.h"
#include "ns3/port-counters.h"
#include "ns3/port-departure.h"
#include "ns3/port-observer.h"
#include "ns3/port-taps.h"
#include "ns3/serialisation-time.h"
#include "ns3/telemetry-writer.h"

#include <cstdint>

namespace ns3::gradsync
{

class SwitchBuffer;
class SwitchProgram;

/**
 * The sending end of a link: which of the packets there starts next, and when. Its classes are PFC
 * frames, then control, then data: strict and non-preemptive.
 *
 * *Departures are lazy.* Nobody needs to know the instant at which a waiting packet starts, only
 * what follows from it, so there is no transmit-done event. Sync(now) starts, at their true times,
 * all packets that should have started up to now; it runs before anything looks at the port or
 * changes it, and at each arrival at the far end. Since a packet starts at the latest one
 * propagation delay before its predecessor arrives, the next arrival is always known in time: one
 * event per packet and hop, and the pending events are the busy links. Only while a switch holds
 * one of its neighbours paused must departures be seen in time (they decide when to resume); its
 * ports then do schedule them (SetEager).
 */
class alignas(64) LazySender : public FabricWire
{
  public:
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

    /// Writes telemetry into the packets that ask for it. \param pool where their records are
    void SetTelemetry(PacketPool* pool, const DataRate& rate)
    {
        m_telemetry.Install(pool);
        m_telemetry.SetRate(rate);
    }

    /// Who hears of drops and pauses. \param index the number by which it knows this port; also the
    /// port's place in the EventOrder
    void SetObserver(PortObserver* observer, uint32_t index)
    {
        m_observer = observer;
        SetIndex(index);
    }

    /// Whether the observer hears of every change of the queue.
    void SetWatched(bool isWatched)
    {
        m_isWatched = isWatched;
    }

    /// Who is told of the departures of packets with PacketFlag::DEPARTURE; from now on the port is
    /// eager (see SetEager).
    void SetProgram(SwitchProgram* program);

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

    /// Sends a packet of any kind but Data.
    void SendControl(FabricPacket* packet, TimeStepCount now);

    /// The source may have packets again. Call Sync before the source changes, and this after.
    void SourceReady(TimeStepCount now)
    {
        m_sourceEmpty = false;
        Restart(now);
    }

    /// From now on packets take this long.
    void SetWire(const DataRate& rate, const Time& delay, TimeStepCount now);

    /// What is at this end goes on in rounds, ahead of the simulator. \param number there; null:
    /// no longer
    void SetRounds(SwitchRounds* rounds, uint32_t number)
    {
        m_departure.SetRounds(rounds, number);
        SetAhead(rounds != nullptr);
    }

    /// Sees departures by events from now on (true) or lazily again (false).
    void SetEager(bool eager, TimeStepCount now);

    /// The departure that was scheduled is due.
    void Depart(TimeStepCount now);

    /// SwitchRounds will not see to the departure that it has for the port.
    void Reschedule(TimeStepCount now);

    /// When the next packet that waits here starts unless something happens before; INT64_MAX: none
    /// waits for its turn alone. Exact after Sync.
    TimeStepCount GetNextStart() const
    {
        return m_controlWaits || (m_dataWaits && m_stops == 0) ? m_busyUntil : INT64_MAX;
    }

    /// When the last packet on the wire is at the far end; -1: there is none.
    TimeStepCount GetLastArrival(TimeStepCount now);

    /// When the last packet that has left is at the far end; where none has, the delay of the link.
    TimeStepCount GetRestTime() const
    {
        return m_busyUntil + m_delay;
    }

    /// How long a data packet that came now would wait before it starts, as far as is known; a
    /// paused port is the last choice. Exact after Sync.
    TimeStepCount GetWait(TimeStepCount now) const;

    /// Bytes of waiting data, headers included. Exact after Sync.
    uint64_t GetQueueBytes() const
    {
        return m_data.GetBytes();
    }

    /// The data that waits. Exact after Sync.
    const DataQueue& GetData() const
    {
        return m_data;
    }

    /// Nothing is on its wire, waits or is stopped, and its source has nothing. Exact after Sync.
    bool IsAtRest(TimeStepCount now) const;

    /// What decides how it goes on, but for how it is built. Exact after Sync.
    void AddState(const PacketStateWriter& addConnection, StateWords& words) const;

  protected:
    LazySender() = default;
    ~LazySender() override = default;

    /// Why the data class does not start.
    static constexpr uint8_t STOP_PFC = 1;
    static constexpr uint8_t STOP_FAULT = 2;

    bool IsStopped(uint8_t reason) const
    {
        return (m_stops & reason) != 0;
    }

    void SetStop(uint8_t reason, bool stopped, TimeStepCount now);

    /// Starts what should have started when a packet arrives at the far end.
    void SyncAtArrival(TimeStepCount now)
    {
        SyncBefore(m_hasDelay ? now : now + 1, now); // without a delay the next one may arrive now
    }

    /// Puts a data packet in line, and does not yet see to its departure.
    void Enqueue(FabricPacket* packet, TimeStepCount now)
    {
        m_data.Push(packet);
        m_dataWaits = true;
        TellQueue(now);
    }

    /// The departure of what waits is to be seen in time, if the port is eager.
    void ScheduleDeparture(TimeStepCount now)
    {
        if (m_eager && !m_departurePending && m_stops == 0 && m_dataWaits)
        {
            m_departurePending = true;
            m_departure.Schedule(*this, *GetSimulator(), m_busyUntil, now);
        }
    }

    /// Nothing of what waits starts any more: control is handed over, data to be taken out one by
    /// one.
    ControlQueue GiveUpWaiting();

    /// Takes the first data packet out of the queue, and of the buffer.
    FabricPacket* TakeFirstData(TimeStepCount now);

    DataQueue& UseData()
    {
        return m_data;
    }

    PortObserver* GetObserver() const
    {
        return m_observer;
    }

    /// Whether nobody needs to hear of what it does.
    bool IsUnseen() const
    {
        return !m_eager && !m_isTapped && !m_isWatched;
    }

    /// What has started up to `now`, which it may be ahead of.
    PortTraffic GetTraffic(TimeStepCount now) const;

    /// All that has started.
    const PortTraffic& GetAllTraffic() const
    {
        return m_traffic;
    }

    void AddTraffic(const PortCounters& counters)
    {
        m_traffic.Add(counters);
    }

  private:
    friend class PortPrefetch; // which looks at what is touched

    static constexpr size_t TAKING_BYTES = 128; //!< of a port: what each packet touches
    static constexpr size_t HOT_BYTES = 192;    //!< all but what is rare

    /// Whether something may start when it is brought up to date.
    bool MayStart() const
    {
        return m_dataWaits || m_controlWaits || !m_sourceEmpty;
    }

    void TellQueue(TimeStepCount at) const
    {
        if (m_isWatched) [[unlikely]]
        {
            m_observer->OnQueue(GetIndex(), m_data.GetBytes(), at);
        }
    }

    bool StartNext(TimeStepCount start, TimeStepCount now);
    bool StartControl(TimeStepCount start, TimeStepCount now);
    bool StartData(TimeStepCount start, TimeStepCount now);
    void StartWatched(FabricPacket* packet, TimeStepCount start, TimeStepCount now);
    void Start(FabricPacket* packet, TimeStepCount start, TimeStepCount now);
    void Restart(TimeStepCount now);

    // An arrival takes one packet off a wire and puts it on the next. What it touches of the first
    // port lies in the first cache line, of the second one in the first two, or where packets wait
    // in the first three.
    uint8_t m_stops{0}; //!< why the data class does not start: a set of the reasons above
    bool m_sourceEmpty{true};
    bool m_dataWaits{false};         //!< m_data has packets
    bool m_controlWaits : 1 {false}; //!< m_control has packets
    bool m_isTapped : 1 {false};
    bool m_eager : 1 {false};
    bool m_departurePending : 1 {false};
    bool m_isWatched : 1 {false}; //!< the observer hears of the queue
    bool m_hasDelay : 1 {false};  //!< m_delay is not 0
    TimeStepCount m_busyUntil{0};

    // The second line.
    SerialisationTime m_serialisation;
    TimeStepCount m_delay{0};
    PortTraffic m_traffic;
    DataQueue m_data; // its packets

    // The third line: what only packets that wait need, with how long their queue is.
    SwitchBuffer* m_buffer{nullptr};
    PacketSource* m_source{nullptr};
    ControlQueue m_control; // but for the last of PFC

    PortTaps m_taps;
    PortDeparture m_departure;
    PortObserver* m_observer{nullptr};
    SwitchProgram* m_program{nullptr};
    TelemetryWriter m_telemetry;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_LAZY_SENDER_H
