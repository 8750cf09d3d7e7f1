// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fabric-network.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/ns3-interfaces.h"
#include "ns3/port-prefetch.h"
#include "ns3/radix-scheduler.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"
#include "ns3/wire-format.h"

#include <algorithm>
#include <cmath>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncFabricNetwork");
NS_OBJECT_ENSURE_REGISTERED(FabricNetwork);

namespace
{

constexpr int64_t ECN_STREAM = int64_t{1} << 37;  //!< random number streams of marks, one a port
constexpr int64_t LOSS_STREAM = int64_t{1} << 38; //!< likewise of lost packets

} // namespace

TypeId
FabricNetwork::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::FabricNetwork")
            .SetParent<Object>()
            .SetGroupName("GradSync")
            .AddConstructor<FabricNetwork>()
            .AddAttribute(
                "Pfc",
                "Priority flow control (IEEE 802.1Qbb): true, the network loses nothing to full "
                "buffers; false, switches drop. Links inside servers are lossless always.",
                BooleanValue(true),
                MakeBooleanAccessor(&FabricNetwork::m_pfc),
                MakeBooleanChecker())
            .AddAttribute(
                "CountBlocked",
                "Count blocked_bytes of links.csv: at the end of each PFC pause of a switch port "
                "the bytes that wait there for an egress of the next switch that is idle, times "
                "the likelihood that they get it where the load balancing draws. Takes a walk "
                "along the queue.",
                BooleanValue(false),
                MakeBooleanAccessor(&FabricNetwork::m_countBlocked),
                MakeBooleanChecker())
            .AddAttribute("BufferBytes",
                          "Packet memory of each switch that its ports share, in bytes, PFC "
                          "headroom included.",
                          UintegerValue(uint64_t{16} << 20),
                          MakeUintegerAccessor(&FabricNetwork::m_bufferBytes),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("PauseAlpha",
                          "PFC: an ingress port pauses its neighbour above this multiple of the "
                          "free shared buffer.",
                          DoubleValue(0.125),
                          MakeDoubleAccessor(&FabricNetwork::m_pauseAlpha),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute(
                "DropAlpha",
                "Without PFC: an egress queue drops above this multiple of the free buffer.",
                DoubleValue(1.0),
                MakeDoubleAccessor(&FabricNetwork::m_dropAlpha),
                MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("DroppableBytes",
                          "A switch drops packets that may be lost (job.dgt) where the queue, "
                          "the packet included, would be longer. Others are not held to it.",
                          UintegerValue(100'000),
                          MakeUintegerAccessor(&FabricNetwork::m_droppableBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("LoadBalancing",
                          "Choice among equal-cost paths: hash (ECMP per connection), destination "
                          "(D-mod-k), flowlet (anew after each pause of a connection), spray "
                          "(each packet at random) or adaptive (each packet by the switch's "
                          "shortest queue).",
                          EnumValue(LB_HASH),
                          MakeAccessorOfEnum(&FabricNetwork::m_loadBalancing),
                          MakeEnumChecker(LB_HASH,
                                          "hash",
                                          LB_DESTINATION,
                                          "destination",
                                          LB_SPRAY,
                                          "spray",
                                          LB_ADAPTIVE,
                                          "adaptive",
                                          LB_FLOWLET,
                                          "flowlet"))
            .AddAttribute("FlowletGap",
                          "Time without a packet of a connection that ends a flowlet; longer than "
                          "paths differ in delay, so that flowlets do not overtake each other.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&FabricNetwork::m_flowletGap),
                          MakeTimeChecker(NanoSeconds(0)))
            .AddAttribute("HashSeed",
                          "Seed of the ECMP hash; another seed gives other collisions. 0: that of "
                          "all random numbers.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FabricNetwork::m_hashSeed),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute(
                "LossRate",
                "Probability that a packet is lost on an Ethernet link, independently; 0: no "
                "loss, and no random number is drawn.",
                DoubleValue(0.0),
                MakeDoubleAccessor(&FabricNetwork::m_lossRate),
                MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("EcnMinBytes",
                          "Kmin: an ECN-capable packet is never marked while the queue, itself "
                          "included, has no more bytes, at EcnReferenceRate. Default: DCQCN, "
                          "SIGCOMM'15, section 6.2.",
                          UintegerValue(5000),
                          MakeUintegerAccessor(&FabricNetwork::m_ecnMinBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("EcnMaxBytes",
                          "Kmax: it is always marked when the queue has more bytes, at "
                          "EcnReferenceRate; EcnMinBytes or less: marking is a step at "
                          "EcnMinBytes, as DCTCP wants.",
                          UintegerValue(200000),
                          MakeUintegerAccessor(&FabricNetwork::m_ecnMaxBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("EcnMaxProbability",
                          "Pmax: probability of a mark at Kmax; in between it grows linearly from "
                          "0 at Kmin.",
                          DoubleValue(0.01),
                          MakeDoubleAccessor(&FabricNetwork::m_ecnMaxProbability),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute(
                "EcnReferenceRate",
                "Link rate for which EcnMinBytes and EcnMaxBytes hold; links of other "
                "rates scale them, so that the queueing delay is the same. 0: no scaling.",
                DataRateValue(DataRate("40Gbps")),
                MakeDataRateAccessor(&FabricNetwork::m_ecnReferenceRate),
                MakeDataRateChecker())
            .AddAttribute(
                "PrefetchPorts",
                "Networks with at least so many ports (two a link) have the cache fetch what the "
                "next events touch. Changes nothing but the speed; only schedulers of type "
                "RadixScheduler can tell which events come next.",
                UintegerValue(8192),
                MakeUintegerAccessor(&FabricNetwork::m_prefetchPorts),
                MakeUintegerChecker<size_t>())
            .AddAttribute("PrefetchPackets",
                          "So do networks with fewer ports once so many packets have been under "
                          "way at once.",
                          UintegerValue(6144),
                          MakeUintegerAccessor(&FabricNetwork::m_prefetchPackets),
                          MakeUintegerChecker<size_t>())
            .AddAttribute("SwitchRounds",
                          "Switches run in rounds of the least delay of their links, ahead of the "
                          "simulator, where nobody looks into the network or changes it as it "
                          "runs, and the scheduler is a RadixScheduler. Changes nothing but the "
                          "speed.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&FabricNetwork::m_goesInRounds),
                          MakeBooleanChecker())
            .AddTraceSource("Drop",
                            "A packet was dropped for want of buffer or lost on the wire: port "
                            "(2 * link + direction) and bytes on the wire.",
                            MakeTraceSourceAccessor(&FabricNetwork::m_dropTrace),
                            "ns3::gradsync::FabricNetwork::DropCallback")
            .AddTraceSource("Pause",
                            "A sending port was paused by PFC (true) or let go (false).",
                            MakeTraceSourceAccessor(&FabricNetwork::m_pauseTrace),
                            "ns3::gradsync::FabricNetwork::PauseCallback")
            .AddTraceSource("Mark",
                            "A data packet was marked (ECN): port and bytes of its queue.",
                            MakeTraceSourceAccessor(&FabricNetwork::m_markTrace),
                            "ns3::gradsync::FabricNetwork::MarkCallback")
            .AddTraceSource("Queue",
                            "The data that waits at a port changed: port, bytes, and when. "
                            "Departures are told late, at the times at which they were.",
                            MakeTraceSourceAccessor(&FabricNetwork::m_queueTrace),
                            "ns3::gradsync::FabricNetwork::QueueCallback");
    return tid;
}

FabricNetwork::FabricNetwork() = default;
FabricNetwork::~FabricNetwork() = default;

void
FabricNetwork::Install(std::shared_ptr<const Topology> topology,
                       std::shared_ptr<const RoutingTables> routes,
                       uint32_t maxFrameBytes)
{
    m_topology = std::move(topology);
    m_routes = std::move(routes);
    m_portCount = 2 * m_topology->GetLinks().size();
    m_ports.reserve(m_portCount);
    for (size_t port = 0; port < m_portCount; ++port)
    {
        m_ports.emplace_back(new FabricPort, false);
    }
    if (m_lossRate > 0.0)
    {
        for (size_t port = 0; port < m_portCount; ++port)
        {
            m_losses.push_back(
                std::make_unique<RandomLoss>(m_lossRate,
                                             LOSS_STREAM + static_cast<int64_t>(port),
                                             m_pool));
        }
    }
    if (m_hashSeed == 0)
    {
        m_hashSeed = RngSeedManager::GetSeed();
    }
    m_choosers = MakeNextHopChoosers(*m_topology, *m_routes, m_loadBalancing, m_hashSeed);
    AddNodes(maxFrameBytes);
    ConnectPorts();
    BeginRounds();
    SetPrefetching(m_portCount >= m_prefetchPorts);
    m_pool.SetGrowthCallback([this] {
        SetPrefetching(m_prefetches ||
                       m_pool.GetCapacity() * m_division.count >= m_prefetchPackets);
    });
    WatchQueues(m_queueTrace.IsWatched());
    NS_LOG_INFO("fabric of " << m_endpoints.size() << " endpoints, "
                             << m_nodes.size() - m_endpoints.size() << " switches and "
                             << m_portCount << " ports");
}

void
FabricNetwork::DoDispose()
{
    m_pool.SetGrowthCallback({});
    SetPrefetching(false);
    m_floods.clear();
    for (const auto& [lookahead, rounds] : m_rounds)
    {
        rounds->Disconnect();
    }
    for (const auto& port : m_ports)
    {
        port->Disconnect();
    }
    Object::DoDispose();
}

void
FabricNetwork::SetPrefetching(bool prefetches)
{
    if (prefetches == m_prefetches)
    {
        return;
    }
    m_prefetches = prefetches;
    for (const auto& [lookahead, rounds] : m_rounds)
    {
        rounds->SetFetching(prefetches);
    }
    s_prefetching += prefetches ? 1 : UINT32_MAX; // modulo 2^32, one down
    RadixScheduler::SetPrefetch(s_prefetching > 0 ? PortPrefetch::Arrivals : nullptr);
}

std::vector<FabricPort*>
FabricNetwork::GetEgressPorts(NodeId node)
{
    std::vector<FabricPort*> ports;
    for (const auto& adjacency : m_topology->GetPorts(node))
    {
        const bool fromA = m_topology->GetLinks()[adjacency.link].a == node;
        ports.push_back(PeekPointer(m_ports[2 * adjacency.link + (fromA ? 0 : 1)]));
    }
    return ports;
}

void
FabricNetwork::AddNodes(uint32_t maxFrameBytes)
{
    const auto nodes = m_topology->GetNodes();
    for (NodeId node = 0; node < nodes.size(); ++node)
    {
        if (!IsEndpoint(nodes[node].kind))
        {
            AddSwitch(node, maxFrameBytes);
            continue;
        }
        const auto index = static_cast<uint32_t>(m_endpoints.size());
        auto endpoint = std::make_unique<FabricEndpoint>(index, GetEgressPorts(node), m_pool);
        m_endpoints.push_back(endpoint.get());
        m_nodes.push_back(std::move(endpoint));
        m_switches.push_back(nullptr);
    }
}

void
FabricNetwork::AddSwitch(NodeId node, uint32_t maxFrameBytes)
{
    auto forwarder = std::make_unique<FabricSwitch>(node,
                                                    GetEgressPorts(node),
                                                    *m_routes,
                                                    m_choosers[node],
                                                    m_pool);
    std::vector<IngressConfig> ingress;
    for (const auto& adjacency : m_topology->GetPorts(node))
    {
        const auto& link = m_topology->GetLinks()[adjacency.link];
        ingress.push_back({.lossless = m_pfc || !IsEthernet(link),
                           .headroomBytes = GetHeadroomBytes(link, maxFrameBytes)});
    }
    forwarder->InstallBuffer({.totalBytes = m_bufferBytes,
                              .pauseAlpha = m_pauseAlpha,
                              .dropAlpha = m_dropAlpha,
                              .resumeOffsetBytes = uint64_t{2} * maxFrameBytes},
                             ingress);
    forwarder->SetDroppableBytes(m_droppableBytes);
    forwarder->SetSelector(MakePathSelector(m_loadBalancing,
                                            MakeNodeSalt(m_hashSeed, node),
                                            m_flowletGap.GetTimeStep()));
    m_switches.push_back(forwarder.get());
    m_nodes.push_back(std::move(forwarder));
}

uint64_t
FabricNetwork::GetHeadroomBytes(const TopologyLink& link, uint32_t maxFrameBytes) const
{
    // After the packet that crosses the threshold (1 frame): the XOFF waits for a frame that has
    // just started (1), travels, and finds the neighbour at the start of a frame (1); what was sent
    // during two propagation delays and the XOFF's own serialisation is under way.
    const auto inFlight =
        static_cast<double>(link.rate.GetBitRate()) / 8.0 * 2.0 * link.delay.GetSeconds();
    return static_cast<uint64_t>(std::ceil(inFlight)) + 3 * uint64_t{maxFrameBytes} +
           wire::PFC_BYTES;
}

void
FabricNetwork::ConnectPorts()
{
    auto* simulator = PeekPointer(Simulator::GetImplementation());
    const auto portNumberOf = [&](NodeId node, LinkId link) {
        const auto ports = m_topology->GetPorts(node);
        const auto found = std::find_if(ports.begin(), ports.end(), [link](const auto& p) {
            return p.link == link;
        });
        return static_cast<uint16_t>(found - ports.begin());
    };
    const auto links = m_topology->GetLinks();
    for (LinkId id = 0; id < links.size(); ++id)
    {
        const auto& link = links[id];
        const auto toA = portNumberOf(link.a, id);
        const auto toB = portNumberOf(link.b, id);
        auto& forward = *m_ports[size_t{2} * id];
        auto& backward = *m_ports[size_t{2} * id + 1];
        forward.Install(simulator, link.rate, link.delay, m_nodes[link.b].get(), toB);
        backward.Install(simulator, link.rate, link.delay, m_nodes[link.a].get(), toA);
        forward.SetObserver(this, 2 * id);
        backward.SetObserver(this, 2 * id + 1);
        if (IsEthernet(link))
        {
            InstallTelemetry(id);
            forward.SetEcnMarker(GetEcnMarker(link.rate));
            backward.SetEcnMarker(GetEcnMarker(link.rate));
            forward.SetLoss(GetLoss(size_t{2} * id));
            backward.SetLoss(GetLoss(size_t{2} * id + 1));
        }
    }
}

void
FabricNetwork::InstallTelemetry(LinkId id)
{
    // Switches write, hosts do not (HPCC, figure 4).
    const auto& link = m_topology->GetLinks()[id];
    const auto nodes = m_topology->GetNodes();
    for (const auto& [node, port] : {std::pair{link.a, 2 * id}, std::pair{link.b, 2 * id + 1}})
    {
        if (!IsEndpoint(nodes[node].kind))
        {
            m_ports[port]->SetTelemetry(&m_pool, link.rate);
        }
    }
}

EcnMarker*
FabricNetwork::GetEcnMarker(const DataRate& rate)
{
    auto& marker = m_markers[rate.GetBitRate()];
    if (!marker)
    {
        const auto reference = static_cast<double>(m_ecnReferenceRate.GetBitRate());
        const auto scale =
            reference > 0.0 ? static_cast<double>(rate.GetBitRate()) / reference : 1.0;
        marker = std::make_unique<EcnMarker>(
            EcnMarker::Config{.minBytes = scale * static_cast<double>(m_ecnMinBytes),
                              .maxBytes = scale * static_cast<double>(m_ecnMaxBytes),
                              .maxProbability = m_ecnMaxProbability},
            ECN_STREAM);
    }
    return marker.get();
}

void
FabricNetwork::OnDrop(uint32_t portIndex, const FabricPacket& packet)
{
    NS_LOG_LOGIC("port " << portIndex << " drops " << packet.wireBytes << " bytes for endpoint "
                         << packet.destination);
    m_dropTrace(portIndex, packet.wireBytes);
}

void
FabricNetwork::OnPause(uint32_t portIndex, bool paused)
{
    NS_LOG_LOGIC("port " << portIndex << (paused ? " is paused" : " goes on"));
    m_pauseTrace(portIndex, paused);
    if (m_countBlocked && !paused)
    {
        CountBlocked(*m_ports[portIndex]);
    }
}

void
FabricNetwork::OnMark(uint32_t portIndex, uint64_t queueBytes)
{
    m_markTrace(portIndex, queueBytes);
}

void
FabricNetwork::OnQueue(uint32_t portIndex, uint64_t queueBytes, TimeStepCount at)
{
    m_queueTrace(portIndex, queueBytes, TimeStep(at));
}

void
FabricNetwork::WatchQueues(bool isWatched)
{
    for (const auto& port : m_ports)
    {
        port->SetWatched(isWatched);
    }
}

void
FabricNetwork::CountBlocked(FabricPort& port)
{
    const auto* next = dynamic_cast<const FabricSwitch*>(port.GetPeer());
    if (next == nullptr || port.GetQueueBytes() == 0)
    {
        return;
    }
    const auto now = Simulator::Now().GetTimeStep();
    for (const auto* packet = port.GetData().Front(); packet; packet = packet->next)
    {
        const auto share = next->GetIdleShare(*packet, now);
        port.CountBlocked(static_cast<uint64_t>(std::llround(share * packet->wireBytes)));
    }
}

PacketLoss*
FabricNetwork::GetLoss(size_t port) const
{
    return m_losses.empty() ? nullptr : m_losses[port].get();
}

std::string
FabricNetwork::FindShared() const
{
    if (m_countBlocked)
    {
        return "attribute CountBlocked of the fabric is true: it looks into the next switch at "
               "once";
    }
    return {};
}

FabricEndpoint&
FabricNetwork::GetEndpoint(uint32_t endpoint)
{
    return *m_endpoints[endpoint];
}

void
FabricNetwork::SetTap(LinkId link, PacketTap* tap)
{
    RequireInStep();
    m_ports[size_t{2} * link]->SetTap(tap);
    m_ports[size_t{2} * link + 1]->SetTap(tap);
}

uint16_t
FabricNetwork::ChooseEndpointPort(uint32_t endpoint, uint32_t flowHash, uint32_t destination) const
{
    const auto node = m_topology->GetEndpoints()[endpoint];
    const auto nextHops = m_routes->GetNextHops(node, destination);
    const auto count = static_cast<uint32_t>(nextHops.size());
    if (count == 0)
    {
        return 0; // cut off: into the dead link, so that timeouts tell
    }
    return nextHops[count == 1 ? 0 : m_choosers[node].Choose(flowHash, destination, count)];
}

PortCounters
FabricNetwork::GetCounters(size_t index) const
{
    index = m_simulated.empty() ? index : m_simulated[index];
    const auto now = Simulator::Now().GetTimeStep();
    if (Simulator::IsFinished())
    {
        // Else what is late to start would not count where a run is ended. Before, who looks must
        // change nothing.
        m_ports[index]->Sync(now);
    }
    return m_ports[index]->GetCounters(now);
}

uint64_t
FabricNetwork::GetQueueBytes(size_t index)
{
    RequireInStep();
    m_ports[index]->Sync(Simulator::Now().GetTimeStep());
    return m_ports[index]->GetQueueBytes();
}

size_t
FabricNetwork::GetPortCount() const
{
    return m_portCount;
}

} // namespace ns3::gradsync
