// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TCP_BUILT_NETWORK_H
#define GRADSYNC_TCP_BUILT_NETWORK_H

#include "ns3/load-balancing.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/packet.h"
#include "ns3/queue-disc.h"
#include "ns3/queue-size.h"
#include "ns3/routing-tables.h"
#include "ns3/tcp-flood.h"
#include "ns3/tcp-link-fault.h"
#include "ns3/tcp-network.h"
#include "ns3/topology.h"
#include "ns3/transport.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ns3
{
class PointToPointNetDevice;
}

namespace ns3::gradsync
{

/// What BuiltTcpNetwork builds of a topology.
struct TcpNetworkOptions
{
    uint16_t mtuBytes; //!< largest IP packet
    /// Made for every sending port of a node that forwards; without a value these have drop-tail
    /// queues in the device.
    std::optional<ObjectFactory> queueDisc;
    QueueSize queueSize; //!< of these drop-tail queues
    LoadBalancing loadBalancing;
    uint64_t hashSeed;
    double lossRate; //!< of packets on every link, independently
};

/**
 * A topology as ns-3 nodes with point-to-point devices and the IPv4 and TCP stack.
 *
 * Endpoints have queues without bound, as a host that is held back by its own stack; ns-3 has no
 * TCP small queues.
 */
class BuiltTcpNetwork final : public TcpNetwork
{
  public:
    BuiltTcpNetwork(std::shared_ptr<const Topology> topology,
                    const std::shared_ptr<const RoutingTables>& routes,
                    const TcpNetworkOptions& options);
    ~BuiltTcpNetwork() override;

    Ptr<Node> GetNode(uint32_t endpoint) const override;
    Ipv4Address GetAddress(uint32_t endpoint) const override;
    std::string GetName(uint32_t endpoint) const override;
    uint16_t GetListeningPort() const override;

    /// A fault changes a link: its devices' rate, its channel's delay, and what arrives.
    void SetLinkState(LinkId link, const LinkState& state);

    /**
     * By ns-3's own helpers: NAME.pcap of each end, and both in ns-3's ASCII format to NAME.tr of
     * the link's node a (MakeCaptureNames).
     */
    void Capture(LinkId link, const std::string& folder) override;

    /// A fault takes a host off its links, in both directions, or puts it back.
    void SetMuted(uint32_t endpoint, bool muted);

    /// Packets follow these routes from now on.
    void SetRoutes(const std::shared_ptr<const RoutingTables>& routes);

  private:
    class PortProbe;

    void AddNodes(const std::shared_ptr<const RoutingTables>& routes,
                  const TcpNetworkOptions& options);
    void AddLink(LinkId id, const TcpNetworkOptions& options);
    void AddPort(size_t index,
                 NodeId node,
                 const Ptr<PointToPointNetDevice>& device,
                 const TcpNetworkOptions& options);
    /// What a fault makes of the direction of a link that ends at this device.
    TcpLinkFault& GetFault(size_t index, const Ptr<PointToPointNetDevice>& receiver);
    TcpFlood& GetFlood(size_t index);
    void AddInterface(NodeId node, const Ptr<PointToPointNetDevice>& device);

    NodeContainer m_nodes;
    std::vector<std::optional<uint32_t>> m_endpointOf; //!< [node]
    std::vector<std::unique_ptr<PortProbe>> m_probes;
    std::vector<Ptr<PointToPointNetDevice>> m_devices;    //!< [2 * link + direction]: the sender
    std::map<size_t, Ptr<TcpLinkFault>> m_faults;         //!< by the same, once a fault was there
    std::map<size_t, std::unique_ptr<TcpFlood>> m_floods; //!< by the same, once one was there
    std::set<uint32_t> m_muted;                           //!< endpoints
    std::vector<std::string> m_captureNames; //!< [2 * link + end], once a link is captured
    int64_t m_nextStream{1};                 //!< random number streams, the same for every run
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TCP_BUILT_NETWORK_H
