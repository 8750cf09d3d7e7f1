// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/operation-ledger.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::gradsync
{

OperationLedger::OperationLedger(const Plan& plan, bool keepsTimes)
    : m_plan(&plan),
      m_keepsTimes(keepsTimes),
      m_size(static_cast<uint32_t>(plan.GetOperations().size())),
      m_left(m_size)
{
    m_pages.reserve((size_t{m_size} + PAGE_SIZE - 1) / PAGE_SIZE);
    for (uint32_t left = m_size; left > 0; left -= m_pages.back().left)
    {
        m_pages.push_back({.left = std::min(left, PAGE_SIZE)});
    }
}

void
OperationLedger::Open(Page& page, OperationId first)
{
    page.states = std::make_unique<std::array<State, PAGE_SIZE>>();
    page.states->fill(DONE); // of a page that was left out as a whole; others follow
    for (uint32_t i = 0; i < page.left; ++i)
    {
        const auto count = m_plan->GetPredecessorCount(first + i);
        (*page.states)[i] = static_cast<State>(std::min<uint32_t>(count, MANY));
        if (count >= MANY)
        {
            m_many.emplace(first + i, count);
        }
    }
}

uint32_t
OperationLedger::GetWaiting(OperationId id) const
{
    const auto& page = GetPage(id);
    if (!page.states)
    {
        return m_plan->GetPredecessorCount(id);
    }
    const auto state = Look(page, id);
    return state < MANY ? state : state == MANY ? m_many.at(id) : 0;
}

void
OperationLedger::ReleaseOfMany(OperationId id, State& state)
{
    const auto many = m_many.find(id);
    if (--many->second < MANY)
    {
        state = static_cast<State>(many->second);
        m_many.erase(many);
    }
}

void
OperationLedger::MarkSent(OperationId id)
{
    MarkSent(id, Simulator::Now());
}

void
OperationLedger::MarkSent(OperationId id, const Time& at)
{
    Touch(id) = SENT;
    if (m_keepsTimes)
    {
        auto& sentAt = m_pages[id / PAGE_SIZE].sentAt;
        if (!sentAt)
        {
            sentAt = std::make_unique<std::array<Time, PAGE_SIZE>>();
        }
        (*sentAt)[id % PAGE_SIZE] = at;
    }
}

void
OperationLedger::MarkDone(OperationId id)
{
    auto& state = Touch(id);
    if (state == MANY)
    {
        m_many.erase(id);
    }
    state = DONE;
    --m_left;
    auto& page = m_pages[id / PAGE_SIZE];
    if (--page.left == 0)
    {
        page.states.reset();
    }
}

Time
OperationLedger::GetSentAt(OperationId id) const
{
    const auto& page = GetPage(id);
    return page.sentAt ? (*page.sentAt)[id % PAGE_SIZE] : Time();
}

} // namespace ns3::gradsync
