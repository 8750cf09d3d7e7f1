// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/switch-memory.h"

#include "ns3/transport-aggregation.h"

#include <fmt/format.h>

namespace ns3::gradsync
{

void
SwitchMemory::Take(NodeId node, const std::string& name, const Holder& holder, uint64_t bytes)
{
    auto& parts = m_parts[node];
    const auto found = parts.find(holder);
    if (found != parts.end())
    {
        ++found->second.uses;
        return;
    }
    const auto taken = GetTakenBytes(node);
    // By subtraction, as a sum of any two numbers may be too large.
    if (m_capacity > 0 && (taken > m_capacity || bytes > m_capacity - taken))
    {
        throw AggregationDenied(
            fmt::format("switch {} has {} bytes left of {} for one more aggregation, which needs "
                        "{} (attribute SwitchMemoryBytes)",
                        name,
                        taken > m_capacity ? 0 : m_capacity - taken,
                        m_capacity,
                        bytes));
    }
    parts[holder] = {bytes, 1};
}

void
SwitchMemory::Give(NodeId node, const Holder& holder)
{
    auto& parts = m_parts.at(node);
    auto& part = parts.at(holder);
    if (--part.uses == 0)
    {
        parts.erase(holder);
    }
}

uint64_t
SwitchMemory::GetTakenBytes(NodeId node) const
{
    uint64_t bytes = 0;
    const auto found = m_parts.find(node);
    if (found != m_parts.end())
    {
        for (const auto& [holder, part] : found->second)
        {
            bytes += part.bytes;
        }
    }
    return bytes;
}

} // namespace ns3::gradsync
