// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/flood-source.h"

#include "ns3/simulator.h"

#include <cmath>

namespace ns3::gradsync
{

namespace
{
constexpr uint16_t WIRE_BYTES = 1538;
} // namespace

FloodSource::FloodSource(FabricPort& port, PacketPool& pool)
    : m_port(port),
      m_pool(pool)
{
}

FloodSource::~FloodSource()
{
    Cancel();
}

void
FloodSource::Cancel()
{
    // Not EventId::Cancel, which makes a new simulator when the old one is destroyed already.
    if (auto* event = m_event.PeekEventImpl())
    {
        event->Cancel();
    }
}

void
FloodSource::SetBitRate(double bitRate)
{
    if (bitRate == m_bitRate)
    {
        return;
    }
    Cancel();
    m_bitRate = bitRate;
    if (bitRate > 0.0)
    {
        const auto stepsPerSecond = static_cast<double>(Seconds(1).GetTimeStep());
        m_interval = TimeStep(std::llround(8.0 * WIRE_BYTES / bitRate * stepsPerSecond));
        m_event = Simulator::ScheduleNow(&FloodSource::Send, this);
    }
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
    m_event = Simulator::Schedule(m_interval, &FloodSource::Send, this);
}

} // namespace ns3::gradsync
