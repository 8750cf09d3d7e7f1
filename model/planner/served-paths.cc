// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/served-paths.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ns3::gradsync
{

ServedPaths::ServedPaths(std::vector<double> capacities, RateSharing sharing)
    : m_allocator(std::move(capacities)),
      m_sharing(sharing)
{
}

uint32_t
ServedPaths::FindNic(std::optional<uint32_t> nic)
{
    const auto next = static_cast<uint32_t>(m_nics.size());
    const auto found = nic ? m_nicOf.try_emplace(*nic, next).first->second : next;
    if (found == next)
    {
        m_nics.emplace_back();
    }
    return found;
}

uint32_t
ServedPaths::Add(std::span<const Use> uses, std::optional<uint32_t> nic)
{
    const auto nicsBefore = m_nics.size();
    auto& path = m_paths.emplace_back();
    path.uses.assign(uses.begin(), uses.end());
    path.nic = FindNic(nic);
    if (m_sharing == RateSharing::Connections || m_nics.size() > nicsBefore)
    {
        m_allocator.AddClass(uses); // of a NIC: replaced by what is in service
    }
    m_flowCounts.push_back(0);
    m_rates.push_back(0.0);
    return static_cast<uint32_t>(m_paths.size() - 1);
}

void
ServedPaths::Serve(uint32_t path, Service service)
{
    auto& served = m_paths[path];
    served.heap.push_back(service);
    std::push_heap(served.heap.begin(), served.heap.end());
    if (served.activeIndex == NONE)
    {
        served.activeIndex = static_cast<uint32_t>(m_active.size());
        m_active.push_back(path);
    }
}

/// Counts the connections in service. \returns whether they are others than before
bool
ServedPaths::DropIdle()
{
    bool differ = false;
    for (size_t i = 0; i < m_active.size();)
    {
        const auto number = m_active[i];
        auto& path = m_paths[number];
        const auto flows = static_cast<uint32_t>(path.heap.size());
        differ = differ || flows != m_flowCounts[number];
        m_flowCounts[number] = flows;
        if (flows > 0)
        {
            ++i;
            continue;
        }
        m_active[i] = m_active.back();
        m_paths[m_active[i]].activeIndex = static_cast<uint32_t>(i);
        m_active.pop_back();
        path.activeIndex = NONE;
        path.served = 0.0;
    }
    return differ;
}

void
ServedPaths::Allocate()
{
    if (!DropIdle() || m_active.empty())
    {
        return;
    }
    if (m_sharing == RateSharing::Nics)
    {
        ShareAmongNics();
        return;
    }
    m_allocator.Allocate(m_active, m_flowCounts, m_rates);
}

void
ServedPaths::ShareAmongNics()
{
    for (auto& uses : m_nics)
    {
        uses.clear();
    }
    for (const auto path : m_active)
    {
        for (const auto& use : m_paths[path].uses)
        {
            m_nics[m_paths[path].nic][use.link] += use.weight * m_flowCounts[path];
        }
    }
    std::vector<uint32_t> active;
    for (uint32_t i = 0; i < m_nics.size(); ++i)
    {
        if (m_nics[i].empty())
        {
            continue;
        }
        std::vector<Use> uses;
        for (const auto& [link, weight] : m_nics[i])
        {
            uses.push_back({link, weight});
        }
        m_allocator.SetUses(i, uses);
        active.push_back(i);
    }
    const std::vector<uint32_t> ones(m_nics.size(), 1);
    std::vector<double> rates(m_nics.size(), 0.0);
    m_allocator.Allocate(active, ones, rates);
    for (const auto path : m_active)
    {
        m_rates[path] = rates[m_paths[path].nic];
    }
}

double
ServedPaths::GetSecondsToNext() const
{
    double next = std::numeric_limits<double>::infinity();
    for (const auto number : m_active)
    {
        const auto& path = m_paths[number];
        next = std::min(next, (path.heap.front().target - path.served) / m_rates[number]);
    }
    return std::max(next, 0.0);
}

void
ServedPaths::Advance(double seconds)
{
    for (const auto path : m_active)
    {
        m_paths[path].served += m_rates[path] * seconds;
    }
}

std::optional<ServedPaths::Service>
ServedPaths::TakeServed(uint32_t path, double toleranceSeconds)
{
    auto& [uses, nic, served, heap, activeIndex] = m_paths[path];
    if (heap.empty() || heap.front().target - served > m_rates[path] * toleranceSeconds)
    {
        return std::nullopt;
    }
    const auto service = heap.front();
    std::pop_heap(heap.begin(), heap.end());
    heap.pop_back();
    return service;
}

} // namespace ns3::gradsync
