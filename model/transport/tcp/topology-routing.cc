// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/topology-routing.h"

#include "ns3/hash.h"
#include "ns3/ipv4-route.h"
#include "ns3/net-device.h"
#include "ns3/output-stream-wrapper.h"
#include "ns3/packet.h"

#include <array>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(TopologyRouting);

namespace
{

constexpr uint32_t FIRST_ADDRESS = (10U << 24) + 1; //!< 10.0.0.1 is endpoint 0

/// Same for all packets of a connection: addresses, and the ports that lead the TCP header.
uint32_t
HashFlow(const Ptr<const Packet>& packet, const Ipv4Header& header)
{
    std::array<uint8_t, 12> key{};
    header.GetSource().Serialize(key.data());
    header.GetDestination().Serialize(key.data() + 4);
    if (packet)
    {
        packet->CopyData(key.data() + 8, 4);
    }
    return Hash32(reinterpret_cast<const char*>(key.data()), key.size());
}

} // namespace

TypeId
TopologyRouting::GetTypeId()
{
    static TypeId tid = TypeId("ns3::gradsync::TopologyRouting")
                            .SetParent<Ipv4RoutingProtocol>()
                            .SetGroupName("GradSync")
                            .AddConstructor<TopologyRouting>();
    return tid;
}

TopologyRouting::TopologyRouting() = default;
TopologyRouting::~TopologyRouting() = default;

void
TopologyRouting::DoDispose()
{
    m_routeOfPort.clear();
    m_routes.reset();
    m_ipv4 = nullptr;
    Ipv4RoutingProtocol::DoDispose();
}

void
TopologyRouting::Install(std::shared_ptr<const RoutingTables> routes,
                         NodeId node,
                         const NextHopChooser& chooser)
{
    m_routes = std::move(routes);
    m_node = node;
    m_chooser = chooser;
}

void
TopologyRouting::SetRoutes(std::shared_ptr<const RoutingTables> routes)
{
    m_routes = std::move(routes);
}

Ipv4Address
TopologyRouting::GetAddress(uint32_t endpoint)
{
    return Ipv4Address(FIRST_ADDRESS + endpoint);
}

Ptr<Ipv4Route>
TopologyRouting::FindRoute(const Ptr<const Packet>& packet, const Ipv4Header& header)
{
    const auto endpoint = header.GetDestination().Get() - FIRST_ADDRESS;
    const auto ports = m_routes->GetNextHops(m_node, endpoint);
    if (ports.empty())
    {
        return nullptr;
    }
    const auto count = static_cast<uint32_t>(ports.size());
    const auto choice =
        count == 1 ? 0 : m_chooser.Choose(HashFlow(packet, header), endpoint, count);
    const auto port = ports[choice];
    m_routeOfPort.resize(std::max<size_t>(m_routeOfPort.size(), port + size_t{1}));
    auto& route = m_routeOfPort[port];
    if (!route)
    {
        const auto interface = port + 1U;
        route = Create<Ipv4Route>();
        route->SetOutputDevice(m_ipv4->GetNetDevice(interface));
        route->SetGateway(Ipv4Address::GetAny());
        if (m_ipv4->GetNAddresses(interface) > 0)
        {
            route->SetSource(m_ipv4->GetAddress(interface, 0).GetLocal());
        }
    }
    return route;
}

// ns-3's interface fixes the types of these parameters.
// NOLINTBEGIN(performance-unnecessary-value-param)
Ptr<Ipv4Route>
TopologyRouting::RouteOutput(Ptr<Packet> packet,
                             const Ipv4Header& header,
                             Ptr<NetDevice> /* device */,
                             Socket::SocketErrno& error)
{
    auto route = FindRoute(packet, header);
    error = route ? Socket::ERROR_NOTERROR : Socket::ERROR_NOROUTETOHOST;
    return route;
}

bool
TopologyRouting::RouteInput(Ptr<const Packet> packet,
                            const Ipv4Header& header,
                            Ptr<const NetDevice> device,
                            RouteInputParameter<3> forward,
                            RouteInputParameter<4> /* multicast */,
                            RouteInputParameter<5> deliver,
                            RouteInputParameter<6> fail)
{
    const auto interface = static_cast<uint32_t>(m_ipv4->GetInterfaceForDevice(device));
    if (m_ipv4->IsDestinationAddress(header.GetDestination(), interface))
    {
        deliver(packet, header, interface);
        return true;
    }
    const auto route = FindRoute(packet, header);
    if (!route)
    {
        fail(packet, header, Socket::ERROR_NOROUTETOHOST);
        return false;
    }
    forward(route, packet, header);
    return true;
}

void
TopologyRouting::NotifyInterfaceUp(uint32_t /* interface */)
{
}

void
TopologyRouting::NotifyInterfaceDown(uint32_t /* interface */)
{
}

void
TopologyRouting::NotifyAddAddress(uint32_t /* interface */, Ipv4InterfaceAddress /* address */)
{
}

void
TopologyRouting::NotifyRemoveAddress(uint32_t /* interface */, Ipv4InterfaceAddress /* address */)
{
}

void
TopologyRouting::SetIpv4(Ptr<Ipv4> ipv4)
{
    m_ipv4 = ipv4;
}

void
TopologyRouting::PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit /* unit */) const
{
    *stream->GetStream() << "node " << m_node << ": shortest paths of the topology\n";
}

// NOLINTEND(performance-unnecessary-value-param)

} // namespace ns3::gradsync
