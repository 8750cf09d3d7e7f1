// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/execution-table.h"

namespace ns3::gradsync
{

uint32_t
ExecutionTable::Add(OperationObserver& observer)
{
    const auto number =
        m_numbers.Take([this](uint32_t taken) { return m_observers.contains(taken); });
    m_observers.emplace(number, &observer);
    m_lastFound = nullptr;
    return number;
}

uint32_t
ExecutionTable::Add(OperationObserver& observer, uint32_t number)
{
    m_observers.emplace(number, &observer);
    m_lastFound = nullptr;
    return number;
}

OperationObserver*
ExecutionTable::Look(uint32_t number) const
{
    auto found = m_observers.find(number);
    if (found == m_observers.end() && m_source)
    {
        m_source->Provide(number);
        found = m_observers.find(number);
    }
    return found == m_observers.end() ? nullptr : found->second;
}

void
ExecutionTable::Replace(uint32_t number, OperationObserver& observer)
{
    m_observers[number] = &observer;
    m_lastFound = nullptr;
}

void
ExecutionTable::Remove(uint32_t number)
{
    m_observers.erase(number);
    m_lastFound = nullptr;
}

} // namespace ns3::gradsync
