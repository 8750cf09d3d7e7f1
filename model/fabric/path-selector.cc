// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/path-selector.h"

#include "ns3/fabric-port.h"

#include <algorithm>

namespace ns3::gradsync
{

namespace
{

bool
IsIdle(FabricPort& port, TimeStepCount now)
{
    port.Sync(now);
    return port.IsFree(now);
}

} // namespace

double
PathSelector::GetIdleShare(const FabricPacket&,
                           std::span<const uint16_t> nextHops,
                           std::span<FabricPort* const> ports,
                           TimeStepCount now) const
{
    const auto idle =
        std::ranges::count_if(nextHops, [&](uint16_t hop) { return IsIdle(*ports[hop], now); });
    return static_cast<double>(idle) / static_cast<double>(nextHops.size());
}

FabricPort*
SprayingSelector::Select(const FabricPacket&,
                         std::span<const uint16_t> nextHops,
                         std::span<FabricPort* const> ports,
                         TimeStepCount)
{
    return ports[nextHops[m_random.Draw(nextHops.size())]];
}

FabricPort*
AdaptiveSelector::Select(const FabricPacket&,
                         std::span<const uint16_t> nextHops,
                         std::span<FabricPort* const> ports,
                         TimeStepCount now)
{
    // From a random one on, so that equals share.
    const auto first = m_random.Draw(nextHops.size());
    FabricPort* best = nullptr;
    TimeStepCount shortest = INT64_MAX;
    for (size_t i = 0; i < nextHops.size(); ++i)
    {
        auto* port = ports[nextHops[(first + i) % nextHops.size()]];
        port->Sync(now);
        const auto wait = port->GetWait(now);
        if (!best || wait < shortest)
        {
            best = port;
            shortest = wait;
        }
    }
    return best;
}

double
AdaptiveSelector::GetIdleShare(const FabricPacket& packet,
                               std::span<const uint16_t> nextHops,
                               std::span<FabricPort* const> ports,
                               TimeStepCount now) const
{
    return PathSelector::GetIdleShare(packet, nextHops, ports, now) > 0.0 ? 1.0 : 0.0;
}

FabricPort*
FlowletSelector::FindPort(const FabricPacket& packet,
                          std::span<const uint16_t> nextHops,
                          std::span<FabricPort* const> ports,
                          TimeStepCount now) const
{
    const auto& entry = m_table[packet.flowHash % m_table.size()];
    const auto isNextHop = [&](uint16_t hop) { return ports[hop] == entry.port; };
    // Another connection's port, or one that routes no longer use, may be in the entry.
    const bool goesOn =
        entry.port && now - entry.last <= m_gap && std::ranges::any_of(nextHops, isNextHop);
    return goesOn ? entry.port : nullptr;
}

FabricPort*
FlowletSelector::Select(const FabricPacket& packet,
                        std::span<const uint16_t> nextHops,
                        std::span<FabricPort* const> ports,
                        TimeStepCount now)
{
    auto* port = FindPort(packet, nextHops, ports, now);
    if (!port)
    {
        port = ports[nextHops[m_random.Draw(nextHops.size())]];
    }
    m_table[packet.flowHash % m_table.size()] = {now, port};
    return port;
}

double
FlowletSelector::GetIdleShare(const FabricPacket& packet,
                              std::span<const uint16_t> nextHops,
                              std::span<FabricPort* const> ports,
                              TimeStepCount now) const
{
    if (auto* port = FindPort(packet, nextHops, ports, now))
    {
        return IsIdle(*port, now) ? 1.0 : 0.0;
    }
    return PathSelector::GetIdleShare(packet, nextHops, ports, now);
}

std::unique_ptr<PathSelector>
MakePathSelector(LoadBalancing loadBalancing, uint64_t seed, TimeStepCount flowletGap)
{
    switch (loadBalancing)
    {
    case LB_SPRAY:
        return std::make_unique<SprayingSelector>(seed);
    case LB_ADAPTIVE:
        return std::make_unique<AdaptiveSelector>(seed);
    case LB_FLOWLET:
        return std::make_unique<FlowletSelector>(seed, flowletGap);
    case LB_HASH:
    case LB_DESTINATION:
        break;
    }
    return nullptr;
}

} // namespace ns3::gradsync
