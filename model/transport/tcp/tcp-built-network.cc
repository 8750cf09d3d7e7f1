// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/tcp-built-network.h"

#include "ns3/capture-names.h"
#include "ns3/channel.h"
#include "ns3/cobalt-queue-disc.h"
#include "ns3/double.h"
#include "ns3/error-model.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/pie-queue-disc.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/pointer.h"
#include "ns3/ppp-header.h"
#include "ns3/red-queue-disc.h"
#include "ns3/string.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-prr-recovery.h"
#include "ns3/topology-routing.h"
#include "ns3/trace-helper.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// PPP 2 bytes, IPv4 20, TCP 32 with time stamps: the headers of every segment with data. Its
/// sender receives no data on that connection and so adds no selective acknowledgements.
constexpr uint32_t DATA_HEADERS = 54;
/// PPP, IPv4 and the largest TCP header: no packet without data is larger.
constexpr uint32_t LARGEST_HEADERS = 82;
constexpr uint16_t PORT = 5000;
constexpr int64_t FAULT_STREAM = 1
                                 << 20; //!< random number streams of faulty links, one a direction

/// Bytes behind the headers of a packet, as a point-to-point device sends it.
uint32_t
CountPayload(const Ptr<const Packet>& packet)
{
    if (packet->GetSize() > LARGEST_HEADERS)
    {
        return packet->GetSize() - DATA_HEADERS;
    }
    const auto copy = packet->Copy();
    PppHeader ppp;
    Ipv4Header ip;
    TcpHeader tcp;
    copy->RemoveHeader(ppp);
    copy->RemoveHeader(ip);
    copy->RemoveHeader(tcp);
    return copy->GetSize();
}

/// Random numbers that do not depend on what was simulated before in this process.
int64_t
AssignStreams(const Ptr<QueueDisc>& queueDisc, int64_t stream)
{
    if (const auto red = DynamicCast<RedQueueDisc>(queueDisc))
    {
        return red->AssignStreams(stream);
    }
    if (const auto pie = DynamicCast<PieQueueDisc>(queueDisc))
    {
        return pie->AssignStreams(stream);
    }
    const auto cobalt = DynamicCast<CobaltQueueDisc>(queueDisc);
    return cobalt ? cobalt->AssignStreams(stream) : 0;
}

} // namespace

/// Counts what one direction of a link does.
class BuiltTcpNetwork::PortProbe
{
  public:
    PortProbe(LinkStatistics& statistics, uint64_t& dataPacketHops)
        : m_statistics(statistics),
          m_dataPacketHops(dataPacketHops)
    {
    }

    // ns-3's trace sources fix the types of these parameters.
    // NOLINTBEGIN(performance-unnecessary-value-param)
    void OnTransmit(Ptr<const Packet> packet)
    {
        const auto payload = m_hasFlood && TcpFloodTag::IsOn(packet) ? 0 : CountPayload(packet);
        ++m_statistics.packets;
        m_statistics.payloadBytes += payload;
        m_statistics.wireBytes += packet->GetSize();
        m_dataPacketHops += payload > 0 ? 1 : 0;
    }

    void OnPacketDrop(Ptr<const Packet> packet)
    {
        // Nobody misses those of a flood.
        m_statistics.droppedPackets += m_hasFlood && TcpFloodTag::IsOn(packet) ? 0 : 1;
    }

    void OnItemDrop(Ptr<const QueueDiscItem> item)
    {
        OnPacketDrop(item->GetPacket());
    }

    void OnMark(Ptr<const QueueDiscItem> /* item */, const char* /* reason */)
    {
        ++m_statistics.ecnMarkedPackets;
    }

    // NOLINTEND(performance-unnecessary-value-param)

    void OnQueue(uint32_t /* before */, uint32_t now)
    {
        m_statistics.maxQueueBytes = std::max<uint64_t>(m_statistics.maxQueueBytes, now);
    }

    /// There may be packets of a flood from now on.
    void ExpectFlood()
    {
        m_hasFlood = true;
    }

  private:
    LinkStatistics& m_statistics;
    uint64_t& m_dataPacketHops;
    bool m_hasFlood{false};
};

BuiltTcpNetwork::BuiltTcpNetwork(std::shared_ptr<const Topology> topology,
                                 const std::shared_ptr<const RoutingTables>& routes,
                                 const TcpNetworkOptions& options)
    : TcpNetwork(std::move(topology)),
      m_endpointOf(m_topology->GetNodes().size())
{
    const auto endpoints = m_topology->GetEndpoints();
    for (uint32_t endpoint = 0; endpoint < endpoints.size(); ++endpoint)
    {
        m_endpointOf[endpoints[endpoint]] = endpoint;
    }
    AddNodes(routes, options);
    for (LinkId link = 0; link < m_topology->GetLinks().size(); ++link)
    {
        AddLink(link, options);
    }
}

BuiltTcpNetwork::~BuiltTcpNetwork() = default;

void
BuiltTcpNetwork::AddNodes(const std::shared_ptr<const RoutingTables>& routes,
                          const TcpNetworkOptions& options)
{
    m_nodes.Create(static_cast<uint32_t>(m_topology->GetNodes().size()));
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.SetIpv4ArpJitter(false);
    stack.Install(m_nodes);
    const auto choosers =
        MakeNextHopChoosers(*m_topology, *routes, options.loadBalancing, options.hashSeed);
    for (NodeId node = 0; node < m_nodes.GetN(); ++node)
    {
        auto routing = CreateObject<TopologyRouting>();
        routing->Install(routes, node, choosers[node]);
        m_nodes.Get(node)->GetObject<Ipv4>()->SetRoutingProtocol(routing);
    }
}

void
BuiltTcpNetwork::AddLink(LinkId id, const TcpNetworkOptions& options)
{
    const auto& link = m_topology->GetLinks()[id];
    PointToPointHelper helper;
    helper.SetDeviceAttribute("DataRate", DataRateValue(link.rate));
    helper.SetDeviceAttribute("Mtu", UintegerValue(options.mtuBytes));
    helper.SetChannelAttribute("Delay", TimeValue(link.delay));
    if (!options.queueDisc)
    {
        // Without a queue disc to hold packets back, flow control would only drop them.
        helper.DisableFlowControl();
    }
    const auto devices = helper.Install(m_nodes.Get(link.a), m_nodes.Get(link.b));
    const std::array<NodeId, 2> ends{link.a, link.b};
    for (uint32_t end = 0; end < ends.size(); ++end)
    {
        const auto index = 2 * size_t{id} + end;
        auto& probe = m_probes.emplace_back(
            std::make_unique<PortProbe>(m_statistics[index], m_dataPacketHops));
        const auto device = DynamicCast<PointToPointNetDevice>(devices.Get(end));
        m_devices.push_back(device);
        AddInterface(ends[end], device);
        AddPort(index, ends[end], device, options);
        if (options.lossRate > 0.0)
        {
            const auto loss = CreateObject<RateErrorModel>();
            loss->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
            loss->SetRate(options.lossRate);
            m_nextStream += loss->AssignStreams(m_nextStream);
            devices.Get(1 - end)->SetAttribute("ReceiveErrorModel", PointerValue(loss));
        }
        devices.Get(1 - end)->TraceConnectWithoutContext(
            "PhyRxDrop",
            MakeCallback(&PortProbe::OnPacketDrop, probe.get()));
    }
}

void
BuiltTcpNetwork::AddInterface(NodeId node, const Ptr<PointToPointNetDevice>& device)
{
    const auto ipv4 = m_nodes.Get(node)->GetObject<Ipv4>();
    const auto interface = ipv4->AddInterface(device);
    if (m_endpointOf[node])
    {
        ipv4->AddAddress(interface,
                         Ipv4InterfaceAddress(TopologyRouting::GetAddress(*m_endpointOf[node]),
                                              Ipv4Mask::GetOnes()));
    }
    ipv4->SetUp(interface);
}

void
BuiltTcpNetwork::AddPort(size_t index,
                         NodeId node,
                         const Ptr<PointToPointNetDevice>& device,
                         const TcpNetworkOptions& options)
{
    auto* probe = m_probes[index].get();
    device->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&PortProbe::OnTransmit, probe));
    const auto queue = device->GetQueue();
    if (m_endpointOf[node] || !options.queueDisc)
    {
        queue->SetMaxSize(m_endpointOf[node] ? QueueSize(QueueSizeUnit::PACKETS, UINT32_MAX)
                                             : options.queueSize);
        queue->TraceConnectWithoutContext("BytesInQueue", MakeCallback(&PortProbe::OnQueue, probe));
        device->TraceConnectWithoutContext("MacTxDrop",
                                           MakeCallback(&PortProbe::OnPacketDrop, probe));
        return;
    }
    queue->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, 1));
    const auto queueDisc = options.queueDisc->Create<QueueDisc>();
    m_nextStream += AssignStreams(queueDisc, m_nextStream);
    queueDisc->TraceConnectWithoutContext("Drop", MakeCallback(&PortProbe::OnItemDrop, probe));
    queueDisc->TraceConnectWithoutContext("Mark", MakeCallback(&PortProbe::OnMark, probe));
    queueDisc->TraceConnectWithoutContext("BytesInQueue", MakeCallback(&PortProbe::OnQueue, probe));
    m_nodes.Get(node)->GetObject<TrafficControlLayer>()->SetRootQueueDiscOnDevice(device,
                                                                                  queueDisc);
}

TcpLinkFault&
BuiltTcpNetwork::GetFault(size_t index, const Ptr<PointToPointNetDevice>& receiver)
{
    auto& fault = m_faults[index];
    if (!fault)
    {
        PointerValue own;
        receiver->GetAttribute("ReceiveErrorModel", own);
        fault = CreateObject<TcpLinkFault>();
        fault->Install(own.Get<ErrorModel>(), FAULT_STREAM + static_cast<int64_t>(index));
        receiver->SetAttribute("ReceiveErrorModel", PointerValue(fault));
    }
    return *fault;
}

void
BuiltTcpNetwork::SetLinkState(LinkId id, const LinkState& state)
{
    const auto& link = m_topology->GetLinks()[id];
    const auto bits = std::llround(state.GetBitRate(link.rate.GetBitRate()));
    for (uint32_t end = 0; end < 2; ++end)
    {
        const auto index = 2 * size_t{id} + end;
        m_devices[index]->SetDataRate(DataRate(static_cast<uint64_t>(bits)));
        GetFault(index, m_devices[2 * size_t{id} + 1 - end]).SetState(state);
        if (state.floodBitRate > 0 || m_floods.contains(index))
        {
            GetFlood(index).SetBitRate(state.up ? state.GetFloodBitRate(link.rate.GetBitRate())
                                                : 0.0);
        }
    }
    m_devices[2 * size_t{id}]->GetChannel()->SetAttribute("Delay",
                                                          TimeValue(link.delay + state.extraDelay));
}

void
BuiltTcpNetwork::Capture(LinkId id, const std::string& folder)
{
    if (m_captureNames.empty())
    {
        m_captureNames = MakeCaptureNames(*m_topology);
    }
    PointToPointHelper helper;
    const auto path = [&](uint32_t end) { return folder + "/" + m_captureNames[2 * id + end]; };
    const auto text = AsciiTraceHelper().CreateFileStream(path(0) + ".tr");
    for (uint32_t end = 0; end < 2; ++end)
    {
        const Ptr<NetDevice> device = m_devices[2 * size_t{id} + end];
        helper.EnablePcap(path(end) + ".pcap", device, false, true);
        helper.EnableAscii(text, device);
    }
}

TcpFlood&
BuiltTcpNetwork::GetFlood(size_t index)
{
    auto& flood = m_floods[index];
    if (!flood)
    {
        const auto& device = m_devices[index];
        m_probes[index]->ExpectFlood();
        flood =
            std::make_unique<TcpFlood>(device->GetNode()->GetObject<TrafficControlLayer>(), device);
    }
    return *flood;
}

void
BuiltTcpNetwork::SetMuted(uint32_t endpoint, bool muted)
{
    if (!(muted ? m_muted.insert(endpoint).second : m_muted.erase(endpoint) > 0))
    {
        return; // it is
    }
    for (const auto& port : m_topology->GetPorts(m_topology->GetEndpoints()[endpoint]))
    {
        for (uint32_t end = 0; end < 2; ++end)
        {
            const auto index = 2 * size_t{port.link} + end;
            GetFault(index, m_devices[2 * size_t{port.link} + 1 - end]).SetMuted(muted);
        }
    }
}

void
BuiltTcpNetwork::SetRoutes(const std::shared_ptr<const RoutingTables>& routes)
{
    for (NodeId node = 0; node < m_nodes.GetN(); ++node)
    {
        const auto ipv4 = m_nodes.Get(node)->GetObject<Ipv4>();
        DynamicCast<TopologyRouting>(ipv4->GetRoutingProtocol())->SetRoutes(routes);
    }
}

Ptr<Node>
BuiltTcpNetwork::GetNode(uint32_t endpoint) const
{
    return m_nodes.Get(m_topology->GetEndpoints()[endpoint]);
}

Ipv4Address
BuiltTcpNetwork::GetAddress(uint32_t endpoint) const
{
    return TopologyRouting::GetAddress(endpoint);
}

std::string
BuiltTcpNetwork::GetName(uint32_t endpoint) const
{
    return fmt::format("endpoint {}", endpoint);
}

uint16_t
BuiltTcpNetwork::GetListeningPort() const
{
    return PORT;
}

} // namespace ns3::gradsync
