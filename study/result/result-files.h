// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RESULT_FILES_H
#define GRADSYNC_RESULT_FILES_H

#include "ns3/run-store.h"
#include "ns3/scenario.h"
#include "ns3/stored-summary.h"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Summaries in run order; nothing for a run that crashed.
using RunSummaries = std::vector<std::optional<StoredSummary>>;

/// The table with a row for each run.
inline constexpr const char* RUNS_FILE = "runs.csv";

/// Summaries of all runs that the store has whole.
RunSummaries ReadSummaries(const RunStore& store, uint32_t runCount);

/**
 * Puts runs.csv and the tables of the runs together in run order, and adds their traces and
 * captures. links.csv and messages.csv have no rows where the scenario does not record them.
 * \param folder an empty one
 */
void WriteResultFiles(const std::filesystem::path& folder,
                      const Scenario& scenario,
                      const RunStore& store,
                      const RunSummaries& summaries);

/**
 * What WriteResultFiles may make for a scenario: files, and `pcap/run-NUMBER` for all captures of a
 * run.
 */
std::set<std::string> ListResultNames(const Scenario& scenario);

/// trace.json of the only run, or trace-NUMBER.json.
std::string GetTraceName(uint32_t run, uint32_t runCount);

} // namespace ns3::gradsync

#endif // GRADSYNC_RESULT_FILES_H
