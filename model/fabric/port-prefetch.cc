// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/port-prefetch.h"

#include "ns3/fabric-port.h"
#include "ns3/radix-scheduler.h"

#include <array>
#include <typeinfo>

namespace ns3::gradsync
{

/// Of the packets on the wire, and of a port where something may start.
inline void
PortPrefetch::First(const LazySender& port)
{
    Prefetch(port.GetWire());
    if (port.MayStart())
    {
        port.PrefetchWire();
        Waiting(port);
    }
}

/// What starts at an arrival at the far end; rounds as of FabricNode::PrefetchFor.
inline void
PortPrefetch::Starts(const LazySender& port, uint32_t round)
{
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
}

/// Packets that are linked or started when the port takes another one.
inline void
PortPrefetch::Packets(const LazySender& port)
{
    port.PrefetchWire();
    if (port.m_dataWaits)
    {
        Prefetch(port.m_data.Front());
        Prefetch(port.m_data.Back());
    }
}

/// What the arrivals touch beyond their ports and packets, which were fetched.
void
PortPrefetch::Beyond(std::span<const LazySender* const> ports)
{
    std::array<const FabricPort*, RadixScheduler::PREFETCH_COUNT> egresses{};
    for (uint32_t round = 0; round < FabricNode::PREFETCH_ROUNDS; ++round)
    {
        for (size_t i = 0; i < ports.size(); ++i)
        {
            const auto& port = *ports[i];
            Starts(port, round);
            if (egresses[i])
            {
                ForOne(*egresses[i], port.GetWire()->arrival);
            }
            else if (port.GetWire())
            {
                egresses[i] = port.GetPeer()->PrefetchFor(*port.GetWire(), round);
            }
        }
    }
}

void
PortPrefetch::Arrivals(std::span<EventImpl* const> next)
{
    for (const auto* event : next)
    {
        Prefetch(event, 1); // of a port its first line
    }
    std::array<const LazySender*, RadixScheduler::PREFETCH_COUNT> ports;
    std::array<const LazySender*, RadixScheduler::PREFETCH_COUNT> departing;
    size_t count = 0;
    size_t departingCount = 0;
    for (auto* event : next)
    {
        if (typeid(*event) == typeid(FabricPort)) [[likely]] // most are, and others take a strcmp
        {
            const auto* port = ports[count++] = static_cast<const FabricPort*>(event);
            First(*port);
        }
        else if (const auto* sender = PortDeparture::FindSender(*event))
        {
            departing[departingCount++] = sender;
            Waiting(*sender);
        }
    }
    Beyond({ports.data(), count});
    for (size_t i = 0; i < departingCount; ++i)
    {
        Packets(*departing[i]);
    }
}

void
PortPrefetch::ForSync(const LazySender& port, uint32_t round)
{
    if (round == 0)
    {
        First(port);
    }
    else if (round == 1 && port.m_controlWaits)
    {
        Prefetch(port.m_control.GetFirstOther());
    }
    else if (port.m_dataWaits)
    {
        Prefetch(port.m_data.Front());
    }
    else if (!port.m_sourceEmpty)
    {
        port.m_source->PrefetchPull(round - 1);
    }
}

void
PortPrefetch::ForOne(const LazySender& port, TimeStepCount arrival)
{
    if (port.m_dataWaits || port.m_busyUntil > arrival)
    {
        Prefetch(&port.m_buffer); // the third line
    }
    Packets(port);
}

} // namespace ns3::gradsync
