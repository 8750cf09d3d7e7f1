// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FABRIC_SWITCH_H
#define GRADSYNC_FABRIC_SWITCH_H

#include "ns3/fabric-node.h"
#include "ns3/load-balancing.h"
#include "ns3/packet-pool.h"
#include "ns3/path-selector.h"
#include "ns3/routing-tables.h"
#include "ns3/state-words.h"
#include "ns3/switch-buffer.h"
#include "ns3/switch-program.h"
#include "ns3/switch-rounds.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// A node that forwards: an Ethernet switch, or a NIC, PCIe switch or root complex inside a server.
class FabricSwitch final : public FabricNode
{
  public:
    /// \param ports egress ports by number; they, the routes and the pool must outlive the switch
    FabricSwitch(NodeId node,
                 std::vector<FabricPort*> ports,
                 const RoutingTables& routes,
                 const NextHopChooser& chooser,
                 PacketPool& pool);

    /// \throws std::invalid_argument when the buffer cannot hold the headrooms
    void InstallBuffer(const SwitchBuffer::Config& config,
                       const std::vector<IngressConfig>& ingress);

    void Receive(FabricPacket* packet, uint16_t port, TimeStepCount now) override
    {
        Receive(packet, port, nullptr, now);
    }

    /// Likewise. \param egress that PrefetchEgress gave for the packet, nothing changed since;
    /// nullptr: is still to be chosen
    void Receive(FabricPacket* packet, uint16_t port, FabricPort* egress, TimeStepCount now);

    void Expect(uint16_t port, TimeStepCount arrival) override
    {
        m_rounds->Expect(m_number, port, arrival);
    }

    /// It goes on in rounds; null: no longer. \param links that lead to it, by port
    void SetRounds(SwitchRounds* rounds, const std::vector<FabricPort*>& links);

    bool GoesInRounds() const
    {
        return m_rounds != nullptr;
    }

    const FabricPort* PrefetchFor(const FabricPacket& packet, uint32_t round) const override;

    /// Fetches what PrefetchEgress looks at.
    void PrefetchRoute(const FabricPacket& packet) const;

    /// Fetches the port by which a packet leaves. \returns it; nullptr: it is chosen later
    FabricPort* PrefetchEgress(const FabricPacket& packet) const;

    NodeId GetNode() const
    {
        return m_node;
    }

    /// A packet that may be dropped is, where it would make a queue longer than this.
    void SetDroppableBytes(uint64_t bytes)
    {
        m_droppableBytes = bytes;
    }

    /// Data packets choose their path so; others, and all without, by the chooser.
    void SetSelector(std::unique_ptr<PathSelector> selector)
    {
        m_selector = std::move(selector);
    }

    /// Packets that are meant for programs go to this one; nullptr: none.
    void SetProgram(SwitchProgram* program)
    {
        m_program = program;
    }

    SwitchProgram* GetProgram() const
    {
        return m_program;
    }

    bool HasProgram() const
    {
        return m_program || m_programTakesAll;
    }

    /// Whether all packets but those of PFC and floods are meant for the program.
    void SetProgramTakesAll(bool takesAll)
    {
        m_programTakesAll = takesAll;
    }

    bool DoesProgramTakeAll() const
    {
        return m_programTakesAll;
    }

    /// From now on the program hears of departures, at the times at which they happen. It must
    /// outlive the switch.
    void WatchDepartures(SwitchProgram& program);

    FabricPort& GetPort(uint16_t port) const
    {
        return *m_ports[port];
    }

    /// Sends a data packet, or drops it for want of room. \param ingress port that it is accounted
    /// to
    void Emit(FabricPacket* packet, uint16_t ingress, uint16_t egress, TimeStepCount now);
    /// Likewise, on the way to its destination.
    void EmitTo(FabricPacket* packet, uint16_t ingress, TimeStepCount now);

    /// \param routes must outlive the switch or the next call
    void SetRoutes(const RoutingTables& routes)
    {
        m_routes = &routes;
    }

    /// The link at a port died: it has no memory of a pause that it asked for.
    void ResetIngress(uint16_t port, TimeStepCount now)
    {
        m_buffer->ResetIngress(port, now);
    }

    /// How likely it is that a packet that came now would be given an idle port, from 0 to 1.
    double GetIdleShare(const FabricPacket& packet, TimeStepCount now) const;

    /// Of its memory, without what its ports keep for themselves.
    uint64_t GetSharedBytes() const
    {
        return m_buffer->GetSharedBytes();
    }

    /// What decides how it goes on, but for its ports.
    void AddState(StateWords& words) const;

    uint64_t GetUnroutablePackets() const
    {
        return m_unroutablePackets;
    }

  private:
    /// The port by which a packet leaves, or nullptr when there is no path any more.
    FabricPort* ChooseEgress(const FabricPacket& packet, TimeStepCount now) const;
    /// Likewise, where the selector has no say.
    FabricPort* ChooseByConnection(const FabricPacket& packet,
                                   std::span<const uint16_t> nextHops) const;

    /// Whether its way can be told before it comes: of those that are for programs only these know.
    static bool IsForeseen(const FabricPacket& packet)
    {
        return (packet.flags & PacketFlag::PROGRAM) == 0 && packet.kind < PacketKind::Pause;
    }

    bool IsForProgram(const FabricPacket& packet) const
    {
        return (packet.flags & PacketFlag::PROGRAM) != 0 || m_programTakesAll;
    }

    bool IsSelected(const FabricPacket& packet, std::span<const uint16_t> nextHops) const
    {
        return nextHops.size() > 1 && m_selector && packet.kind == PacketKind::Data;
    }

    void Forward(FabricPacket* packet, uint16_t ingress, FabricPort& egress, TimeStepCount now);
    bool IsUnwanted(const FabricPacket& packet, const FabricPort& egress) const;
    void DropUnroutable(FabricPacket* packet);

    NodeId m_node;
    std::vector<FabricPort*> m_ports;
    const RoutingTables* m_routes;
    NextHopChooser m_chooser;
    std::unique_ptr<PathSelector> m_selector; //!< of data packets; null: m_chooser chooses
    PacketPool& m_pool;
    SwitchProgram* m_program{nullptr};
    bool m_programTakesAll{false};
    std::unique_ptr<SwitchBuffer> m_buffer;
    uint64_t m_droppableBytes{UINT64_MAX};
    uint64_t m_unroutablePackets{0};
    SwitchRounds* m_rounds{nullptr}; //!< null: it is in step with the simulator
    uint32_t m_number{0};            //!< there
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FABRIC_SWITCH_H
