// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fabric-switch.h"

#include "ns3/port-prefetch.h"

#include <utility>

namespace ns3::gradsync
{

FabricSwitch::FabricSwitch(NodeId node,
                           std::vector<FabricPort*> ports,
                           const RoutingTables& routes,
                           const NextHopChooser& chooser,
                           PacketPool& pool)
    : m_node(node),
      m_ports(std::move(ports)),
      m_routes(&routes),
      m_chooser(chooser),
      m_pool(pool)
{
}

void
FabricSwitch::InstallBuffer(const SwitchBuffer::Config& config,
                            const std::vector<IngressConfig>& ingress)
{
    m_buffer = std::make_unique<SwitchBuffer>(config, m_ports, ingress, m_pool);
    for (auto* port : m_ports)
    {
        port->SetBuffer(m_buffer.get());
    }
}

void
FabricSwitch::SetRounds(SwitchRounds* rounds, const std::vector<FabricPort*>& links)
{
    m_rounds = rounds;
    m_number = rounds ? rounds->Add(*this, links) : 0;
    for (auto* port : m_ports)
    {
        port->SetRounds(rounds, m_number);
    }
}

void
FabricSwitch::WatchDepartures(SwitchProgram& program)
{
    for (auto* port : m_ports)
    {
        port->SetProgram(&program);
    }
}

FabricPort*
FabricSwitch::ChooseEgress(const FabricPacket& packet, TimeStepCount now) const
{
    const auto nextHops = m_routes->GetNextHops(m_node, packet.destination);
    return IsSelected(packet, nextHops) ? m_selector->Select(packet, nextHops, m_ports, now)
                                        : ChooseByConnection(packet, nextHops);
}

inline FabricPort*
FabricSwitch::ChooseByConnection(const FabricPacket& packet,
                                 std::span<const uint16_t> nextHops) const
{
    if (nextHops.size() == 1)
    {
        return m_ports[nextHops[0]];
    }
    if (nextHops.empty())
    {
        return nullptr;
    }
    const auto count = static_cast<uint32_t>(nextHops.size());
    return m_ports[nextHops[m_chooser.Choose(packet.flowHash, packet.destination, count)]];
}

const FabricPort*
FabricSwitch::PrefetchFor(const FabricPacket& packet, uint32_t round) const
{
    if (round == 0)
    {
        PrefetchRoute(packet);
    }
    return round == 1 ? PrefetchEgress(packet) : nullptr;
}

void
FabricSwitch::PrefetchRoute(const FabricPacket& packet) const
{
    if (IsForeseen(packet))
    {
        m_routes->PrefetchNextHops(m_node, packet.destination);
    }
}

FabricPort*
FabricSwitch::PrefetchEgress(const FabricPacket& packet) const
{
    if (!IsForeseen(packet))
    {
        return nullptr;
    }
    const auto nextHops = m_routes->GetNextHops(m_node, packet.destination);
    if (nextHops.empty() || IsSelected(packet, nextHops))
    {
        return nullptr;
    }
    auto* egress = ChooseByConnection(packet, nextHops);
    PortPrefetch::Self(*egress);
    return egress;
}

inline bool
FabricSwitch::IsUnwanted(const FabricPacket& packet, const FabricPort& egress) const
{
    return (packet.flags & PacketFlag::DROPPABLE) != 0 &&
           egress.GetQueueBytes() + packet.wireBytes > m_droppableBytes;
}

inline void
FabricSwitch::Forward(FabricPacket* packet, uint16_t ingress, FabricPort& egress, TimeStepCount now)
{
    egress.Sync(now);
    if (egress.IsFree(now))
    {
        egress.StartNow(packet, now);
    }
    else if (!IsUnwanted(*packet, egress) &&
             m_buffer->Admit(ingress, egress, packet->wireBytes, now))
    {
        packet->ingressPort = ingress;
        egress.QueueData(packet, now);
    }
    else
    {
        egress.CountDrop(*packet);
        m_pool.Give(packet);
    }
}

double
FabricSwitch::GetIdleShare(const FabricPacket& packet, TimeStepCount now) const
{
    if (IsForProgram(packet) || packet.kind != PacketKind::Data)
    {
        return 0.0;
    }
    const auto nextHops = m_routes->GetNextHops(m_node, packet.destination);
    if (IsSelected(packet, nextHops))
    {
        return m_selector->GetIdleShare(packet, nextHops, m_ports, now);
    }
    auto* egress = ChooseEgress(packet, now);
    if (!egress)
    {
        return 0.0;
    }
    egress->Sync(now);
    return egress->IsFree(now) ? 1.0 : 0.0;
}

void
FabricSwitch::Receive(FabricPacket* packet, uint16_t port, FabricPort* egress, TimeStepCount now)
{
    if (packet->kind == PacketKind::Data)
    {
        if (m_program && IsForProgram(*packet)) [[unlikely]]
        {
            if (m_program->Process(packet, port, now))
            {
                return;
            }
            egress = nullptr; // it may have changed the packet
        }
        egress = egress ? egress : ChooseEgress(*packet, now);
        if (!egress)
        {
            DropUnroutable(packet);
            return;
        }
        Forward(packet, port, *egress, now);
        return;
    }
    if (packet->kind == PacketKind::Pause || packet->kind == PacketKind::Resume)
    {
        m_ports[port]->SetPaused(packet->kind == PacketKind::Pause, now);
        m_pool.Give(packet);
        return;
    }
    if (m_programTakesAll && packet->kind != PacketKind::Flood) [[unlikely]]
    {
        if (m_program->Process(packet, port, now))
        {
            return;
        }
        egress = nullptr;
    }
    egress = egress ? egress : ChooseEgress(*packet, now);
    if (!egress)
    {
        DropUnroutable(packet);
        return;
    }
    egress->SendControl(packet, now);
}

void
FabricSwitch::Emit(FabricPacket* packet, uint16_t ingress, uint16_t egress, TimeStepCount now)
{
    Forward(packet, ingress, *m_ports[egress], now);
}

void
FabricSwitch::EmitTo(FabricPacket* packet, uint16_t ingress, TimeStepCount now)
{
    if (auto* egress = ChooseEgress(*packet, now))
    {
        Forward(packet, ingress, *egress, now);
        return;
    }
    DropUnroutable(packet);
}

void
FabricSwitch::DropUnroutable(FabricPacket* packet)
{
    ++m_unroutablePackets;
    m_pool.Give(packet);
}

} // namespace ns3::gradsync
