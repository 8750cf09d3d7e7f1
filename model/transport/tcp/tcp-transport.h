// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TCP_TRANSPORT_H
#define GRADSYNC_TCP_TRANSPORT_H

#include "ns3/inet-socket-address.h"
#include "ns3/network-reader.h"
#include "ns3/tcp-built-network.h"
#include "ns3/tcp-connection.h"
#include "ns3/tcp-network.h"
#include "ns3/traced-callback.h"
#include "ns3/transport.h"

#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * TCP by ns-3's own Internet stack: sockets, congestion control and queue discs on point-to-point
 * devices.
 *
 * One connection per (src, dst, stream), opened at the first message and kept, as NCCL and Gloo do.
 * Every packet costs what it costs in ns-3, some fifteen microseconds a hop: over hundred times the
 * fabric.
 */
class TcpTransport : public Transport,
                     public TransportCapabilities,
                     public TransportFaults,
                     private TcpConnectionObserver
{
  public:
    static TypeId GetTypeId();
    TcpTransport();
    ~TcpTransport() override;

    /// \throws std::invalid_argument when a type name or queue disc Attribute is wrong
    void Install(std::shared_ptr<const Topology> topology,
                 std::shared_ptr<const RoutingTables> routes) override;

    /**
     * In place of Install: between hosts of a network that is there already, whose routing,
     * devices and queues stay as they are. Only sockets follow the Attributes; there are no faults.
     * \throws std::invalid_argument when a type name is wrong, or segments do not fit a link
     */
    void InstallOn(const ExistingNetwork& network);

    /// \throws std::invalid_argument when an endpoint does not exist or the message goes to its
    /// sender; an unreachable receiver is reported to the handler
    void Send(const Message& message) override;

    /// \throws std::logic_error: ns-3's sockets cannot forget what they were given
    void Abandon(const MessageFilter& isMeant) override;

    TransportCapabilities* GetCapabilities() override;
    /// None of a network that was there already.
    TransportFaults* GetFaults() override;

    bool HasPackets() const override;
    /// Writes what the ends of a link see to pcap and ASCII files.
    void Capture(LinkId link, const std::string& folder) override;

    /// By the devices' own means.
    void SetLinkState(LinkId link, const LinkState& state) override;
    /// A host is cut off both ways, or not at all. \throws std::invalid_argument for one way only
    void SetEndpointState(uint32_t endpoint, const EndpointState& state) override;
    void SetRoutes(std::shared_ptr<const RoutingTables> routes) override;

    std::vector<LinkStatistics> GetLinkStatistics() const override;
    TransportStatistics GetStatistics() const override;

    /// Signature of the trace source "Timeout". \param src,dst endpoints of the connection
    using TimeoutCallback = void (*)(uint32_t src, uint32_t dst);

  protected:
    void DoDispose() override;

  private:
    void OnGoodput(uint64_t bytes) override;
    void OnRetransmission(uint32_t bytes) override;
    void OnTimeout(uint32_t src, uint32_t dst) override;
    std::string GetName(uint32_t endpoint) const override;

    TcpConnection& FindConnection(const Message& message);
    /// \returns where an endpoint accepts connections
    InetSocketAddress Listen(uint32_t endpoint);
    BuiltTcpNetwork& RequireBuilt() const;
    void OnAccept(Ptr<Socket> socket, const Address& from);
    Ptr<Socket> MakeSocket(uint32_t endpoint) const;

    uint32_t m_segmentBytes;
    std::string m_congestionOps;
    std::string m_queueDisc;
    QueueSize m_queueSize;
    LoadBalancing m_loadBalancing;
    uint64_t m_hashSeed;
    double m_lossRate;
    Time m_minRto;
    uint32_t m_initialWindow;
    uint32_t m_bufferBytes;
    Time m_delayedAckTimeout;
    uint32_t m_delayedAckCount;
    bool m_ecn;
    uint32_t m_retries;

    std::unique_ptr<TcpNetwork> m_network;
    BuiltTcpNetwork* m_built{nullptr};    //!< the same, when the transport has built it
    TypeId m_congestionType;              //!< of m_congestionOps
    std::vector<Ptr<Socket>> m_listeners; //!< [endpoint], null until something is sent there
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::unique_ptr<TcpConnection>>
        m_connections; //!< by (src, dst, stream)
    /// By address and port of the sender.
    std::map<std::pair<Ipv4Address, uint16_t>, TcpConnection*> m_bySender;
    uint64_t m_goodputBytes{0};
    uint64_t m_retransmittedPackets{0};
    uint64_t m_retransmittedBytes{0};
    TracedCallback<uint32_t, uint32_t> m_timeoutTrace; //!< trace source "Timeout"
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TCP_TRANSPORT_H
