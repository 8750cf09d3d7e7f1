// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_VERIFIER_H
#define GRADSYNC_PLAN_VERIFIER_H

#include "ns3/plan.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What PlanVerifier found.
struct PlanVerification
{
    bool ok{true};
    /// One line each: operation, ranks, chunk, what was expected. Capped, so there may be more.
    std::vector<std::string> violations;
};

/**
 * Proves that a plan does what its collective says, or says why it does not.
 *
 * Executes the plan symbolically, chunk by chunk. Each chunk in each buffer of each rank carries
 * the set of workers whose gradient it contains; the sources of the collective start with their own
 * in their first buffer, everything else with nothing. Reported are:
 * - races: the result would depend on an order that no edge fixes (ChunkRaceFinder);
 * - moves of an empty set;
 * - reduces of overlapping sets (a gradient counted twice), unless the sum is idempotent;
 * - targets of the collective that do not hold every contribution to a chunk at the end.
 *
 * Without races all orders that respect the edges give the same sets, so the one that is executed
 * stands for all. Chunks of no bytes hold no data and are not looked at.
 */
class PlanVerifier
{
  public:
    /// \param maxViolations after how many to stop, at least 1
    explicit PlanVerifier(size_t maxViolations = 20);

    PlanVerification Verify(const Plan& plan) const;

  private:
    size_t m_maxViolations;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_VERIFIER_H
