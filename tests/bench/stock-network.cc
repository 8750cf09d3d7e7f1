// SPDX-License-Identifier: GPL-2.0-only
#include "bench/stock-network.h"

#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4.h"
#include "ns3/nix-vector-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/ppp-header.h"
#include "ns3/string.h"
#include "ns3/tcp-header.h"
#include "ns3/uinteger.h"

#include <array>

namespace ns3::gradsync
{

namespace
{

/// Is there anything behind the headers of this packet, as a point-to-point device sends it?
bool
HasPayload(const Ptr<const Packet>& packet)
{
    // PPP 2 bytes, IPv4 20, TCP at most 60: above that no look inside is needed, which keeps this
    // count from slowing the run that it measures.
    constexpr uint32_t LargestHeaders = 82;
    if (packet->GetSize() > LargestHeaders)
    {
        return true;
    }
    const auto copy = packet->Copy();
    PppHeader ppp;
    Ipv4Header ip;
    TcpHeader tcp;
    copy->RemoveHeader(ppp);
    copy->RemoveHeader(ip);
    copy->RemoveHeader(tcp);
    return copy->GetSize() > 0;
}

} // namespace

StockNetwork::StockNetwork(const Topology& topology, uint16_t mtuBytes)
    : m_topology(&topology),
      m_addresses(topology.GetNodes().size())
{
    m_nodes.Create(static_cast<uint32_t>(topology.GetNodes().size()));
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.SetRoutingHelper(Ipv4NixVectorHelper());
    stack.Install(m_nodes);
    for (LinkId link = 0; link < topology.GetLinks().size(); ++link)
    {
        AddLink(link, mtuBytes);
    }
}

void
StockNetwork::AddLink(LinkId id, uint16_t mtuBytes)
{
    const auto& link = m_topology->GetLinks()[id];
    PointToPointHelper helper;
    helper.SetDeviceAttribute("DataRate", DataRateValue(link.rate));
    helper.SetDeviceAttribute("Mtu", UintegerValue(mtuBytes));
    helper.SetChannelAttribute("Delay", TimeValue(link.delay));
    helper.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
    helper.DisableFlowControl(); // without a queue disc, flow control would only drop packets
    const auto devices = helper.Install(m_nodes.Get(link.a), m_nodes.Get(link.b));
    const std::array<NodeId, 2> ends{link.a, link.b};
    for (uint32_t end = 0; end < ends.size(); ++end)
    {
        const auto device = devices.Get(end);
        device->TraceConnectWithoutContext("PhyTxBegin",
                                           MakeCallback(&StockNetwork::OnTransmit, this));
        device->TraceConnectWithoutContext("MacTxDrop", MakeCallback(&StockNetwork::OnDrop, this));
        // A /30 for each link in 10.0.0.0/8. Ipv4AddressHelper would add a queue disc.
        const Ipv4Address address((10U << 24) + 4 * id + 1 + end);
        const auto ipv4 = m_nodes.Get(ends[end])->GetObject<Ipv4>();
        const auto interface = ipv4->AddInterface(device);
        ipv4->AddAddress(interface, Ipv4InterfaceAddress(address, Ipv4Mask("/30")));
        ipv4->SetUp(interface);
        if (interface == 1) // 0 is the loopback
        {
            m_addresses[ends[end]] = address;
        }
    }
}

Ptr<Node>
StockNetwork::GetNode(uint32_t endpoint) const
{
    return m_nodes.Get(m_topology->GetEndpoints()[endpoint]);
}

Ipv4Address
StockNetwork::GetAddress(uint32_t endpoint) const
{
    return m_addresses[m_topology->GetEndpoints()[endpoint]];
}

uint64_t
StockNetwork::GetDataPacketHops() const
{
    return m_dataPacketHops;
}

uint64_t
StockNetwork::GetControlPacketHops() const
{
    return m_controlPacketHops;
}

uint64_t
StockNetwork::GetDroppedPackets() const
{
    return m_droppedPackets;
}

// ns-3's trace sources fix the types of these parameters.
// NOLINTBEGIN(performance-unnecessary-value-param)
void
StockNetwork::OnTransmit(Ptr<const Packet> packet)
{
    ++(HasPayload(packet) ? m_dataPacketHops : m_controlPacketHops);
}

void
StockNetwork::OnDrop(Ptr<const Packet> /* packet */)
{
    ++m_droppedPackets;
}

// NOLINTEND(performance-unnecessary-value-param)

} // namespace ns3::gradsync
