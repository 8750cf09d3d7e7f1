// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-transport.h"

#include "ns3/enum.h"
#include "ns3/object-factory.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"
#include "ns3/wire-format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(RoceTransport);

TypeId
RoceTransport::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::RoceTransport")
            .SetParent<Transport>()
            .SetGroupName("gradsync")
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
            .AddAttribute("Timeout",
                          "A queue pair without sending or acknowledgement for this long sends "
                          "again from the "
                          "last acknowledged packet. Default: 4.096 us * 2^14 (IBA 9.7.6.1.3).",
                          TimeValue(NanoSeconds(67108864)),
                          MakeTimeAccessor(&RoceTransport::m_timeout),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("RetryLimit",
                          "Timeouts in a row after which the connection has failed.",
                          UintegerValue(7),
                          MakeUintegerAccessor(&RoceTransport::m_retryLimit),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "CongestionControl",
                "How queue pairs set their pace and window: none (line rate, held back by PFC "
                "only), dcqcn, dctcp, hpcc, swift or timely.",
                EnumValue(CC_NONE),
                MakeEnumAccessor(&RoceTransport::m_congestionControl),
                MakeEnumChecker(CC_NONE,
                                "none",
                                CC_DCQCN,
                                "dcqcn",
                                CC_DCTCP,
                                "dctcp",
                                CC_HPCC,
                                "hpcc",
                                CC_SWIFT,
                                "swift",
                                CC_TIMELY,
                                "timely"))
            .AddTraceSource("Recovery",
                            "A queue pair goes back to its last acknowledged packet: source and "
                            "destination endpoint, and whether a timeout (true) or a negative "
                            "acknowledgement (false) made it.",
                            MakeTraceSourceAccessor(&RoceTransport::m_recoveryTrace),
                            "ns3::gradsync::RoceTransport::RecoveryCallback")
            .AddTraceSource("Payload",
                            "A receiver takes a data packet: tag of the message, offset in it and "
                            "number of bytes.",
                            MakeTraceSourceAccessor(&RoceTransport::m_payloadTrace),
                            "ns3::gradsync::RoceTransport::PayloadCallback");
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
    m_control = nullptr;
    m_controls.clear();
    m_fabric = nullptr;
    Transport::DoDispose();
}

Ptr<FabricNetwork>
RoceTransport::GetFabric() const
{
    return m_fabric;
}

void
RoceTransport::Install(std::shared_ptr<const Topology> topology,
                       std::shared_ptr<const RoutingTables> routes)
{
    m_topology = std::move(topology);
    m_timeoutSteps = m_timeout.GetTimeStep();
    // Time stamps count about nanoseconds.
    m_stampShift =
        static_cast<int>(std::bit_width(static_cast<uint64_t>(NanoSeconds(1).GetTimeStep()))) - 1;
    m_stampShift = std::max(m_stampShift, 0);
    if (m_ackEvery == 0 && m_windowPackets != 0)
    {
        throw std::invalid_argument(
            "attribute WindowPackets needs acknowledgements: AckEvery must not be 0");
    }
    InstallCongestionControl();
    if (m_windowPackets != 0)
    {
        m_ackEvery = std::min(m_ackEvery, std::max(m_windowPackets / 2, 1U));
    }
    m_routes = std::move(routes);
    m_fabric->Install(m_topology, m_routes, GetDataBytes(m_mtuBytes));
    InstallNics();
}

Ptr<CongestionControl>
RoceTransport::GetCongestionControl(const std::string& name)
{
    for (const auto& entry : GetCongestionControls())
    {
        if (entry.name == name)
        {
            auto& control = m_controls[name];
            if (!control)
            {
                control = ObjectFactory(entry.getTypeId().GetName()).Create<CongestionControl>();
            }
            return control;
        }
    }
    return nullptr;
}

void
RoceTransport::InstallCongestionControl()
{
    for (const auto& entry : GetCongestionControls())
    {
        if (entry.kind == m_congestionControl)
        {
            m_control = GetCongestionControl(entry.name);
            m_control->Install();
            m_signals = m_control->GetSignals();
            m_dataFlags = m_signals.ecn ? PacketFlag::ECN_CAPABLE : 0;
            m_telemetryBytes = m_signals.telemetry ? wire::TELEMETRY_BYTES : 0;
        }
    }
    if (m_signals.ackEvery != UINT32_MAX)
    {
        m_ackEvery = std::min(m_ackEvery == 0 ? UINT32_MAX : m_ackEvery, m_signals.ackEvery);
    }
}

void
RoceTransport::InstallNics()
{
    auto* simulator = PeekPointer(Simulator::GetImplementation());
    const auto endpoints = m_topology->GetEndpoints();
    for (uint32_t endpoint = 0; endpoint < endpoints.size(); ++endpoint)
    {
        auto& node = m_fabric->GetEndpoint(endpoint);
        node.SetSink(this);
        const auto ports = m_topology->GetPorts(endpoints[endpoint]);
        auto& nics = m_nics.emplace_back(std::make_unique<RoceNic[]>(ports.size()));
        for (size_t port = 0; port < ports.size(); ++port)
        {
            const auto rate = m_topology->GetLinks()[ports[port].link].rate.GetBitRate();
            nics[port].Install(this,
                               &node.GetPort(static_cast<uint16_t>(port)),
                               simulator,
                               static_cast<double>(rate));
        }
    }
}

RoceNic&
RoceTransport::GetNic(const RoceQueuePair& queuePair)
{
    return m_nics[queuePair.src][queuePair.sourcePort];
}

RoceQueuePair&
RoceTransport::Open(const RoceConnection& connection)
{
    const auto [queuePair, isNew] = m_connections.Open(connection);
    if (isNew)
    {
        const auto hash = queuePair.flowHash;
        queuePair.sourcePort = m_fabric->ChooseEndpointPort(connection.src, hash, connection.dst);
        queuePair.acknowledgePort =
            m_fabric->ChooseEndpointPort(connection.dst, ~hash, connection.src);
        OpenFlow(queuePair);
    }
    return queuePair;
}

void
RoceTransport::OpenFlow(RoceQueuePair& queuePair)
{
    auto& flow = queuePair.flow;
    flow.windowLimit = m_windowPackets == 0 ? UINT32_MAX : m_windowPackets;
    flow.windowPackets = flow.windowLimit;
    if (m_control)
    {
        flow.lineRate = GetNic(queuePair).GetBitRate();
        flow.packetWireBytes = GetDataBytes(m_mtuBytes);
        if (m_signals.path)
        {
            MeasurePath(queuePair);
        }
        m_control->Open(flow);
    }
}

void
RoceTransport::MeasurePath(RoceQueuePair& queuePair)
{
    // All equal-cost paths are taken to be as long as the first.
    auto& flow = queuePair.flow;
    const auto endpoints = m_topology->GetEndpoints();
    auto node = endpoints[queuePair.src];
    const auto target = endpoints[queuePair.dst];
    auto port = queuePair.sourcePort;
    const double bits = 8.0 * (flow.packetWireBytes + wire::ROCE_ACK_BYTES + m_telemetryBytes);
    Time total;
    for (;;)
    {
        const auto& link = m_topology->GetLinks()[m_topology->GetPorts(node)[port].link];
        const auto rate = static_cast<double>(link.rate.GetBitRate());
        total += 2 * link.delay + Seconds(bits / rate);
        ++flow.hops;
        node = link.a == node ? link.b : link.a;
        if (node == target)
        {
            break;
        }
        port = m_routes->GetNextHops(node, queuePair.dst)[0];
    }
    flow.baseRtt = total.GetTimeStep();
}

uint32_t
RoceTransport::GetDataBytes(uint32_t payloadBytes) const
{
    return wire::RoceDataBytes(payloadBytes + m_telemetryBytes);
}

void
RoceTransport::Close(RoceQueuePair& queuePair)
{
    if (m_control)
    {
        m_control->Close(queuePair.flow);
    }
    GetNic(queuePair).Forget(queuePair);
    m_connections.Close(queuePair);
}

void
RoceTransport::Send(const Message& message)
{
    const auto now = Simulator::Now().GetTimeStep();
    auto& queuePair = Open({message.src, message.dst, message.stream});
    auto* entry = m_messages.Take();
    entry->bytes = message.bytes;
    entry->tag = message.tag;
    entry->handler = message.handler;
    // An empty message still costs one packet.
    const auto packetCount = std::max<uint64_t>((message.bytes + m_mtuBytes - 1) / m_mtuBytes, 1);
    entry->packetCount = static_cast<uint32_t>(std::min<uint64_t>(packetCount, UINT32_MAX));

    auto& nic = GetNic(queuePair);
    nic.GetPort().Sync(now);
    queuePair.Post(entry);
    nic.Add(queuePair);
    nic.GetPort().SourceReady(now);
}

void
RoceTransport::Equip(CongestionFlow& flow, FabricPacket& packet, TimeStepCount start)
{
    packet.feedback = static_cast<uint32_t>(start >> m_stampShift);
    if (m_signals.telemetry)
    {
        m_fabric->GetPool().AttachTelemetry(packet);
    }
    if (flow.stepsPerByte > 0.0)
    {
        m_control->OnSent(flow, packet.wireBytes, start); // may change the pace
        const auto gap = std::llround(packet.wireBytes * flow.stepsPerByte);
        flow.due = start + static_cast<TimeStepCount>(gap);
    }
}

void
RoceTransport::SetLinkState(LinkId link, const LinkState& state)
{
    m_fabric->SetLinkState(link, state);
}

void
RoceTransport::SetEndpointState(uint32_t endpoint, const EndpointState& state)
{
    m_fabric->SetEndpointState(endpoint, state);
    const auto now = Simulator::Now().GetTimeStep();
    const auto node = m_topology->GetEndpoints()[endpoint];
    for (size_t port = 0; port < m_topology->GetPorts(node).size(); ++port)
    {
        m_nics[endpoint][port].SetSilent(!state.sends, now);
    }
}

void
RoceTransport::SetRoutes(std::shared_ptr<const RoutingTables> routes)
{
    m_fabric->SetRoutes(std::move(routes));
}

FabricPacket*
RoceTransport::MakeDataPacket(RoceQueuePair& queuePair, TimeStepCount start)
{
    auto* message = queuePair.sending;
    const auto psn = queuePair.nextPsn++;
    const auto index = psn - message->firstPsn;
    const bool isLast = index + 1 == message->packetCount;
    const auto payload = isLast ? message->bytes - uint64_t{index} * m_mtuBytes : m_mtuBytes;
    if (isLast)
    {
        queuePair.sending = message->next;
    }
    if (psn < queuePair.highestPsn)
    {
        ++m_retransmittedPackets;
    }
    else
    {
        queuePair.highestPsn = psn + 1;
    }
    auto* packet = m_fabric->GetPool().Take();
    packet->connection = queuePair.index;
    packet->generation = queuePair.generation;
    packet->psn = psn;
    packet->destination = queuePair.dst;
    packet->flowHash = queuePair.flowHash;
    packet->payloadBytes = static_cast<uint16_t>(payload);
    packet->wireBytes = static_cast<uint16_t>(GetDataBytes(static_cast<uint32_t>(payload)));
    packet->kind = PacketKind::Data;
    packet->flags = isLast ? m_dataFlags | PacketFlag::END_OF_MESSAGE : m_dataFlags;
    if (m_control)
    {
        Equip(queuePair.flow, *packet, start);
    }
    return packet;
}

void
RoceTransport::Receive(FabricPacket* packet, uint32_t, TimeStepCount now)
{
    auto* queuePair = m_connections.Find(packet->connection, packet->generation);
    if (queuePair && packet->kind == PacketKind::Data)
    {
        if ((packet->flags & PacketFlag::CONGESTION_EXPERIENCED) != 0)
        {
            OnMarked(*queuePair, now);
        }
        OnData(*queuePair, *packet, now);
    }
    else if (queuePair && packet->kind == PacketKind::Cnp)
    {
        OnNotification(*queuePair, now);
    }
    else if (queuePair)
    {
        OnAcknowledgement(*queuePair, *packet, now);
    }
    m_fabric->GetPool().Give(packet);
}

void
RoceTransport::OnData(RoceQueuePair& queuePair, FabricPacket& packet, TimeStepCount now)
{
    const bool endOfMessage = (packet.flags & PacketFlag::END_OF_MESSAGE) != 0;
    if (packet.psn > queuePair.expectedPsn)
    {
        if (!queuePair.nakSent)
        {
            queuePair.nakSent = true; // one a gap (IBA 9.7.5.2.8)
            Acknowledge(queuePair, packet, PacketKind::Nak, now);
        }
        return;
    }
    if (packet.psn < queuePair.expectedPsn)
    {
        // The sender went back because acknowledgements were lost: repeat them, as often as the
        // first time.
        if (m_ackEvery != 0 && (endOfMessage || (packet.psn + 1) % m_ackEvery == 0))
        {
            Acknowledge(queuePair, packet, PacketKind::Ack, now);
        }
        return;
    }
    ++queuePair.expectedPsn;
    queuePair.nakSent = false;
    m_goodputBytes += packet.payloadBytes;
    if (!m_payloadTrace.IsEmpty()) [[unlikely]]
    {
        const auto* message = queuePair.receiving;
        const auto index = packet.psn - message->firstPsn;
        m_payloadTrace(message->tag, uint64_t{index} * m_mtuBytes, packet.payloadBytes);
    }
    const bool isDue = queuePair.expectedPsn - queuePair.lastAckedPsn >= m_ackEvery;
    if (m_ackEvery != 0 && (endOfMessage || isDue))
    {
        Acknowledge(queuePair, packet, PacketKind::Ack, now);
    }
    if (endOfMessage)
    {
        const auto* message = queuePair.receiving;
        queuePair.receiving = message->next;
        const auto tag = message->tag;
        auto* handler = message->handler;
        if (m_ackEvery == 0)
        {
            GetNic(queuePair).GetPort().Sync(now);
            Advance(queuePair, queuePair.expectedPsn, now);
        }
        handler->OnDelivered(tag); // last: it may send, and so change everything
    }
}

void
RoceTransport::Acknowledge(RoceQueuePair& queuePair,
                           FabricPacket& data,
                           PacketKind kind,
                           TimeStepCount now)
{
    queuePair.lastAckedPsn = queuePair.expectedPsn;
    auto* packet = MakeControlPacket(queuePair, kind, wire::ROCE_ACK_BYTES + m_telemetryBytes);
    packet->psn = queuePair.expectedPsn;
    packet->feedback = m_signals.ecn ? queuePair.markedPackets : data.feedback;
    if (m_signals.telemetry)
    {
        PacketPool::MoveTelemetry(data, *packet);
    }
    m_nics[queuePair.dst][queuePair.acknowledgePort].GetPort().SendControl(packet, now);
}

void
RoceTransport::OnMarked(RoceQueuePair& queuePair, TimeStepCount now)
{
    ++queuePair.markedPackets;
    // DCQCN's notification point (SIGCOMM'15, section 3.1): one notification an interval.
    if (m_signals.cnpInterval == 0 || now < queuePair.nextNotification)
    {
        return;
    }
    queuePair.nextNotification = now + m_signals.cnpInterval;
    auto* packet = MakeControlPacket(queuePair, PacketKind::Cnp, wire::ROCE_CNP_BYTES);
    m_nics[queuePair.dst][queuePair.acknowledgePort].GetPort().SendControl(packet, now);
}

void
RoceTransport::OnFeedback(RoceQueuePair& queuePair, const FabricPacket& packet, TimeStepCount now)
{
    CongestionFeedback feedback{};
    feedback.ackedPsn = std::max(packet.psn, queuePair.ackedPsn);
    feedback.nextPsn = queuePair.nextPsn;
    feedback.newPackets = feedback.ackedPsn - queuePair.ackedPsn;
    if (m_signals.ecn)
    {
        feedback.markedPackets = packet.feedback - queuePair.marksSeen;
        queuePair.marksSeen = packet.feedback;
    }
    if (m_signals.delay)
    {
        // Differences of 32-bit stamps are right up to 4 s.
        const auto stamp = static_cast<uint32_t>(now >> m_stampShift);
        feedback.roundTrip = static_cast<TimeStepCount>(stamp - packet.feedback) << m_stampShift;
    }
    if ((packet.flags & PacketFlag::TELEMETRY) != 0)
    {
        feedback.telemetry = &m_fabric->GetPool().GetTelemetry(packet);
    }
    m_control->OnAcknowledgement(queuePair.flow, feedback, now);
}

void
RoceTransport::OnNotification(RoceQueuePair& queuePair, TimeStepCount now)
{
    if (m_control)
    {
        GetNic(queuePair).GetPort().Sync(now);
        m_control->OnNotification(queuePair.flow, now);
    }
}

FabricPacket*
RoceTransport::MakeControlPacket(const RoceQueuePair& queuePair,
                                 PacketKind kind,
                                 uint32_t wireBytes)
{
    // To the sender of the data.
    auto* packet = m_fabric->GetPool().Take();
    packet->connection = queuePair.index;
    packet->generation = queuePair.generation;
    packet->destination = queuePair.src;
    packet->flowHash = ~queuePair.flowHash;
    packet->payloadBytes = 0;
    packet->wireBytes = static_cast<uint16_t>(wireBytes);
    packet->kind = kind;
    packet->flags = 0;
    return packet;
}

void
RoceTransport::OnAcknowledgement(RoceQueuePair& queuePair,
                                 const FabricPacket& packet,
                                 TimeStepCount now)
{
    auto& nic = GetNic(queuePair);
    nic.GetPort().Sync(now);
    if (m_control)
    {
        OnFeedback(queuePair, packet, now);
    }
    if (packet.psn > queuePair.ackedPsn)
    {
        Advance(queuePair, packet.psn, now);
        if (queuePair.IsDone())
        {
            return; // closed
        }
    }
    if (packet.kind == PacketKind::Nak && packet.psn == queuePair.ackedPsn &&
        queuePair.nextPsn > packet.psn)
    {
        GoBack(queuePair, false, now);
    }
    if (queuePair.MaySend() && !queuePair.isReady)
    {
        nic.Add(queuePair);
        nic.GetPort().SourceReady(now);
    }
}

void
RoceTransport::Advance(RoceQueuePair& queuePair, uint32_t ackedPsn, TimeStepCount now)
{
    queuePair.Acknowledge(ackedPsn, m_messages);
    if (queuePair.IsDone())
    {
        Close(queuePair);
    }
    else if (queuePair.GetInFlight() > 0)
    {
        GetNic(queuePair).Touch(queuePair, now);
    }
    else
    {
        GetNic(queuePair).Forget(queuePair);
    }
}

void
RoceTransport::GoBack(RoceQueuePair& queuePair, bool isTimeout, TimeStepCount now)
{
    m_recoveryTrace(queuePair.src, queuePair.dst, isTimeout);
    if (m_control)
    {
        m_control->OnLoss(queuePair.flow, isTimeout, now);
    }
    queuePair.GoBack();
}

void
RoceTransport::OnTimeout(RoceQueuePair& queuePair, TimeStepCount now)
{
    if (++queuePair.retries > m_retryLimit)
    {
        Fail(queuePair);
        return;
    }
    auto& nic = GetNic(queuePair);
    nic.Touch(queuePair, now);
    GoBack(queuePair, true, now);
    nic.Add(queuePair);
    nic.GetPort().SourceReady(now);
}

void
RoceTransport::Fail(RoceQueuePair& queuePair)
{
    const auto nodes = m_topology->GetNodes();
    const auto endpoints = m_topology->GetEndpoints();
    const auto reason = fmt::format("connection {} -> {} gave up after {} timeouts of {} ms",
                                    nodes[endpoints[queuePair.src]].name,
                                    nodes[endpoints[queuePair.dst]].name,
                                    queuePair.retries,
                                    m_timeout.ToDouble(Time::MS));
    std::vector<std::pair<MessageHandler*, uint64_t>> undelivered;
    bool isDelivered = true;
    for (auto* message = queuePair.oldest; message;)
    {
        isDelivered = isDelivered && message != queuePair.receiving;
        if (!isDelivered)
        {
            undelivered.emplace_back(message->handler, message->tag);
        }
        auto* next = message->next;
        m_messages.Give(message);
        message = next;
    }
    Close(queuePair);
    for (const auto& [handler, tag] : undelivered)
    {
        handler->OnFailed(tag, reason);
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
    total.goodputBytes = m_goodputBytes;
    total.retransmittedPackets = m_retransmittedPackets;
    return total;
}

} // namespace ns3::gradsync
