// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/tcp-transport.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/factory-text.h"
#include "ns3/inet-socket-address.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/ns3-interfaces.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/string.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-existing-network.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/topology-routing.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncTcpTransport");
NS_OBJECT_ENSURE_REGISTERED(TcpTransport);

namespace
{

constexpr uint32_t HEADER_BYTES = 52; //!< IPv4 20, TCP 32 with time stamps

} // namespace

TypeId
TcpTransport::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::TcpTransport")
            .SetParent<Transport>()
            .SetGroupName("GradSync")
            .AddConstructor<TcpTransport>()
            .AddAttribute("SegmentBytes",
                          "Payload of a full segment, in bytes. IPv4 and TCP with time stamps add "
                          "52, the point-to-point link 2: 1448 fills an MTU of 1500.",
                          UintegerValue(1448),
                          MakeUintegerAccessor(&TcpTransport::m_segmentBytes),
                          MakeUintegerChecker<uint32_t>(536, 65'000))
            .AddAttribute("CongestionOps",
                          "ns-3's congestion control by type name: ns3::TcpCubic, "
                          "ns3::TcpLinuxReno, ns3::TcpDctcp, ns3::TcpBbr, ...",
                          StringValue("ns3::TcpCubic"),
                          MakeStringAccessor(&TcpTransport::m_congestionOps),
                          MakeStringChecker())
            .AddAttribute("QueueDisc",
                          "Queue disc at the ports of switches in ns-3's text form, for example "
                          "ns3::RedQueueDisc[MinTh=65|MaxTh=65|QW=1|UseEcn=true]; empty: drop-tail "
                          "of QueueSize.",
                          StringValue(""),
                          MakeStringAccessor(&TcpTransport::m_queueDisc),
                          MakeStringChecker())
            .AddAttribute("QueueSize",
                          "Drop-tail queue at each port of a switch.",
                          QueueSizeValue(QueueSize("256KiB")),
                          MakeQueueSizeAccessor(&TcpTransport::m_queueSize),
                          MakeQueueSizeChecker())
            .AddAttribute("LoadBalancing",
                          "Choice among equal-cost paths: hash (ECMP per connection) or "
                          "destination (D-mod-k).",
                          EnumValue(LB_HASH),
                          MakeAccessorOfEnum(&TcpTransport::m_loadBalancing),
                          MakeEnumChecker(LB_HASH, "hash", LB_DESTINATION, "destination"))
            .AddAttribute("HashSeed",
                          "Seed of the ECMP hash; another seed gives other collisions. 0: that of "
                          "all random numbers.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&TcpTransport::m_hashSeed),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("LossRate",
                          "Probability that a packet is lost on a link, independently.",
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&TcpTransport::m_lossRate),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("MinRto",
                          "Smallest retransmission timeout. 1 s is RFC 6298's and ns-3's; Linux "
                          "has 200 ms. One timeout outlasts an exchange of milliseconds.",
                          TimeValue(Seconds(1)),
                          MakeTimeAccessor(&TcpTransport::m_minRto),
                          MakeTimeChecker(MicroSeconds(1)))
            .AddAttribute("InitialWindow",
                          "First congestion window in segments (RFC 6928: 10).",
                          UintegerValue(10),
                          MakeUintegerAccessor(&TcpTransport::m_initialWindow),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("BufferBytes",
                          "Send and receive buffer of a connection, the bound of its window.",
                          UintegerValue(1 << 20),
                          MakeUintegerAccessor(&TcpTransport::m_bufferBytes),
                          MakeUintegerChecker<uint32_t>(65'536))
            .AddAttribute("DelayedAckTimeout",
                          "A lone segment is acknowledged after this time at the latest.",
                          TimeValue(MilliSeconds(40)),
                          MakeTimeAccessor(&TcpTransport::m_delayedAckTimeout),
                          MakeTimeChecker(MicroSeconds(1)))
            .AddAttribute("DelayedAckCount",
                          "Segments that one acknowledgement covers (RFC 1122: 2).",
                          UintegerValue(2),
                          MakeUintegerAccessor(&TcpTransport::m_delayedAckCount),
                          MakeUintegerChecker<uint32_t>(1, 255))
            .AddAttribute("Ecn",
                          "Explicit congestion notification (RFC 3168). DCTCP switches it on by "
                          "itself. Queue discs must mark (UseEcn).",
                          BooleanValue(false),
                          MakeBooleanAccessor(&TcpTransport::m_ecn),
                          MakeBooleanChecker())
            .AddAttribute("Retries",
                          "Timeouts in a row after which a connection is given up.",
                          UintegerValue(6),
                          MakeUintegerAccessor(&TcpTransport::m_retries),
                          MakeUintegerChecker<uint32_t>(1))
            .AddTraceSource("Timeout",
                            "A retransmission timeout: endpoints of the connection.",
                            MakeTraceSourceAccessor(&TcpTransport::m_timeoutTrace),
                            "ns3::gradsync::TcpTransport::TimeoutCallback");
    return tid;
}

TcpTransport::TcpTransport() = default;
TcpTransport::~TcpTransport() = default;

void
TcpTransport::DoDispose()
{
    for (const auto& listener : m_listeners)
    {
        if (listener)
        {
            listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                        MakeNullCallback<void, Ptr<Socket>, const Address&>());
        }
    }
    m_listeners.clear();
    m_bySender.clear();
    m_connections.clear();
    Transport::DoDispose();
}

void
TcpTransport::Install(std::shared_ptr<const Topology> topology,
                      std::shared_ptr<const RoutingTables> routes)
{
    m_congestionType = ParseType(m_congestionOps, TcpCongestionOps::GetTypeId());
    TcpNetworkOptions options{
        .mtuBytes = static_cast<uint16_t>(m_segmentBytes + HEADER_BYTES),
        .queueDisc = {},
        .queueSize = m_queueSize,
        .loadBalancing = m_loadBalancing,
        .hashSeed = m_hashSeed != 0 ? m_hashSeed : RngSeedManager::GetSeed(),
        .lossRate = m_lossRate,
    };
    if (!m_queueDisc.empty())
    {
        options.queueDisc = ParseFactory(m_queueDisc, QueueDisc::GetTypeId());
    }
    m_listeners.resize(topology->GetEndpoints().size());
    auto network = std::make_unique<BuiltTcpNetwork>(std::move(topology), routes, options);
    m_built = network.get();
    m_network = std::move(network);
}

void
TcpTransport::InstallOn(const ExistingNetwork& network)
{
    m_congestionType = ParseType(m_congestionOps, TcpCongestionOps::GetTypeId());
    for (const auto& device : network.devices)
    {
        if (device && device->GetMtu() < m_segmentBytes + HEADER_BYTES)
        {
            throw std::invalid_argument(fmt::format(
                "segments of {} bytes and {} of headers do not fit the MTU of {} at node {}: set "
                "SegmentBytes of the transport, or the Mtu of the devices",
                m_segmentBytes,
                HEADER_BYTES,
                device->GetMtu(),
                device->GetNode()->GetId()));
        }
    }
    m_listeners.resize(network.hosts.size());
    m_network = std::make_unique<TcpExistingNetwork>(network);
}

Ptr<Socket>
TcpTransport::MakeSocket(uint32_t endpoint) const
{
    // By its type: others may want another congestion control of the same node.
    const auto tcp = m_network->GetNode(endpoint)->GetObject<TcpL4Protocol>();
    const auto socket = tcp->CreateSocket(m_congestionType);
    socket->SetAttribute("SegmentSize", UintegerValue(m_segmentBytes));
    socket->SetAttribute("SndBufSize", UintegerValue(m_bufferBytes));
    socket->SetAttribute("RcvBufSize", UintegerValue(m_bufferBytes));
    socket->SetAttribute("InitialCwnd", UintegerValue(m_initialWindow));
    socket->SetAttribute("DelAckTimeout", TimeValue(m_delayedAckTimeout));
    socket->SetAttribute("DelAckCount", UintegerValue(m_delayedAckCount));
    socket->SetAttribute("DataRetries", UintegerValue(m_retries));
    socket->SetAttribute("MinRto", TimeValue(m_minRto));
    if (m_ecn)
    {
        socket->SetAttribute("UseEcn", StringValue("On"));
    }
    return socket;
}

InetSocketAddress
TcpTransport::Listen(uint32_t endpoint)
{
    auto& listener = m_listeners[endpoint];
    const bool isNew = !listener;
    if (isNew)
    {
        listener = MakeSocket(endpoint);
        const auto port = m_network->GetListeningPort();
        if ((port > 0 ? listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), port))
                      : listener->Bind()) != 0)
        {
            throw std::runtime_error(fmt::format("{} has no port free", GetName(endpoint)));
        }
        listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                    MakeCallback(&TcpTransport::OnAccept, this));
        listener->Listen();
    }
    Address local;
    listener->GetSockName(local);
    const auto port = InetSocketAddress::ConvertFrom(local).GetPort();
    if (isNew)
    {
        m_network->OnListening(endpoint, port);
    }
    return {m_network->GetAddress(endpoint), port};
}

TcpConnection&
TcpTransport::FindConnection(const Message& message)
{
    auto& connection = m_connections[{message.src, message.dst, message.stream}];
    if (!connection)
    {
        const auto receiver = Listen(message.dst);
        TcpConnectionObserver& observer = *this; // private base: only here does it convert
        connection = std::make_unique<TcpConnection>(message.src,
                                                     message.dst,
                                                     MakeSocket(message.src),
                                                     m_segmentBytes,
                                                     observer);
        const auto sender = connection->Connect(receiver);
        m_bySender[{sender.GetIpv4(), sender.GetPort()}] = connection.get();
    }
    return *connection;
}

void
TcpTransport::Send(const Message& message)
{
    const auto endpoints = m_listeners.size();
    if (message.src >= endpoints || message.dst >= endpoints || message.src == message.dst)
    {
        throw std::invalid_argument(fmt::format("cannot send from endpoint {} to {}: there are {}",
                                                message.src,
                                                message.dst,
                                                endpoints));
    }
    FindConnection(message).Send(message);
}

// ns-3's callback fixes the type of this parameter.
void
TcpTransport::OnAccept(Ptr<Socket> socket, // NOLINT(performance-unnecessary-value-param)
                       const Address& from)
{
    const auto sender = InetSocketAddress::ConvertFrom(from);
    const auto found = m_bySender.find({sender.GetIpv4(), sender.GetPort()});
    if (found == m_bySender.end())
    {
        return; // a stranger's: programs have sockets of their own
    }
    found->second->Accept(socket);
}

void
TcpTransport::Abandon(const MessageFilter& /* isMeant */)
{
    throw std::logic_error("the tcp transport cannot abandon messages");
}

TransportCapabilities*
TcpTransport::GetCapabilities()
{
    return this;
}

TransportFaults*
TcpTransport::GetFaults()
{
    return m_network && !m_built ? nullptr : this;
}

BuiltTcpNetwork&
TcpTransport::RequireBuilt() const
{
    if (!m_built)
    {
        throw std::logic_error("the tcp transport has built no network");
    }
    return *m_built;
}

bool
TcpTransport::HasPackets() const
{
    return true;
}

void
TcpTransport::Capture(LinkId link, const std::string& folder)
{
    m_network->Capture(link, folder);
}

void
TcpTransport::SetLinkState(LinkId link, const LinkState& state)
{
    NS_LOG_INFO("link " << link << (state.up ? " is up" : " is down"));
    RequireBuilt().SetLinkState(link, state);
}

void
TcpTransport::SetEndpointState(uint32_t endpoint, const EndpointState& state)
{
    if (state.sends != state.receives)
    {
        throw std::invalid_argument("the tcp transport has no host that sends or receives only");
    }
    RequireBuilt().SetMuted(endpoint, !state.sends);
}

// The network keeps the tables.
void
TcpTransport::SetRoutes(
    std::shared_ptr<const RoutingTables> routes) // NOLINT(performance-unnecessary-value-param)
{
    RequireBuilt().SetRoutes(routes);
}

void
TcpTransport::OnGoodput(uint64_t bytes)
{
    m_goodputBytes += bytes;
}

void
TcpTransport::OnRetransmission(uint32_t bytes)
{
    ++m_retransmittedPackets;
    m_retransmittedBytes += bytes;
}

void
TcpTransport::OnTimeout(uint32_t src, uint32_t dst)
{
    NS_LOG_LOGIC("connection " << src << " -> " << dst << " timed out");
    m_timeoutTrace(src, dst);
}

std::string
TcpTransport::GetName(uint32_t endpoint) const
{
    return m_network->GetName(endpoint);
}

std::vector<LinkStatistics>
TcpTransport::GetLinkStatistics() const
{
    return m_network->GetLinkStatistics();
}

TransportStatistics
TcpTransport::GetStatistics() const
{
    TransportStatistics totals;
    totals.goodputBytes = m_goodputBytes;
    totals.retransmittedPackets = m_retransmittedPackets;
    totals.retransmittedBytes = m_retransmittedBytes;
    totals.dataPacketHops = m_network->GetDataPacketHops();
    for (const auto& link : m_network->GetLinkStatistics())
    {
        totals.wireBytes += link.wireBytes;
        totals.controlPacketHops += link.packets;
        totals.droppedPackets += link.droppedPackets;
        totals.ecnMarkedPackets += link.ecnMarkedPackets;
    }
    totals.controlPacketHops -= totals.dataPacketHops;
    return totals;
}

} // namespace ns3::gradsync
