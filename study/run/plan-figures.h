// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_FIGURES_H
#define GRADSYNC_PLAN_FIGURES_H

#include "ns3/byte-batch.h"
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

/// What one process has counted, for process 0.
ByteBatch PackFigures(std::span<const PlanFigures> figures);

/// What all have counted together. \param batches [process] as of PackFigures
std::vector<PlanFigures> MergeFigures(std::span<const ByteBatch> batches);

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_FIGURES_H
