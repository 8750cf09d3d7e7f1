// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_SWITCH_NODE_H
#define GRADSYNC_P4_SWITCH_NODE_H

#include "ns3/aggregation-host.h"
#include "ns3/p4-pipeline.h"
#include "ns3/switch-program.h"
#include "ns3/topology.h"

#include <cstdint>
#include <memory>

namespace ns3::gradsync
{

/**
 * A switch of the fabric that runs a P4 program: packets of aggregations enter its pipeline as
 * frames, byte for byte as on the wire, and what it sends goes on with the bytes that it gave.
 * Ports of the program are those of the switch.
 */
class P4SwitchNode final : public SwitchProgram
{
  public:
    /// \param host must outlive this \throws std::invalid_argument with a text for the user when
    /// the switch has more ports than a program knows
    P4SwitchNode(AggregationHost& host, NodeId node, std::shared_ptr<const P4Program> program);

    /// Whether what a program makes of such packets can be read back.
    bool Takes(const AggregationPacket& content) const;
    /// Takes every packet that it can. \throws P4Error, see P4Pipeline::Process
    bool Process(FabricPacket* packet, uint16_t port, TimeStepCount now) override;

    P4Pipeline& GetPipeline()
    {
        return m_pipeline;
    }

    const P4Pipeline& GetPipeline() const
    {
        return m_pipeline;
    }

    /// Where the program runs.
    NodeId GetNode() const
    {
        return m_node;
    }

    /// The node at the other end of a port's link.
    NodeId GetPeer(uint16_t port) const;

    /// Packets that the program sent to ports that the switch does not have, or that are too long.
    uint64_t GetStrays() const
    {
        return m_strays;
    }

  private:
    void Send(const P4OutputPacket& output,
              const FabricPacket& cause,
              uint16_t port,
              TimeStepCount now);

    AggregationHost& m_host;
    AggregationNetwork& m_network;
    NodeId m_node;
    P4Pipeline m_pipeline;
    uint64_t m_strays{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_SWITCH_NODE_H
