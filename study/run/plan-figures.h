// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_FIGURES_H
#define GRADSYNC_PLAN_FIGURES_H

#include "ns3/run-result.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// What a plan of a job costs, as far as a summary tells.
struct PlanFigures
{
    uint64_t crossRackBytes;
    uint64_t peakReceivedBytes;
    uint64_t longestChain;
};

/**
 * Of the plans of all jobs of a run, those of one job after those of the job before. That takes
 * about as long as making them, so where several processes simulate a run each counts some figures
 * and leaves the others 0.
 */
std::vector<PlanFigures> CountPlans(const RunResult& result,
                                    uint32_t own = 0,
                                    uint32_t processes = 1);

/// Adds what one process has counted to what those before it have. \param figures as many, or none
void AddFigures(std::span<const PlanFigures> counted, std::vector<PlanFigures>& figures);

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_FIGURES_H
