// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_STATISTICS_H
#define GRADSYNC_PLAN_STATISTICS_H

#include "ns3/plan.h"
#include "ns3/worker-groups.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What a plan moves between different groups of one level.
struct CrossingStatistics
{
    std::string level; //!< "server", "rack", "pod"
    uint64_t bytes{0};
    uint64_t transfers{0};
};

/**
 * What a plan costs before any network is looked at. All bytes are message bytes, without headers.
 * A rank that takes part in an aggregation sends its bytes once if it gives to it and receives them
 * once if it gets from it, the root of a multicast its own, too; where the ranks are in several
 * groups of a level, one partial sum leaves each of these, in a group with a root one for each of
 * the others. doc/plan.rst defines each
 * figure, doc/schemes.rst gives its closed form for each scheme.
 */
struct PlanStatistics
{
    std::vector<uint64_t> sentBytes;     //!< [rank]
    std::vector<uint64_t> receivedBytes; //!< [rank]
    uint64_t totalBytes{0};
    uint64_t transferCount{0};
    uint64_t joinCount{0};
    uint64_t localCount{0};                    //!< moves within a rank
    std::vector<CrossingStatistics> crossings; //!< in the order of the levels
    /// Transfers of round i: those whose longest chain of transfers that end before they start is i
    /// long.
    std::vector<uint64_t> transfersPerRound;

    /// Transfers in the longest dependency chain, which is also the number of rounds.
    uint32_t GetLongestChain() const
    {
        return static_cast<uint32_t>(transfersPerRound.size());
    }

    /// Most bytes that one rank sends, over all ranks.
    uint64_t GetPeakSentBytes() const;
    /// Most bytes that one rank receives, over all ranks.
    uint64_t GetPeakReceivedBytes() const;
};

/**
 * Counts a plan.
 * \param groups levels over the ranks; a rank that a level does not list (a dedicated server, when
 * the groups are those of the workers) counts as a group of its own there
 */
PlanStatistics ComputePlanStatistics(const Plan& plan, const WorkerGroups& groups = {});

/// Likewise, without the rounds.
PlanStatistics CountPlanTraffic(const Plan& plan, const WorkerGroups& groups = {});

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_STATISTICS_H
