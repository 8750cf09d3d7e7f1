// SPDX-License-Identifier: GPL-2.0-only
// What ports have the cache fetch before it is needed.
#include "ns3/fabric-node.h"
#include "ns3/fabric-port.h"
#include "ns3/radix-scheduler.h"

#include <array>
#include <typeinfo>

namespace ns3::gradsync
{

void
FabricPort::PrefetchArrivals(std::span<EventImpl* const> next)
{
    for (const auto* event : next)
    {
        Prefetch(event, 1); // of a port its first line
    }
    std::array<const FabricPort*, RadixScheduler::PREFETCH_COUNT> ports;
    std::array<const FabricPort*, RadixScheduler::PREFETCH_COUNT> departing;
    size_t count = 0;
    size_t departingCount = 0;
    for (auto* event : next)
    {
        if (typeid(*event) == typeid(FabricPort)) [[likely]] // most are, and others take a strcmp
        {
            const auto* port = ports[count++] = static_cast<const FabricPort*>(event);
            Prefetch(port->m_firstFlying);
            if (port->MayStart())
            {
                Prefetch(port->m_lastFlying);
                Prefetch(port, HOT_BYTES);
            }
        }
        else if (typeid(*event) == typeid(Departure) && !event->IsCancelled())
        {
            // A cancelled one may be of a port that is gone.
            departing[departingCount] = static_cast<const Departure*>(event)->GetPort();
            Prefetch(departing[departingCount++], HOT_BYTES);
        }
    }
    PrefetchArrivalsAt({ports.data(), count});
    for (size_t i = 0; i < departingCount; ++i)
    {
        departing[i]->PrefetchPackets();
    }
}

/// Fetches what the arrivals touch beyond their ports and packets, which were fetched.
void
FabricPort::PrefetchArrivalsAt(std::span<const FabricPort* const> ports)
{
    std::array<const FabricPort*, RadixScheduler::PREFETCH_COUNT> egresses{};
    for (uint32_t round = 0; round < FabricNode::PREFETCH_ROUNDS; ++round)
    {
        for (size_t i = 0; i < ports.size(); ++i)
        {
            const auto& port = *ports[i];
            if (round == 0 && port.m_controlWaits)
            {
                Prefetch(port.m_control.GetFirstOther());
            }
            if (round == 0 && port.m_dataWaits)
            {
                Prefetch(port.m_data.Front());
            }
            else if (!port.m_sourceEmpty && !port.m_dataWaits)
            {
                port.m_source->PrefetchPull(round);
            }
            if (egresses[i])
            {
                egresses[i]->PrefetchForOne(port.m_firstFlying->arrival);
            }
            else if (port.m_firstFlying)
            {
                egresses[i] = port.m_peer->PrefetchFor(*port.m_firstFlying, round);
            }
        }
    }
}

void
FabricPort::PrefetchForSync(uint32_t round) const
{
    if (round == 0)
    {
        Prefetch(m_firstFlying);
        if (MayStart())
        {
            Prefetch(m_lastFlying);
            Prefetch(this, HOT_BYTES);
        }
    }
    else if (round == 1 && m_controlWaits)
    {
        Prefetch(m_control.GetFirstOther());
    }
    else if (m_dataWaits)
    {
        Prefetch(m_data.Front());
    }
    else if (!m_sourceEmpty)
    {
        m_source->PrefetchPull(round - 1);
    }
}

void
FabricPort::PrefetchForOne(TimeStepCount arrival) const
{
    if (m_dataWaits || m_busyUntil > arrival)
    {
        Prefetch(&m_buffer); // the third line
    }
    PrefetchPackets();
}

} // namespace ns3::gradsync
