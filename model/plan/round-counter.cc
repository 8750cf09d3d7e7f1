// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/round-counter.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

RoundCounter::RoundCounter(const Plan& plan)
    : m_plan(plan),
      m_gate(plan)
{
    const auto size = static_cast<uint32_t>(plan.GetOperations().size());
    m_pages.reserve((size_t{size} + PAGE_SIZE - 1) / PAGE_SIZE);
    for (uint32_t left = size; left > 0; left -= m_pages.back().left)
    {
        m_pages.push_back({.left = std::min(left, PAGE_SIZE)});
    }
}

std::vector<uint64_t>
RoundCounter::Count()
{
    for (;;)
    {
        BeginRoots();
        if (m_ready.empty())
        {
            return std::move(m_transfersPerRound);
        }
        const auto id = m_ready.top();
        m_ready.pop();
        Pass(id);
    }
}

/// Reaches operations that wait for none, as far as one of them may be the lowest.
void
RoundCounter::BeginRoots()
{
    const auto size = static_cast<uint32_t>(m_plan.GetOperations().size());
    for (; m_nextRoot < size && (m_ready.empty() || m_nextRoot < m_ready.top()); ++m_nextRoot)
    {
        if (m_plan.GetPredecessorCount(m_nextRoot) == 0)
        {
            Reach(m_nextRoot);
        }
    }
}

/// All before it was passed.
void
RoundCounter::Reach(OperationId id)
{
    m_gate.Reach(id, [this](OperationId ready) { m_ready.push(ready); });
}

void
RoundCounter::Pass(OperationId id)
{
    const auto members = m_plan.GetMembers(id);
    if (id == members.first && members.last - members.first > 1)
    {
        // All of an aggregation end after the last of them has begun; the first is passed first.
        uint32_t round = 0;
        for (auto member = members.first; member < members.last; ++member)
        {
            round = std::max(round, Touch(member).depth);
        }
        for (auto member = members.first; member < members.last; ++member)
        {
            Touch(member).depth = round;
        }
    }
    const auto round = Touch(id).depth;
    const bool isTransfer = m_plan.GetOperations()[id].IsTransfer();
    if (isTransfer)
    {
        m_transfersPerRound.resize(std::max<size_t>(m_transfersPerRound.size(), round + 1));
        ++m_transfersPerRound[round];
    }
    for (const auto successor : m_plan.GetSuccessors(id))
    {
        auto& state = Touch(successor);
        state.depth = std::max(state.depth, round + (isTransfer ? 1 : 0));
        if (--state.waitsFor == 0)
        {
            Reach(successor);
        }
    }
    Forget(id);
}

RoundCounter::State&
RoundCounter::Touch(OperationId id)
{
    auto& page = m_pages[id / PAGE_SIZE];
    if (!page.states)
    {
        page.states = std::make_unique<std::array<State, PAGE_SIZE>>();
        const auto first = id / PAGE_SIZE * PAGE_SIZE;
        for (uint32_t i = 0; i < page.left; ++i)
        {
            (*page.states)[i].waitsFor = m_plan.GetPredecessorCount(first + i);
        }
        m_mostPages = std::max(m_mostPages, ++m_pageCount);
    }
    return (*page.states)[id % PAGE_SIZE];
}

/// Nobody asks for it again.
void
RoundCounter::Forget(OperationId id)
{
    auto& page = m_pages[id / PAGE_SIZE];
    if (--page.left == 0)
    {
        page.states.reset();
        --m_pageCount;
    }
}

} // namespace ns3::gradsync
