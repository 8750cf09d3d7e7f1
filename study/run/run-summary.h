// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RUN_SUMMARY_H
#define GRADSYNC_RUN_SUMMARY_H

#include "ns3/job-planner.h"
#include "ns3/plan-figures.h"
#include "ns3/run-result.h"
#include "ns3/scenario.h"
#include "ns3/training-planner.h"
#include "ns3/transport.h"

#include <span>
#include <vector>

namespace ns3::gradsync
{

/// Fills the summary of a run from its iterations and plans: times, bounds, bytes, chains.
/// \param plans of CountPlans
void SummariseExchanges(RunResult& result, std::span<const PlanFigures> plans);

/// What the transport counted.
void SummariseTransport(const TransportStatistics& statistics, RunSummary& summary);

/// Where the times of its codecs come from.
void SummariseCodecTimes(const ResolvedRun& run, RunSummary& summary);

/// What the scheme `auto` chose.
void SummariseChoices(const std::vector<PlannedJob>& jobs,
                      const std::vector<PlannedTraining>& trainings,
                      RunSummary& summary);

} // namespace ns3::gradsync

#endif // GRADSYNC_RUN_SUMMARY_H
