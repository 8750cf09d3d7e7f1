// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ATP_NODE_H
#define GRADSYNC_ATP_NODE_H

#include "ns3/aggregation-node.h"
#include "ns3/atp-switch.h"
#include "ns3/fabric-switch.h"
#include "ns3/packet-pool.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/// ATP at a switch to which workers or the parameter server of a job are attached.
class AtpNode final : public AggregationNode
{
  public:
    /// The part of this switch in a job.
    struct Role
    {
        uint32_t all;                  //!< bits of the workers whose packets meet here
        bool isServerSide;             //!< the parameter server is attached to it
        std::vector<uint32_t> workers; //!< endpoints that are attached to it
        std::vector<uint32_t> racks; //!< server side: an endpoint of each other switch with workers
    };

    /// All must outlive this.
    AtpNode(FabricSwitch& forwarder,
            PacketPool& pool,
            AggregationContents& contents,
            const AtpSwitch::Config& config);

    void AddJob(uint16_t job, const Role& role);
    void RemoveJob(uint16_t job) override;
    void LoseJobs() override;

    bool Process(FabricPacket* packet, uint16_t port, TimeStepCount now) override;

    bool Concerns(const AggregationPacket& packet) const override;
    std::optional<uint32_t> FindPlace(const AggregationPacket& packet) const override;
    void AddStatistics(AggregationStatistics& total) const override;

    const AtpSwitch& GetSwitch() const
    {
        return m_switch;
    }

  private:
    bool OnData(FabricPacket* packet, const Role& role);
    void Answer(FabricPacket* packet, uint16_t port, const Role& role, TimeStepCount now);
    void SendCopy(const FabricPacket& packet,
                  AtpStage stage,
                  uint32_t endpoint,
                  uint16_t port,
                  TimeStepCount now);

    FabricSwitch& m_forwarder;
    PacketPool& m_pool;
    AggregationContents& m_contents;
    AtpSwitch m_switch;
    std::map<uint16_t, Role> m_jobs;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ATP_NODE_H
