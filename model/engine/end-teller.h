// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_END_TELLER_H
#define GRADSYNC_END_TELLER_H

#include "ns3/distant-ends.h"
#include "ns3/nstime.h"
#include "ns3/operation.h"

#include <cstdint>

namespace ns3::gradsync
{

class PlanRanks;
class RankShare;

/// Tells other processes ahead when the operations end that they wait for, of one execution of a
/// plan, and knows what this one waits for.
class EndTeller
{
  public:
    /// All outlive it. \param job its index in the engine
    EndTeller(const Plan& plan,
              const PlanRanks& ranks,
              const DistantEnds& distant,
              RankShare& share,
              uint32_t job);

    /// Whether this process simulates a rank.
    bool IsHere(uint32_t rank) const
    {
        return m_distant.GetPart(rank) == m_own;
    }

    /// Whether it must know when the operation is ready: it is of a rank here, or followed.
    bool IsWaitedForHere(OperationId id) const
    {
        return IsHere(m_plan.GetOperations()[id].src) || m_distant.IsFollowed(id, m_own);
    }

    /// Whether what it follows of a rank elsewhere waits until that has begun.
    bool IsStartFollowed(uint32_t rank) const
    {
        return m_distant.IsStartFollowed(rank, m_own);
    }

    /// A transfer to a rank here will arrive. \param tag of it \param order of that event
    void TellArrival(uint64_t tag, const Time& at, uint32_t order) const;

    /// A rank here has begun to add what it received, or to compute, which ends the operation.
    void TellWork(uint64_t tag, const Operation& operation) const;

  private:
    const Plan& m_plan;
    const PlanRanks& m_ranks;
    const DistantEnds& m_distant;
    RankShare& m_share;
    uint32_t m_job;
    uint32_t m_own; //!< process
};

} // namespace ns3::gradsync

#endif // GRADSYNC_END_TELLER_H
