// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_SWITCH_NODE_H
#define GRADSYNC_P4_SWITCH_NODE_H

#include "ns3/fabric-switch.h"
#include "ns3/network-aggregation.h"
#include "ns3/p4-pipeline.h"
#include "ns3/packet-pool.h"
#include "ns3/slot-contents.h"
#include "ns3/switch-program.h"
#include "ns3/topology.h"

#include <cstdint>
#include <memory>
#include <string>

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
    /// Where the switch is; all must outlive it.
    struct Place
    {
        NodeId node;
        const Topology* topology;
        FabricSwitch* forwarder;
        PacketPool* pool;
        SlotContents* contents;
        NetworkAggregation* frames; //!< who knows what packets look like
    };

    P4SwitchNode(const Place& place, std::shared_ptr<const P4Program> program);

    /// Takes every packet but those of ATP. \throws P4Error, see P4Pipeline::Process
    bool Process(FabricPacket* packet, uint16_t port, TimeStepCount now) override;

    P4Pipeline& GetPipeline()
    {
        return m_pipeline;
    }

    const P4Pipeline& GetPipeline() const
    {
        return m_pipeline;
    }

    /// The node at the other end of a port's link.
    NodeId GetPeer(uint16_t port) const;

    const Place& GetPlace() const
    {
        return m_place;
    }

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

    Place m_place;
    P4Pipeline m_pipeline;
    uint64_t m_strays{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_SWITCH_NODE_H
