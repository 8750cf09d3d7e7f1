// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-division.h"

#include <algorithm>

namespace ns3::gradsync
{

SlotDivision::SlotDivision(uint32_t poolSlots, uint32_t mostSlots)
    : m_poolSlots(poolSlots),
      m_mostSlots(mostSlots)
{
}

void
SlotDivision::AddGroup(const std::set<NodeId>& switches)
{
    m_groups.push_back({&switches, false});
    for (const auto node : switches)
    {
        m_pools.try_emplace(node, Pool{m_poolSlots, 0}).first->second.groups++;
    }
}

std::vector<uint32_t>
SlotDivision::Divide()
{
    std::vector<uint32_t> shares(m_groups.size());
    for (size_t left = m_groups.size(); left > 0; --left)
    {
        // The group whose switches have least for each takes its share first.
        size_t next = 0;
        uint32_t least = UINT32_MAX;
        for (size_t i = 0; i < m_groups.size(); ++i)
        {
            const auto limit = m_groups[i].isDone ? UINT32_MAX : GetLimit(*m_groups[i].switches);
            next = limit < least ? i : next;
            least = std::min(least, limit);
        }
        shares[next] = least;
        m_groups[next].isDone = true;
        for (const auto node : *m_groups[next].switches)
        {
            m_pools.at(node).slots -= least;
            m_pools.at(node).groups--;
        }
    }
    return shares;
}

uint32_t
SlotDivision::GetLimit(const std::set<NodeId>& switches) const
{
    auto limit = m_mostSlots;
    for (const auto node : switches)
    {
        const auto& pool = m_pools.at(node);
        limit = std::min(limit, pool.slots / pool.groups);
    }
    return limit;
}

} // namespace ns3::gradsync
