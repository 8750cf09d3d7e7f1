// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TCP_NETWORK_H
#define GRADSYNC_TCP_NETWORK_H

#include "ns3/ipv4-address.h"
#include "ns3/node.h"
#include "ns3/topology.h"
#include "ns3/transport-statistics.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// The ns-3 nodes and devices under a TcpTransport, and what its connections put on their links.
class TcpNetwork
{
  public:
    virtual ~TcpNetwork() = default;
    TcpNetwork(const TcpNetwork&) = delete;
    TcpNetwork& operator=(const TcpNetwork&) = delete;

    const Topology& GetTopology() const
    {
        return *m_topology;
    }

    virtual Ptr<Node> GetNode(uint32_t endpoint) const = 0;
    /// By which the others reach it.
    virtual Ipv4Address GetAddress(uint32_t endpoint) const = 0;
    /// As messages to the user name it.
    virtual std::string GetName(uint32_t endpoint) const = 0;

    /// Connections to this address and port are the transport's. 0: whichever is free.
    virtual uint16_t GetListeningPort() const = 0;

    virtual void OnListening(uint32_t /* endpoint */, uint16_t /* port */)
    {
    }

    /// Writes what the two ends of a link send and receive. \throws std::invalid_argument where
    /// that is the program's own business
    virtual void Capture(LinkId link, const std::string& folder) = 0;

    /// Index: 2 * link + direction.
    const std::vector<LinkStatistics>& GetLinkStatistics() const
    {
        return m_statistics;
    }

    /// Packets that carry data.
    uint64_t GetDataPacketHops() const
    {
        return m_dataPacketHops;
    }

  protected:
    explicit TcpNetwork(std::shared_ptr<const Topology> topology)
        : m_topology(std::move(topology)),
          m_statistics(2 * m_topology->GetLinks().size())
    {
    }

    std::shared_ptr<const Topology> m_topology;
    // Probes at the devices count here.
    std::vector<LinkStatistics> m_statistics;
    uint64_t m_dataPacketHops{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TCP_NETWORK_H
