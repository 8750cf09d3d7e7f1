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
