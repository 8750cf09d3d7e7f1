// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MANIFEST_H
#define GRADSYNC_MANIFEST_H

#include "ns3/result-files.h"
#include "ns3/scenario.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace ns3::gradsync
{

/// What a results folder says of how it came about.
struct ManifestData
{
    const Scenario& scenario;
    const std::vector<ScenarioOverride>& overrides;
    const std::vector<uint64_t>& hashes;      //!< [run]
    const RunSummaries& summaries;            //!< [run]
    const std::vector<std::string>& problems; //!< [run] why it crashed; empty: it did not
    std::chrono::system_clock::time_point started;
};

inline constexpr const char* MANIFEST_FILE = "manifest.json";

/// Writes manifest.json: versions, host, times, the scenario as resolved, every run with its hash
/// and status, and all other files that are in the folder by now.
void WriteManifest(const std::filesystem::path& folder, const ManifestData& data);

/// Hash of what decides a run's results: its scenario without title and plot hints, and the
/// program.
uint64_t GetRunHash(const ScenarioPoint& point, uint64_t fingerprint);

} // namespace ns3::gradsync

#endif // GRADSYNC_MANIFEST_H
