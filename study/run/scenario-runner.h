// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCENARIO_RUNNER_H
#define GRADSYNC_SCENARIO_RUNNER_H

#include "ns3/nstime.h"
#include "ns3/run-result.h"
#include "ns3/scenario.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Told how many message bytes have been delivered so far; at most a few times a second.
using ProgressCallback = std::function<void(uint64_t deliveredBytes)>;

/// What checking a run tells of it.
struct RunCheck
{
    uint64_t bytes{0}; //!< message bytes that all iterations of all jobs will move
    Time least;        //!< before which it does not end, as long as no rank goes
    /// Why jobs begin without switches that aggregate, and for which they have another way.
    std::vector<std::string> denials;
};

/**
 * Checks what reading alone cannot: that every scheme can make its plan and that the transport can
 * be built. \param verifyAll prove that each plan does what its collective says; false: only plans
 * that are small \throws ScenarioError
 */
RunCheck CheckRun(const ResolvedRun& run, bool verifyAll);

/// What becomes of iterations and collectives that are the same as earlier ones (IterationSkip,
/// CollectiveRecords).
enum class Repeats
{
    Skip,    //!< they are left out; the result is the same but for what RunSummary says of that
    Simulate //!< as all others
};

/**
 * Simulates one run in this process. Afterwards ns-3's simulator is destroyed and ready for
 * another. \throws ScenarioError as CheckRun; a run that stalls or fails is not an error but a
 * result
 * \param folder for the files that are written while it runs; empty: none are
 */
RunResult RunScenario(const ResolvedRun& run,
                      const ProgressCallback& progress = {},
                      const std::filesystem::path& folder = {},
                      Repeats repeats = Repeats::Skip);

} // namespace ns3::gradsync

#endif // GRADSYNC_SCENARIO_RUNNER_H
