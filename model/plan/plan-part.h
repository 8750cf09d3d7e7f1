// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_PART_H
#define GRADSYNC_PLAN_PART_H

#include "ns3/plan.h"

#include <vector>

namespace ns3::gradsync
{

/// What is left of a plan without some of its ranks, as a plan of its own.
struct PlanPart
{
    Plan plan;                           //!< ranks numbered anew, in the same order
    std::vector<OperationId> operations; //!< [of the part] -> of the whole
};

/**
 * [operation]: it is at, from or to a lost rank, or waits for one that is. The gate of a plan does
 * not wait for those.
 * \param isLost [rank]
 */
std::vector<bool> FindLeftOut(const Plan& plan, const std::vector<bool>& isLost);

/**
 * The plan of the ranks that are not lost.
 * \param isLost [rank]; at least one worker is left
 * \throws std::logic_error when not all workers contribute to all chunks and want their sum
 */
PlanPart MakePlanPart(const Plan& plan, const std::vector<bool>& isLost);

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_PART_H
