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
 * Oversubscription is computed from the graph: over the groups of this level, the largest ratio of the
 * summed rate at which the ranks inside can send to the summed rate of the links that leave the group.
 * 1 or less: not oversubscribed.
 */
struct GroupLevel
{
    std::string name;              //!< "server", "rack", "pod"
    std::vector<uint32_t> groupOf; //!< [rank] -> group, numbered 0.. in order of first appearance
    uint32_t groupCount{0};
    double oversubscription{1.0};
};

/**
 * The view of the topology that exchange schemes get: levels from the innermost to the outermost. Each
 * group of a level lies wholly inside one group of the next; the whole network is not listed as a level.
 */
struct WorkerGroups
{
    std::vector<GroupLevel> levels;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_WORKER_GROUPS_H
