// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-transport.h"

#include "ns3/boolean.h"
#include "ns3/congestion-controls.h"
#include "ns3/ns3-interfaces.h"
#include "ns3/port-prefetch.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"
#include "ns3/wire-format.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(RoceTransport);

TypeId
RoceTransport::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::RoceTransport")
            .SetParent<Transport>()
            .SetGroupName("GradSync")
            .AddConstructor<RoceTransport>()
            .AddAttribute("Mtu",
                          "Payload of a full packet, in bytes (InfiniBand path MTU).",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&RoceTransport::m_mtuBytes),
                          MakeUintegerChecker<uint32_t>(64, 16384))
            .AddAttribute(
                "AckEvery",
                "The receiver acknowledges every so many packets and at the end of each message; "
                "0: never (for ideal, lossless networks only).",
                UintegerValue(16),
                MakeUintegerAccessor(&RoceTransport::m_ackEvery),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute("WindowPackets",
                          "Most packets that a queue pair may have unacknowledged; 0: no limit. "
                          "Receivers then "
                          "acknowledge at least twice a window.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RoceTransport::m_windowPackets),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "Timeout",
                "A queue pair that waits for an answer and sees no progress for this long "
                "sends again from the last acknowledged packet. Default: 4.096 us * 2^14 "
                "(IBA 9.7.6.1.3).",
                TimeValue(NanoSeconds(67108864)),
                MakeTimeAccessor(&RoceTransport::m_timeout),
                MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("RetryLimit",
                          "Timeouts in a row after which the connection has failed.",
                          UintegerValue(7),
                          MakeUintegerAccessor(&RoceTransport::m_retryLimit),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "Recovery",
                "go-back-n: the receiver takes packets in order only, and the sender goes "
                "back to the one that it misses. selective-repeat: the receiver keeps "
                "what comes early and names it, and only what is lost is sent again "
                "(IRN, SIGCOMM'18, section 3).",
                EnumValue(RECOVERY_GO_BACK_N),
                MakeAccessorOfEnum(&RoceTransport::m_recovery),
                MakeEnumChecker(RECOVERY_GO_BACK_N,
                                "go-back-n",
                                RECOVERY_SELECTIVE_REPEAT,
                                "selective-repeat"))
            .AddAttribute("ReorderTolerance",
                          "Selective repeat: a packet is lost when one that was sent more than so "
                          "many packets later has arrived. 0 where paths keep the order.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RoceTransport::m_reorderTolerance),
                          MakeUintegerChecker<uint32_t>(0, 60000))
            .AddAttribute(
                "CongestionControl",
                "How queue pairs set their pace and window: none (line rate, held back by PFC "
                "only), dcqcn, dctcp, hpcc, swift, timely, or the TypeId of any class derived from "
                "CongestionControl.",
                StringValue(NO_CONGESTION_CONTROL),
                MakeStringAccessor(&RoceTransport::m_congestionControl),
                MakeCongestionControlChecker())
            .AddAttribute("KeepRates",
                          "A queue pair with nothing to send keeps the pace and window that "
                          "congestion control gave it, as the queue pairs of NICs do. Without, "
                          "each message that finds its queue pair idle begins at line rate.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RoceTransport::m_keepsRates),
                          MakeBooleanChecker())
            .AddAttribute(
                "KeptQueuePairs",
                "Each NIC has an equal share, 16 at least unless this is 0: behind so many "
                "connections that wait for a turn there others wait without a queue pair until "
                "it comes. When so many are in use in all, one that waits in the midst of a "
                "message, with nothing on the wire, gives it back. Saves memory; changes no "
                "result.",
                UintegerValue(131072),
                MakeUintegerAccessor(&RoceTransport::m_keptQueuePairs),
                MakeUintegerChecker<uint32_t>())
            .AddTraceSource("Recovery",
                            "A queue pair learns that packets were lost: source and destination "
                            "endpoint, and whether by a timeout (true) or a negative "
                            "acknowledgement (false).",
                            MakeTraceSourceAccessor(&RoceTransport::m_recoveryTrace),
                            "ns3::gradsync::RoceTransport::RecoveryCallback")
            .AddTraceSource("Payload",
                            "A receiver takes a data packet: tag of the message, offset in it and "
                            "number of bytes.",
                            MakeTraceSourceAccessor(&RoceTransport::m_payloadTrace),
                            "ns3::gradsync::RoceTransport::PayloadCallback")
            .AddTraceSource("Rate",
                            "Congestion control gives a queue pair another pace: source and "
                            "destination endpoint, stream, bits per second on the wire, and when.",
                            MakeTraceSourceAccessor(&RoceTransport::m_rateTrace),
                            "ns3::gradsync::RoceTransport::RateCallback")
            .AddTraceSource("Window",
                            "Congestion control gives a queue pair another window: source and "
                            "destination endpoint, stream, packets, and when.",
                            MakeTraceSourceAccessor(&RoceTransport::m_windowTrace),
                            "ns3::gradsync::RoceTransport::WindowCallback");
    return tid;
}

RoceTransport::RoceTransport()
    : m_fabric(CreateObject<FabricNetwork>())
{
}

RoceTransport::~RoceTransport() = default;

void
RoceTransport::DoDispose()
{
    m_flows.Dispose();
    m_control = nullptr;
    m_controls.clear();
    if (m_aggregation)
    {
        m_aggregation->Dispose();
        m_aggregation = nullptr;
    }
    m_fabric->Dispose(); // others may hold it for longer than the NICs live
    m_nics.clear();
    m_fabric = nullptr;
    Transport::DoDispose();
}

void
RoceTransport::Send(const Message& message)
{
    if (!m_sender.Send(message, Simulator::Now().GetTimeStep())) [[unlikely]]
    {
        // Not at once: whoever sends is not ready to hear of a failure.
        Simulator::ScheduleNow(&RoceTransport::FailRefused, Ptr<RoceTransport>(this), message);
    }
}

void
RoceTransport::FailRefused(Message message)
{
    const auto name = [this](uint32_t endpoint) -> const std::string& {
        return m_topology->GetNodes()[m_topology->GetEndpoints()[endpoint]].name;
    };
    message.handler->OnFailed(message.tag,
                              fmt::format("connection {} -> {} would have more than 2^32 packets "
                                          "to send",
                                          name(message.src),
                                          name(message.dst)));
}

void
RoceTransport::Receive(FabricPacket* packet, uint32_t, TimeStepCount now)
{
    auto* queuePair = m_connections.Find(packet->connection, packet->generation);
    if (queuePair && packet->kind == PacketKind::Data)
    {
        m_receiver.OnData(*queuePair, *packet, now);
    }
    else if (!queuePair || queuePair->isClosed)
    {
        // It is of a connection that has ended.
    }
    else if (packet->kind == PacketKind::Cnp)
    {
        m_sender.OnNotification(*queuePair, now);
    }
    else
    {
        m_sender.OnAcknowledgement(*queuePair, *packet, now);
    }
    m_fabric->GetPool().Give(packet);
}

/// Fetches what delivers and acknowledges a message.
inline void
RoceTransport::PrefetchDelivery(const RoceQueuePair& queuePair, uint32_t round) const
{
    const auto& nic = m_nics[queuePair.dst][queuePair.acknowledgePort];
    if (round == 1)
    {
        Prefetch(queuePair.receiving);
        Prefetch(&nic);
        return;
    }
    PortPrefetch::Waiting(nic.GetPort());
    if (queuePair.receiving)
    {
        Prefetch(queuePair.receiving->series.GetHandler(), MessageHandler::DELIVERY_BYTES);
    }
}

/// Fetches what takes an acknowledgement.
inline void
RoceTransport::PrefetchAcknowledgement(const RoceQueuePair& queuePair, uint32_t round) const
{
    const auto& nic = m_nics[queuePair.src][queuePair.sourcePort];
    if (round == 1)
    {
        Prefetch(queuePair.oldest);
        m_connections.PrefetchOpen(queuePair);
        Prefetch(&nic, 1);
    }
    else
    {
        PortPrefetch::Self(nic.GetPort());
        nic.PrefetchStop(queuePair);
    }
}

void
RoceTransport::PrefetchFor(const FabricPacket& packet, uint32_t round) const
{
    if (!m_connections.Has(packet.connection))
    {
        return; // of another sink
    }
    const auto& queuePair = m_connections.Peek(packet.connection);
    const bool isData = packet.kind == PacketKind::Data;
    const bool endsMessage = (packet.flags & PacketFlag::END_OF_MESSAGE) != 0;
    const bool mayRest = isData && !endsMessage && m_sender.AreMany();
    if (round == 0)
    {
        constexpr size_t RECEIVER_BYTES = 64;
        const bool mayForget = endsMessage && m_mirrors; // which is the sender's business elsewhere
        const bool isReceived = isData && !mayRest && !mayForget;
        Prefetch(&queuePair, isReceived ? RECEIVER_BYTES : sizeof(RoceQueuePair));
        return;
    }
    if (mayRest)
    {
        if (round == 1)
        {
            Prefetch(queuePair.receiving);
            m_connections.PrefetchReservation(queuePair);
        }
        return;
    }
    if (!isData)
    {
        PrefetchAcknowledgement(queuePair, round);
    }
    else if (endsMessage)
    {
        PrefetchDelivery(queuePair, round);
    }
}

void
RoceTransport::PrefetchSend(uint32_t src, uint32_t dst, uint32_t stream) const
{
    constexpr size_t FEW = 4096; // which stay in the cache
    if (m_connections.CountOpen() > FEW)
    {
        m_connections.PrefetchNumber({src, dst, stream});
    }
}

std::vector<LinkStatistics>
RoceTransport::GetLinkStatistics() const
{
    std::vector<LinkStatistics> result(m_fabric->GetPortCount());
    for (size_t i = 0; i < result.size(); ++i)
    {
        const auto counters = m_fabric->GetCounters(i);
        result[i].packets = counters.packets;
        result[i].payloadBytes = counters.payloadBytes;
        result[i].wireBytes = counters.wireBytes;
        result[i].droppedPackets = counters.droppedPackets;
        result[i].ecnMarkedPackets = counters.ecnMarkedPackets;
        result[i].maxQueueBytes = counters.maxQueueBytes;
        result[i].pfcPause = TimeStep(counters.pausedFor);
        result[i].pfcPauses = counters.pauses;
        result[i].blockedBytes = counters.blockedBytes;
    }
    return result;
}

TransportStatistics
RoceTransport::GetStatistics() const
{
    TransportStatistics total;
    for (size_t i = 0; i < m_fabric->GetPortCount(); ++i)
    {
        const auto counters = m_fabric->GetCounters(i);
        total.wireBytes += counters.wireBytes;
        total.dataPacketHops += counters.dataPackets;
        total.controlPacketHops += counters.packets - counters.dataPackets;
        total.droppedPackets += counters.droppedPackets;
        total.ecnMarkedPackets += counters.ecnMarkedPackets;
        total.pfcPause += TimeStep(counters.pausedFor);
    }
    total.droppedPackets += m_fabric->GetLostPackets();
    total.goodputBytes = m_receiver.GetGoodputBytes();
    total.lostBytes = m_receiver.GetLostBytes();
    total.retransmittedPackets = m_sender.GetRetransmittedPackets();
    total.timerLooks = m_sender.GetTimerLooks();
    total.retransmittedBytes = m_sender.GetRetransmittedBytes();
    total.savedEvents = m_savedEvents;
    AddTwins(total);
    const auto rounds = m_fabric->GetRoundCounts();
    total.switchPackets = rounds.taken;
    total.switchRounds = rounds.rounds;
    if (m_aggregation)
    {
        m_aggregation->AddStatistics(total);
    }
    return total;
}

} // namespace ns3::gradsync
