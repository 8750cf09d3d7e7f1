// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/max-min-allocator.h"

#include <algorithm>
#include <limits>

namespace ns3::gradsync
{

namespace
{
/// Links whose levels differ by less saturate together: far above rounding, far below the promised
/// 1e-9.
constexpr double LEVEL_TOLERANCE = 1e-12;
} // namespace

MaxMinAllocator::MaxMinAllocator(std::vector<double> capacities)
    : m_links(capacities.size())
{
    for (size_t link = 0; link < capacities.size(); ++link)
    {
        m_links[link].capacity = capacities[link];
    }
}

uint32_t
MaxMinAllocator::AddClass(std::span<const Use> uses)
{
    m_places.push_back({m_uses.size(), uses.size(), uses.size()});
    m_uses.insert(m_uses.end(), uses.begin(), uses.end());
    m_open.push_back(0);
    return static_cast<uint32_t>(m_open.size() - 1);
}

void
MaxMinAllocator::SetUses(uint32_t classIndex, std::span<const Use> uses)
{
    auto& place = m_places[classIndex];
    if (uses.size() > place.room)
    {
        place.first = m_uses.size();
        place.room = uses.size();
        m_uses.resize(m_uses.size() + uses.size());
    }
    place.count = uses.size();
    std::copy(uses.begin(), uses.end(), m_uses.begin() + static_cast<std::ptrdiff_t>(place.first));
}

void
MaxMinAllocator::SetCapacity(uint32_t link, double capacity)
{
    m_links[link].capacity = capacity;
}

void
MaxMinAllocator::Index(std::span<const uint32_t> active, std::span<const uint32_t> flowCounts)
{
    m_busyLinks.clear();
    for (const auto classIndex : active)
    {
        m_open[classIndex] = 1;
        for (const auto& use : GetUses(classIndex))
        {
            auto& link = m_links[use.link];
            if (link.openCount == 0)
            {
                link.frozenRate = 0;
                link.openWeight = 0;
                m_busyLinks.push_back(use.link);
            }
            ++link.openCount;
            link.openWeight += flowCounts[classIndex] * use.weight;
        }
    }
    size_t total = 0;
    for (const auto index : m_busyLinks)
    {
        m_links[index].first = total;
        m_links[index].last = total;
        total += m_links[index].openCount;
    }
    m_classesByLink.resize(total);
    for (const auto classIndex : active)
    {
        for (const auto& use : GetUses(classIndex))
        {
            m_classesByLink[m_links[use.link].last++] = classIndex;
        }
    }
}

double
MaxMinAllocator::FindSaturated(double floor)
{
    double level = std::numeric_limits<double>::infinity();
    for (const auto index : m_busyLinks)
    {
        level = std::min(level, m_links[index].GetLevel());
    }
    // Rounding may put a link a hair below the step before; the water never falls.
    level = std::max(level, floor);
    m_saturated.clear();
    for (const auto index : m_busyLinks)
    {
        if (m_links[index].GetLevel() <= level * (1 + LEVEL_TOLERANCE))
        {
            m_saturated.push_back(index);
        }
    }
    return level;
}

void
MaxMinAllocator::Freeze(uint32_t classIndex, uint32_t flows, double rate)
{
    m_open[classIndex] = 0;
    for (const auto& use : GetUses(classIndex))
    {
        auto& link = m_links[use.link];
        --link.openCount;
        link.openWeight -= flows * use.weight;
        link.frozenRate += flows * use.weight * rate;
    }
}

void
MaxMinAllocator::Allocate(std::span<const uint32_t> active,
                          std::span<const uint32_t> flowCounts,
                          std::span<double> rates)
{
    Index(active, flowCounts);
    double level = 0;
    while (!m_busyLinks.empty())
    {
        level = FindSaturated(level);
        for (const auto index : m_saturated)
        {
            for (size_t i = m_links[index].first; i < m_links[index].last; ++i)
            {
                const auto classIndex = m_classesByLink[i];
                if (m_open[classIndex] != 0)
                {
                    rates[classIndex] = level;
                    Freeze(classIndex, flowCounts[classIndex], level);
                }
            }
        }
        std::erase_if(m_busyLinks, [this](uint32_t link) { return m_links[link].openCount == 0; });
    }
}

} // namespace ns3::gradsync
