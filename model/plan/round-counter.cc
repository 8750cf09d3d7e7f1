// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/round-counter.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

RoundCounter::RoundCounter(const Plan& plan)
    : m_plan(plan),
      m_gate(plan),
      m_isInOrder(plan.IsForward() && !plan.HasAggregations()),
      m_stateCount(m_isInOrder ? uint32_t{DEPTH} + 1 : uint32_t{STATES})
{
    const auto size = static_cast<uint32_t>(plan.GetCopySize());
    m_pages.reserve((size_t{size} + PAGE_SIZE - 1) / PAGE_SIZE);
    for (uint32_t left = size; left > 0; left -= m_pages.back().left)
    {
        m_pages.push_back({.left = std::min(left, PAGE_SIZE)});
    }
}

template <typename Successors>
void
RoundCounter::Pass(OperationId id, const Operation& operation, const Successors& successors)
{
    if (operation.IsAggregate())
    {
        JoinMembers(id);
    }
    const auto round = Touch(id)[DEPTH];
    const bool isTransfer = operation.IsTransfer();
    if (isTransfer)
    {
        if (round >= m_transfersPerRound.size())
        {
            m_transfersPerRound.resize(round + 1);
        }
        ++m_transfersPerRound[round];
    }
    for (const OperationId successor : successors)
    {
        auto* states = Touch(successor);
        states[DEPTH] = std::max(states[DEPTH], round + (isTransfer ? 1 : 0));
        if (!m_isInOrder && --states[WAITS_FOR] == 0 &&
            successor < m_next) // else its turn is yet to come
        {
            Reach(successor);
        }
    }
    Forget(id);
}

std::vector<uint64_t>
RoundCounter::Count()
{
    m_plan.ForEachWithSuccessors(
        m_plan.GetCopySize(),
        [this](OperationId id, const Operation& operation, const auto& successors) {
            if (m_isInOrder)
            {
                Pass(id, operation, successors);
                return;
            }
            TakeTurn(id, operation, successors);
        });
    for (auto& transfers : m_transfersPerRound)
    {
        transfers *= m_plan.GetCopyCount();
    }
    return std::move(m_transfersPerRound);
}

/// Of an operation that may have been passed, and of those that need not wait any more then.
void
RoundCounter::TakeTurn(OperationId id,
                       const Operation& operation,
                       std::span<const OperationId> successors)
{
    m_next = id + 1;
    if (IsReady(id))
    {
        Reach(id);
    }
    while (!m_ready.empty())
    {
        const auto ready = m_ready.top();
        m_ready.pop();
        ready == id ? Pass(id, operation, successors)
                    : Pass(ready, m_plan.GetOperations()[ready], m_plan.GetSuccessors(ready));
    }
}

/// Of one that is not passed: whether it waits for none, without a page for it.
bool
RoundCounter::IsReady(OperationId id) const
{
    const auto& page = m_pages[id / PAGE_SIZE];
    return page.states ? page.states[id % PAGE_SIZE * m_stateCount + WAITS_FOR] == 0
                       : m_plan.GetPredecessorCount(id) == 0;
}

/// All before it was passed.
void
RoundCounter::Reach(OperationId id)
{
    m_gate.Reach(id, [this](OperationId ready) { m_ready.push(ready); });
}

/// All of an aggregation end after the last of them has begun; the first is passed first.
void
RoundCounter::JoinMembers(OperationId id)
{
    const auto members = m_plan.GetMembers(id);
    if (id != members.first)
    {
        return;
    }
    uint32_t round = 0;
    for (auto member = members.first; member < members.last; ++member)
    {
        round = std::max(round, Touch(member)[DEPTH]);
    }
    for (auto member = members.first; member < members.last; ++member)
    {
        Touch(member)[DEPTH] = round;
    }
}

void
RoundCounter::Open(Page& page, OperationId first)
{
    const auto count = size_t{PAGE_SIZE} * m_stateCount;
    if (m_unused.empty())
    {
        page.states = std::make_unique<uint32_t[]>(count);
    }
    else
    {
        page.states = std::move(m_unused.back());
        m_unused.pop_back();
        std::fill_n(page.states.get(), count, 0);
    }
    for (uint32_t i = 0; !m_isInOrder && i < page.left; ++i)
    {
        page.states[i * m_stateCount + WAITS_FOR] = m_plan.GetPredecessorCount(first + i);
    }
    m_mostPages = std::max(m_mostPages, ++m_pageCount);
}

/// Nobody asks for it again.
void
RoundCounter::Forget(OperationId id)
{
    auto& page = m_pages[id / PAGE_SIZE];
    if (--page.left == 0)
    {
        m_unused.push_back(std::move(page.states));
        --m_pageCount;
    }
}

} // namespace ns3::gradsync
