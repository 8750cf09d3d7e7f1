// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RESULT_FILES_H
#define GRADSYNC_RESULT_FILES_H

#include "ns3/run-result.h"
#include "ns3/run-store.h"
#include "ns3/scenario.h"

#include <filesystem>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/// Summaries in run order; nothing for a run that crashed.
using RunSummaries = std::vector<std::optional<RunSummary>>;

/// Summaries of all runs that the store has.
RunSummaries ReadSummaries(const RunStore& store, uint32_t runCount);

/**
 * Puts runs.csv and the tables of the runs (iterations.csv, links.csv, ...) together in
 * run order, and copies the traces, each renamed into place when it is whole. links.csv and
 * messages.csv have no rows where the scenario does not record them.
 */
void WriteResultFiles(const std::filesystem::path& folder,
                      const Scenario& scenario,
                      const RunStore& store,
                      const RunSummaries& summaries);

} // namespace ns3::gradsync

#endif // GRADSYNC_RESULT_FILES_H
