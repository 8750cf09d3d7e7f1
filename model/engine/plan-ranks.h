// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_RANKS_H
#define GRADSYNC_PLAN_RANKS_H

#include "ns3/exchange-application.h"
#include "ns3/operation.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ns3::gradsync
{

class Plan;
class RankShare;

/**
 * The ranks of one execution of a plan: which of them have started, and what is ready for those
 * that have not; how many transfers each has under way, and which wait for one of these to be
 * delivered, where a rank may have so many at once and no more.
 */
class PlanRanks
{
  public:
    /// \param applications [rank]; they outlive this \param workers of the plan, its first ranks
    PlanRanks(std::span<ExchangeApplication* const> applications, uint32_t workers);

    /// Other processes simulate some of them. \returns the operations of the plan that these
    /// receive
    uint32_t LeaveToOthers(const Plan& plan, const RankShare& share);

    uint32_t GetCount() const
    {
        return static_cast<uint32_t>(m_ranks.size());
    }

    /// Those that this process simulates.
    uint32_t CountHere() const
    {
        return m_ranksHere;
    }

    ExchangeApplication& Get(uint32_t rank) const
    {
        return *m_ranks[rank].application;
    }

    bool HasStarted(uint32_t rank) const
    {
        return m_ranks[rank].isStarted;
    }

    /// Whether this process simulates it.
    bool IsHere(uint32_t rank) const
    {
        return m_ranks[rank].isHere;
    }

    /// All ranks.
    bool HaveStarted() const;

    /// All workers that this process simulates.
    bool HaveWorkersStarted() const
    {
        return m_workersStarted == m_workersHere;
    }

    /// An operation is ready for a rank that has not started.
    void KeepUntilStart(uint32_t rank, OperationId id)
    {
        m_kept[rank].untilStart.push_back(id);
    }

    /// The rank starts. \returns what was kept until then; nothing if it has started before
    std::vector<OperationId> Start(uint32_t rank);

    /// The rank does nothing more: nothing of it is kept or under way.
    void Withdraw(uint32_t rank);

    /// Whether it may have one more transfer under way.
    bool MaySend(uint32_t rank) const
    {
        const auto limit = Get(rank).GetMaxOutstandingSends();
        return limit == 0 || m_ranks[rank].underWay < limit;
    }

    void CountSent(uint32_t rank)
    {
        ++m_ranks[rank].underWay;
    }

    /// One transfer less is under way, or waited for.
    void CountArrived(uint32_t rank)
    {
        auto& underWay = m_ranks[rank].underWay;
        underWay -= underWay > 0 ? 1 : 0; // what withdrew has none
    }

    /// A transfer has to wait for one that is under way.
    void Hold(uint32_t rank, OperationId id);

    /// The held transfer that comes first in the plan, if there is one and it may start now.
    std::optional<OperationId> TakeHeld(uint32_t rank)
    {
        if (!m_ranks[rank].isHolding || !HasStarted(rank) || !MaySend(rank))
        {
            return std::nullopt;
        }
        return PopHeld(rank);
    }

  private:
    /// What every transfer touches, of its sender and of its receiver: four in a line of the cache.
    struct Rank
    {
        ExchangeApplication* application;
        uint32_t underWay{0}; //!< transfers for which its limit counts
        bool isHere{true};
        bool isStarted{false};
        bool isHolding{false}; //!< some are held
    };

    struct Kept
    {
        std::vector<OperationId> untilStart;
        std::vector<OperationId> held; //!< a heap, the lowest id on top
    };

    OperationId PopHeld(uint32_t rank);

    std::vector<Rank> m_ranks;
    std::vector<Kept> m_kept; //!< [rank]
    uint32_t m_workers;
    uint32_t m_ranksHere;   //!< that this process simulates
    uint32_t m_workersHere; //!< likewise
    uint32_t m_workersStarted{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_RANKS_H
