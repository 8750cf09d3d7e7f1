// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NETREDUCE_SESSION_H
#define GRADSYNC_NETREDUCE_SESSION_H

#include "ns3/netreduce-worker.h"
#include "ns3/tree-session.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

class NetReduceDriver;

/// A group in NetReduce: a ring of RoCE connections along the tree of boxes.
class NetReduceSession final : public TreeSession
{
  public:
    NetReduceSession(NetReduceDriver& driver, const AggregationGroup& group, uint32_t id);

    void Open() override;
    std::optional<AggregationLoad> DescribeLoad() const override;
    bool Rebuild() override;
    void Equip(FabricPacket& packet, uint32_t endpoint, const MessagePlace& place) override;
    uint16_t GetSendingPort(uint32_t endpoint) const override;

  private:
    Memory GetMemory(const SwitchTree::Hop& hop) const override;
    void AddRole(AggregationNode& node, const AggregationRole& role) override;
    void AddWorkers();
    void LinkRing();
    uint32_t GetKeptPackets() const;

    NetReduceDriver& m_driver;
    NetReduceWorker::Settings m_settings{};
    std::vector<NetReduceWorker*> m_workers; //!< all
    std::map<uint32_t, uint32_t> m_rankOf;   //!< by endpoint
    uint64_t m_firstPacket{0};               //!< with which the boxes begin
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NETREDUCE_SESSION_H
