// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/flood-source.h"

#include "ns3/simulator.h"

namespace ns3::gradsync
{

namespace
{
constexpr uint16_t WIRE_BYTES = 1538;
} // namespace

FloodSource::FloodSource(FabricPort& port, PacketPool& pool)
    : m_port(port),
      m_pool(pool),
      m_clock(WIRE_BYTES, [this] { Send(); })
{
}

void
FloodSource::SetBitRate(double bitRate)
{
    m_clock.SetBitRate(bitRate);
}

void
FloodSource::Send()
{
    auto* packet = m_pool.Take();
    packet->connection = UINT32_MAX;
    packet->payloadBytes = 0;
    packet->wireBytes = WIRE_BYTES;
    packet->kind = PacketKind::Flood;
    packet->flags = 0;
    m_port.SendControl(packet, Simulator::Now().GetTimeStep());
}

} // namespace ns3::gradsync
