// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RUN_TIMELINE_H
#define GRADSYNC_RUN_TIMELINE_H

#include "ns3/nstime.h"
#include "ns3/run-result.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/**
 * A worker is blocked: it has computed, its exchange is not done, and it has nothing in the
 * network. It waits for what others send.
 */
struct BlockedSpan
{
    uint32_t job;
    uint32_t iteration;
    uint32_t rank;
    Time start;
    Time end;
};

/// How many workers of a job are blocked from a time on.
struct BlockedCount
{
    Time time;
    uint32_t job;
    uint32_t workers;
};

/// In order of jobs, ranks and time; empty where transfers are not recorded. Ranks that an
/// iteration has lost are not in it.
std::vector<BlockedSpan> FindBlockedSpans(const RunResult& result);

/// The same as numbers, in order of time and jobs; a row where the number changes.
std::vector<BlockedCount> CountBlocked(const RunResult& result);

/**
 * [record of RunResult::faults] How long the exchange needed to get over the beginning of a fault:
 * until the last transfer is delivered that was under way then (from or to the host, for faults of
 * hosts), or, after a crash, until the iterations end that it hit. Nothing for ends of faults, for
 * stragglers, when nothing was hit, and when it was not got over.
 */
std::vector<std::optional<Time>> FindRecoveryTimes(const RunResult& result);

} // namespace ns3::gradsync

#endif // GRADSYNC_RUN_TIMELINE_H
