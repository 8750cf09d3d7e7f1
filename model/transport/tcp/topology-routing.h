// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TOPOLOGY_ROUTING_H
#define GRADSYNC_TOPOLOGY_ROUTING_H

#include "ns3/ipv4-routing-protocol.h"
#include "ns3/load-balancing.h"
#include "ns3/ns3-interfaces.h"
#include "ns3/routing-tables.h"
#include "ns3/topology.h"

#include <memory>
#include <vector>

namespace ns3::gradsync
{

/**
 * IPv4 routing of one node by the RoutingTables that the other transports use too, so that all take
 * the same equal-cost paths. ns-3's own protocols search tables linearly or know one path.
 *
 * The node's IPv4 interface 1 + p is its port p in the Topology; 0 is the loopback.
 */
class TopologyRouting : public Ipv4RoutingProtocol
{
  public:
    static TypeId GetTypeId();

    TopologyRouting();
    ~TopologyRouting() override;

    void Install(std::shared_ptr<const RoutingTables> routes,
                 NodeId node,
                 const NextHopChooser& chooser);

    /// Packets follow these routes from now on.
    void SetRoutes(std::shared_ptr<const RoutingTables> routes);

    /// The address of an endpoint, on all its interfaces.
    static Ipv4Address GetAddress(uint32_t endpoint);

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet> packet,
                               const Ipv4Header& header,
                               Ptr<NetDevice> device,
                               Socket::SocketErrno& error) override;
    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv4Header& header,
                    Ptr<const NetDevice> device,
                    RouteInputParameter<3> forward,
                    RouteInputParameter<4> multicast,
                    RouteInputParameter<5> deliver,
                    RouteInputParameter<6> fail) override;
    void NotifyInterfaceUp(uint32_t interface) override;
    void NotifyInterfaceDown(uint32_t interface) override;
    void NotifyAddAddress(uint32_t interface, Ipv4InterfaceAddress address) override;
    void NotifyRemoveAddress(uint32_t interface, Ipv4InterfaceAddress address) override;
    void SetIpv4(Ptr<Ipv4> ipv4) override;
    void PrintRoutingTable(Ptr<OutputStreamWrapper> stream,
                           Time::Unit unit = Time::S) const override;

  protected:
    void DoDispose() override;

  private:
    Ptr<Ipv4Route> FindRoute(const Ptr<const Packet>& packet, const Ipv4Header& header);

    std::shared_ptr<const RoutingTables> m_routes;
    NodeId m_node{0};
    NextHopChooser m_chooser;
    Ptr<Ipv4> m_ipv4;
    std::vector<Ptr<Ipv4Route>> m_routeOfPort; //!< made when first used
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TOPOLOGY_ROUTING_H
