// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WORKER_GROUPS_H
#define GRADSYNC_WORKER_GROUPS_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * One level of the hierarchy in which the ranks of a job sit: servers, racks, pods.
 *
 * Both ratios are computed from the graph and are the largest over the groups of this level
 * (doc/topology.rst derives them). 1 or less: not oversubscribed.
 */
struct GroupLevel
{
    std::string name;              //!< "server", "rack", "pod"
    std::vector<uint32_t> groupOf; //!< [rank] -> group, numbered 0.. in order of first appearance
    uint32_t groupCount{0};
    /**
     * Cumulative: the rate at which the servers inside (their ranks of the job) can send into the
     * network, over the summed rate of the links that leave the group. The o of the closed forms.
     * At level "server" the ranks inside take the place of the servers.
     */
    double oversubscription{1.0};
    /**
     * Of this level alone: the rate with which the next-inner groups can feed this one, limited by
     * their own uplinks, over the summed rate of the links that leave the group. Above 1 the level
     * adds a bottleneck of its own.
     */
    double feedRatio{1.0};
};

/**
 * The view of the topology that exchange schemes get: levels from the innermost to the outermost.
 * Each group of a level lies wholly inside one group of the next; the whole network is not listed
 * as a level.
 */
struct WorkerGroups
{
    std::vector<GroupLevel> levels;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_WORKER_GROUPS_H
