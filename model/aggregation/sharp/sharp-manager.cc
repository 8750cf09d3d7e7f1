// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/sharp-manager.h"

#include "ns3/transport-aggregation.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

/// As NVIDIA's manual of SHARP has them.
SharpManager::Limits
SharpManager::GetLimits(SharpGeneration generation)
{
    switch (generation)
    {
    case SHARP_QUANTUM2:
        return {.trees = 1023, .streamingTrees = 1023, .locksPorts = true};
    case SHARP_QUANTUM:
        break;
    }
    return {.trees = 126, .streamingTrees = 63, .locksPorts = false};
}

void
SharpManager::Take(uint32_t group, SharpTree kind, uint32_t quota, std::span<const Hop> hops)
{
    for (const auto& hop : hops)
    {
        Check(hop, kind, quota);
    }
    for (const auto& hop : hops)
    {
        m_parts[hop.node][group] = {kind, quota, hop.ports};
    }
}

void
SharpManager::Return(uint32_t group)
{
    for (auto& [node, parts] : m_parts)
    {
        parts.erase(group);
    }
}

void
SharpManager::Check(const Hop& hop, SharpTree kind, uint32_t quota) const
{
    const auto found = m_parts.find(hop.node);
    if (found == m_parts.end())
    {
        return;
    }
    const auto& parts = found->second;
    if (parts.size() >= m_limits.trees)
    {
        throw AggregationDenied(fmt::format("switch {} has all of its {} trees of SHARP in use",
                                            hop.name,
                                            parts.size()));
    }
    uint32_t taken = 0;
    uint32_t streaming = 0;
    for (const auto& [group, part] : parts)
    {
        taken += part.quota;
        streaming += part.kind == SharpTree::Streaming ? 1 : 0;
    }
    if (taken + quota > 100)
    {
        throw AggregationDenied(fmt::format("switch {} has {} % left of its transactions, buffers "
                                            "and groups of SHARP, but a job asks for {} %",
                                            hop.name,
                                            100 - taken,
                                            quota));
    }
    if (kind == SharpTree::LowLatency)
    {
        return;
    }
    if (streaming >= m_limits.streamingTrees)
    {
        throw AggregationDenied(
            fmt::format("switch {} has all of its {} streaming trees of SHARP in use",
                        hop.name,
                        streaming));
    }
    CheckLock(hop, parts);
}

/// Of a streaming tree: nobody else may stream there.
void
SharpManager::CheckLock(const Hop& hop, const std::map<uint32_t, Part>& parts) const
{
    for (const auto& [group, part] : parts)
    {
        if (part.kind != SharpTree::Streaming)
        {
            continue;
        }
        if (!m_limits.locksPorts)
        {
            throw AggregationDenied(fmt::format(
                "switch {} streams for one tree of SHARP at a time, and another job has "
                "its lock",
                hop.name));
        }
        const auto& locked = part.ports; // lambdas of Clang 14 do not capture parts of a pair
        const auto shared = std::ranges::find_if(hop.ports, [&locked](uint16_t port) {
            return locked.contains(port);
        });
        if (shared != hop.ports.end())
        {
            throw AggregationDenied(
                fmt::format("port {} of switch {} streams for one tree of SHARP at a time, and "
                            "another job has its lock",
                            *shared,
                            hop.name));
        }
    }
}

} // namespace ns3::gradsync
