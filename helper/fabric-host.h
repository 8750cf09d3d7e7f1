// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FABRIC_HOST_H
#define GRADSYNC_FABRIC_HOST_H

#include "ns3/exchange-engine.h"
#include "ns3/node-container.h"
#include "ns3/object.h"
#include "ns3/topology.h"
#include "ns3/transport.h"

#include <cstdint>
#include <memory>

namespace ns3::gradsync
{

/// What a FabricHelper has installed, as one of its Nodes knows it: aggregated to each of them.
class FabricHost : public Object
{
  public:
    static TypeId GetTypeId();

    /// All but the endpoint is the same for all Nodes of a network.
    void Attach(std::shared_ptr<const Topology> topology,
                const Ptr<Transport>& transport,
                const Ptr<ExchangeEngine>& engine,
                uint32_t endpoint);

    /// \throws std::invalid_argument for a Node that no FabricHelper has made
    static Ptr<FabricHost> Of(const Ptr<Node>& node);
    /// Of the first one, for what is common to all of a network. \throws std::invalid_argument
    /// likewise, and when there is none
    static Ptr<FabricHost> Of(const NodeContainer& hosts);

    const std::shared_ptr<const Topology>& GetTopology() const
    {
        return m_topology;
    }

    Ptr<Transport> GetTransport() const
    {
        return m_transport;
    }

    /// Runs the exchanges on this network, and has their trace sources.
    Ptr<ExchangeEngine> GetEngine() const
    {
        return m_engine;
    }

    /// Of this Node, in the order of the topology.
    uint32_t GetEndpoint() const
    {
        return m_endpoint;
    }

  protected:
    void DoDispose() override;

  private:
    std::shared_ptr<const Topology> m_topology;
    Ptr<Transport> m_transport;
    Ptr<ExchangeEngine> m_engine;
    uint32_t m_endpoint{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FABRIC_HOST_H
