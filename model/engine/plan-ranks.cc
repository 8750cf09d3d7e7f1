// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-ranks.h"

#include "ns3/plan.h"
#include "ns3/rank-share.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace ns3::gradsync
{

PlanRanks::PlanRanks(std::span<ExchangeApplication* const> applications, uint32_t workers)
    : m_kept(applications.size()),
      m_workers(workers),
      m_ranksHere(static_cast<uint32_t>(applications.size())),
      m_workersHere(workers)
{
    m_ranks.reserve(applications.size());
    for (auto* application : applications)
    {
        m_ranks.push_back({application});
    }
}

uint32_t
PlanRanks::LeaveToOthers(const Plan& plan, const RankShare& share)
{
    std::vector<uint8_t> isHere;
    isHere.reserve(m_ranks.size());
    for (auto& rank : m_ranks)
    {
        rank.isHere = share.IsHere(rank.application->GetEndpoint());
        isHere.push_back(rank.isHere ? 1 : 0);
    }
    m_ranksHere = static_cast<uint32_t>(std::ranges::count(isHere, true));
    m_workersHere =
        static_cast<uint32_t>(std::count(isHere.begin(), isHere.begin() + m_workers, 1));
    uint32_t others = 0;
    plan.ForEachDst(plan.GetCopySize(),
                    [&](size_t /* id */, uint32_t rank) { others += 1 - isHere[rank]; });
    return others * plan.GetCopyCount();
}

bool
PlanRanks::HaveStarted() const
{
    return std::ranges::all_of(m_ranks, &Rank::isStarted);
}

std::vector<OperationId>
PlanRanks::Start(uint32_t rank)
{
    auto& started = m_ranks[rank];
    if (std::exchange(started.isStarted, true))
    {
        return {};
    }
    m_workersStarted += started.isHere && rank < m_workers ? 1 : 0;
    return std::exchange(m_kept[rank].untilStart, {});
}

void
PlanRanks::Withdraw(uint32_t rank)
{
    m_ranks[rank] = {.application = m_ranks[rank].application, .isHere = m_ranks[rank].isHere};
    m_kept[rank] = {};
}

void
PlanRanks::Hold(uint32_t rank, OperationId id)
{
    auto& held = m_kept[rank].held;
    held.push_back(id);
    std::push_heap(held.begin(), held.end(), std::greater<>());
    m_ranks[rank].isHolding = true;
}

OperationId
PlanRanks::PopHeld(uint32_t rank)
{
    auto& held = m_kept[rank].held;
    std::pop_heap(held.begin(), held.end(), std::greater<>());
    const auto first = held.back();
    held.pop_back();
    m_ranks[rank].isHolding = !held.empty();
    return first;
}

} // namespace ns3::gradsync
