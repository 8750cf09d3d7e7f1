// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ATP_SESSION_H
#define GRADSYNC_ATP_SESSION_H

#include "ns3/aggregation-session.h"
#include "ns3/atp-frame.h"
#include "ns3/atp-node.h"
#include "ns3/atp-server.h"
#include "ns3/atp-worker.h"

#include <cstdint>
#include <map>
#include <vector>

namespace ns3::gradsync
{

class AtpDriver;

/// A group in ATP: its parameter server, and the switches of the workers and of the server.
class AtpSession final : public AggregationSession
{
  public:
    AtpSession(AtpDriver& driver, const AggregationGroup& group, uint32_t id);

    void Open() override;
    bool IsHit(const AggregationOutage& outage) const override;
    bool Rebuild() override;

    /// A packet is at an endpoint.
    void Receive(const AggregationPacket& content, const FabricPacket& packet, uint32_t endpoint);

    /// Endpoint of the parameter server.
    uint32_t GetServer() const
    {
        return *GetGroup().server;
    }

    /// The header on the wire but for the level. \param aggregators of each switch
    AtpWireHeader MakeWireHeader(const AtpHeader& header, uint32_t aggregators) const;

  private:
    uint64_t GetMemoryBytes() const;
    void AddRoles();
    std::map<NodeId, AtpNode::Role> MakeRoles();
    NodeId FindLeaf(uint32_t endpoint) const;
    FabricPort& ChoosePort(uint32_t endpoint) const;
    void OnServerData(const AggregationPacket& content, const FabricPacket& packet);

    AtpWorker::Settings m_settings;
    AtpServer m_server;
    std::vector<uint32_t> m_racks; //!< bits of the workers of each switch of level 0
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ATP_SESSION_H
