// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FLARE_NODE_H
#define GRADSYNC_FLARE_NODE_H

#include "ns3/block-sum.h"
#include "ns3/handler-cores.h"
#include "ns3/tree-node.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace ns3::gradsync
{

/// A switch of FLARE: every packet of an aggregation is a handler's on one of its cores, which
/// takes time for the packet and for each value.
class FlareNode final : public TreeNode
{
  public:
    struct Settings
    {
        uint32_t cores;
        uint32_t headerBytes; //!< of every packet on the wire
        Time handlerTime;     //!< of a packet, whatever is in it
        Time copyTime;        //!< of a value that is the first in its place
        Time addTime;         //!< of a value that is added to another
        uint32_t buffers;     //!< of a block, of FlareSum::Multiple
        bool addsFloats;      //!< values are the bits of floats
    };

    /// All must outlive this.
    FlareNode(FabricSwitch& forwarder,
              PacketPool& pool,
              AggregationContents& contents,
              NodeId node,
              const Settings& settings);

    /// How a job adds.
    struct Use
    {
        FlareSum sum;
        uint32_t sparseValues; //!< of a block, whose packets have those that are not 0; 0: dense
    };

    /// Before the AddJob of its number.
    void SetUse(uint16_t number, const Use& use);
    void RemoveJob(uint16_t number) override;
    void LoseJobs() override;
    void AddStatistics(AggregationStatistics& total) const override;

  private:
    /// A packet on a core.
    struct Task
    {
        FabricPacket* packet;
        uint16_t port;
        bool hasBegun{false};                       //!< the handler runs
        std::optional<Contribution> contribution{}; //!< of one that adds
    };

    void OnPacket(FabricPacket* packet, Job& job, uint16_t port, TimeStepCount now) override;
    void SetSize(FabricPacket& packet, const Entry& entry) const override;
    std::optional<Time> Step(Task& task);
    Time GetFixedTime(const FabricPacket& packet) const;
    std::optional<Time> Begin(Task& task, Job& job);
    std::optional<Time> Continue(Task& task, Job& job);
    BlockTimes GetTimes(const FabricPacket& packet) const;

    Settings m_settings;
    HandlerCores m_cores;
    std::map<uint16_t, Use> m_uses; //!< [job]
    /// [job, sequence] that are not complete.
    std::map<std::pair<uint16_t, uint64_t>, std::unique_ptr<BlockSum>> m_blocks;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FLARE_NODE_H
