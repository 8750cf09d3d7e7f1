// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TCP_EXISTING_NETWORK_H
#define GRADSYNC_TCP_EXISTING_NETWORK_H

#include "ns3/network-reader.h"
#include "ns3/tcp-network.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * A network that a program has built, and whose links others may share. Counts what the connections
 * of the transport put on its links, and changes nothing.
 *
 * Connections are known by their listening ends: no other one has their address and port.
 */
class TcpExistingNetwork final : public TcpNetwork
{
  public:
    explicit TcpExistingNetwork(const ExistingNetwork& network);
    ~TcpExistingNetwork() override;

    Ptr<Node> GetNode(uint32_t endpoint) const override;
    Ipv4Address GetAddress(uint32_t endpoint) const override;
    std::string GetName(uint32_t endpoint) const override;
    /// 0: the program may want any that is not ephemeral.
    uint16_t GetListeningPort() const override;
    void OnListening(uint32_t endpoint, uint16_t port) override;

    /// \throws std::invalid_argument: PointToPointHelper does so
    void Capture(LinkId link, const std::string& folder) override;

  private:
    class PortProbe;
    void Watch(size_t index, const Ptr<PointToPointNetDevice>& sender);

    std::vector<ExistingHost> m_hosts;                         //!< [endpoint]
    std::vector<std::pair<Ipv4Address, uint16_t>> m_listeners; //!< sorted
    std::vector<std::unique_ptr<PortProbe>> m_probes;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TCP_EXISTING_NETWORK_H
