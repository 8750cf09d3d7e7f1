// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NODE_PROGRAMS_H
#define GRADSYNC_NODE_PROGRAMS_H

#include "ns3/aggregation-host.h"
#include "ns3/aggregation-node.h"
#include "ns3/p4-switch-node.h"
#include "ns3/switch-pipelines.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::gradsync
{

/// What a node of the fabric does with packets of aggregations: its parts in protocols, or a
/// program of the user in their place, behind the pipelines of a switch that has limits.
class NodePrograms final : public SwitchProgram
{
  public:
    /// \param host must outlive this
    NodePrograms(AggregationHost& host, NodeId node);
    ~NodePrograms();

    /// From now on packets pass pipelines with these limits.
    void SetLimits(const SwitchPipelines::Limits& limits);

    void SetUserProgram(std::unique_ptr<P4SwitchNode> program);

    /// The part in the protocol of a driver; nullptr: none.
    AggregationNode* FindPart(uint8_t driver) const;
    AggregationNode& AddPart(uint8_t driver, std::unique_ptr<AggregationNode> part);

    /// The parts forget all that they aggregate.
    void LoseJobs();

    void AddStatistics(AggregationStatistics& total) const;
    /// Packets that a program of the user sent nowhere.
    uint64_t GetStrays() const;

    bool Process(FabricPacket* packet, uint16_t port, TimeStepCount now) override;
    bool Depart(FabricPacket* packet, TimeStepCount start) override;

  private:
    bool ProcessNow(FabricPacket* packet, uint16_t port, TimeStepCount now);
    bool EnterPipelines(FabricPacket* packet, uint16_t port);
    bool GiveUp(FabricPacket* packet);

    AggregationHost& m_host;
    NodeId m_node;
    AggregationContents& m_contents;
    PacketPool& m_pool;
    FabricSwitch* m_forwarder;
    std::vector<std::unique_ptr<AggregationNode>> m_parts; //!< [driver], null: none
    std::unique_ptr<P4SwitchNode> m_user;         //!< takes what it can, where there is one
    std::unique_ptr<SwitchPipelines> m_pipelines; //!< null: no limits
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NODE_PROGRAMS_H
