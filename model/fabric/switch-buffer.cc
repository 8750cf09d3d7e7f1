// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/switch-buffer.h"

#include "ns3/wire-format.h"

#include <fmt/format.h>
#include <stdexcept>

namespace ns3::gradsync
{

SwitchBuffer::SwitchBuffer(const Config& config,
                           std::span<FabricPort* const> ports,
                           const std::vector<IngressConfig>& ingress,
                           PacketPool& pool)
    : m_config(config),
      m_ports(ports),
      m_pool(pool)
{
    uint64_t headroomBytes = 0;
    for (const auto& port : ingress)
    {
        m_ingress.push_back({.bytes = 0, .lossless = port.lossless, .pausing = false});
        headroomBytes += port.lossless ? port.headroomBytes : 0;
    }
    if (headroomBytes >= config.totalBytes)
    {
        throw std::invalid_argument(
            fmt::format("a switch buffer of {} bytes (attribute BufferBytes) is too small: the PFC "
                        "headroom of its {} ports alone takes {} bytes",
                        config.totalBytes,
                        ingress.size(),
                        headroomBytes));
    }
    m_sharedBytes = config.totalBytes - headroomBytes;
}

double
SwitchBuffer::GetThreshold(double alpha) const
{
    return m_usedBytes < m_sharedBytes ? alpha * static_cast<double>(m_sharedBytes - m_usedBytes)
                                       : 0.0;
}

void
SwitchBuffer::SyncAll(TimeStepCount now)
{
    for (auto* port : m_ports)
    {
        port->Sync(now);
    }
}

bool
SwitchBuffer::Admit(uint16_t ingressPort,
                    const FabricPort& egress,
                    uint32_t wireBytes,
                    TimeStepCount now)
{
    auto& ingress = m_ingress[ingressPort];
    const auto hasRoom = [&] {
        const auto queueBytes = static_cast<double>(egress.GetQueueBytes() + wireBytes);
        return m_usedBytes + wireBytes <= m_config.totalBytes &&
               (ingress.lossless || queueBytes <= GetThreshold(m_config.dropAlpha));
    };
    if (!hasRoom())
    {
        SyncAll(now);
        if (!hasRoom())
        {
            return false;
        }
    }
    m_usedBytes += wireBytes;
    ingress.bytes += wireBytes;
    const auto isHigh = [&] {
        return static_cast<double>(ingress.bytes) > GetThreshold(m_config.pauseAlpha);
    };
    if (ingress.lossless && !ingress.pausing && isHigh())
    {
        SyncAll(now);
        if (isHigh())
        {
            Pause(ingressPort, now);
        }
    }
    return true;
}

void
SwitchBuffer::Pause(uint16_t ingressPort, TimeStepCount now)
{
    m_ingress[ingressPort].pausing = true;
    if (m_pausingCount++ == 0)
    {
        for (auto* port : m_ports)
        {
            port->SetEager(true, now);
        }
    }
    SendPfc(ingressPort, PacketKind::Pause, now);
}

void
SwitchBuffer::ResumeIfLow(uint16_t ingressPort, TimeStepCount now)
{
    auto& ingress = m_ingress[ingressPort];
    const auto wanted = static_cast<double>(ingress.bytes + m_config.resumeOffsetBytes);
    if (ingress.bytes > 0 && wanted > GetThreshold(m_config.pauseAlpha))
    {
        return;
    }
    EndPause(ingressPort, now);
    SendPfc(ingressPort, PacketKind::Resume, now);
}

void
SwitchBuffer::ResetIngress(uint16_t ingressPort, TimeStepCount now)
{
    if (m_ingress[ingressPort].pausing)
    {
        EndPause(ingressPort, now);
    }
}

void
SwitchBuffer::EndPause(uint16_t ingressPort, TimeStepCount now)
{
    m_ingress[ingressPort].pausing = false;
    if (--m_pausingCount == 0)
    {
        for (auto* port : m_ports)
        {
            port->SetEager(false, now);
        }
    }
}

void
SwitchBuffer::SendPfc(uint16_t ingressPort, PacketKind kind, TimeStepCount now)
{
    auto* packet = m_pool.Take();
    *packet = FabricPacket{};
    packet->kind = kind;
    packet->wireBytes = wire::PFC_BYTES;
    m_ports[ingressPort]->SendControl(packet, now);
}

} // namespace ns3::gradsync
