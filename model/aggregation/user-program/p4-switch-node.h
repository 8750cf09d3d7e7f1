// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_SWITCH_NODE_H
#define GRADSYNC_P4_SWITCH_NODE_H

#include "ns3/aggregation-host.h"
#include "ns3/p4-pipeline.h"
#include "ns3/switch-program.h"
#include "ns3/topology.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

namespace ns3::gradsync
{

/**
 * A switch of the fabric that runs a P4 program: packets enter its pipeline as frames, byte for
 * byte as on the wire, and what it sends goes on with the bytes that it gave. Ports of the program
 * are those of the switch.
 *
 * A program that names the metadata of queues, or the time of egress, goes through egress when the
 * packet leaves the queue of its port, as in BMv2; any other at once, which nobody can tell apart.
 *
 * A packet that cannot be read back (of RoCE, of ATP) stays the packet that it is: the program
 * drops it, copies it, chooses its port, marks it (ECN) and changes its length; its other bytes are
 * made anew on every link.
 */
class P4SwitchNode final : public SwitchProgram
{
  public:
    /// \param host must outlive this \param takesAll packets that cannot be read back, too
    /// \throws std::invalid_argument with a text for the user when the switch has
    /// more ports than a program knows
    P4SwitchNode(AggregationHost& host,
                 NodeId node,
                 std::shared_ptr<const P4Program> program,
                 bool takesAll = false);

    /// Tells the fabric which packets and departures this is for. \param program that the switch
    /// has, which hands on to this
    void Watch(SwitchProgram& program);

    /// Whether the program gets a packet.
    bool Takes(const FabricPacket& packet) const;
    /// Takes every packet that it can. \throws P4Error, see P4Pipeline::Process
    bool Process(FabricPacket* packet, uint16_t port, TimeStepCount now) override;
    /// Egress of a packet that has waited. \throws P4Error, see P4Pipeline::Leave
    bool Depart(FabricPacket* packet, TimeStepCount start) override;

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

    /// Packets that the program sent to ports that the switch does not have, or that are too long,
    /// or packets that cannot be read back and were addressed to another host.
    uint64_t GetStrays() const
    {
        return m_strays;
    }

  private:
    /// A packet between ingress and egress.
    struct Waiting
    {
        std::shared_ptr<const P4WaitingPacket> packet;
        P4QueueReport report;
        uint16_t ingress;
        uint16_t egress;
        uint32_t destinationIp; //!< as the packet came in
    };

    /// What a packet that came in is to its outputs.
    struct Cause
    {
        FabricPacket packet;    //!< a copy
        FabricPacket* original; //!< what the first output becomes; null: there was one
        uint16_t ingress;
        uint32_t destinationIp;                   //!< as it came in
        std::optional<AggregationPacket> content; //!< of one that cannot be read back
    };

    /// What the program sees as time, as with BMv2.
    static uint64_t GetMicroseconds(TimeStepCount now);
    bool IsReadable(const FabricPacket& packet) const;
    void SendAll(std::span<const P4OutputPacket> outputs, Cause& cause, TimeStepCount now);
    void SendQueued(std::deque<P4OutputPacket> outputs, Cause& cause, TimeStepCount now);
    void Send(const P4OutputPacket& output, Cause& cause, TimeStepCount now);
    void Wait(const P4OutputPacket& output, Cause& cause, TimeStepCount now);
    FabricPacket* MakePacket(const P4OutputPacket& output, Cause& cause);
    bool Fill(FabricPacket& packet, const P4OutputPacket& output, uint32_t destinationIp);
    bool Change(FabricPacket& packet, const P4OutputPacket& output, uint32_t destinationIp);
    void Emit(FabricPacket* packet, const Cause& cause, uint16_t egress, TimeStepCount now);
    bool HasPort(const P4OutputPacket& output);

    AggregationHost& m_host;
    AggregationNetwork& m_network;
    NodeId m_node;
    P4Pipeline m_pipeline;
    bool m_takesAll;
    std::unordered_map<const FabricPacket*, Waiting> m_waiting;
    uint64_t m_strays{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_SWITCH_NODE_H
