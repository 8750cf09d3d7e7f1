// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_VOLUMES_H
#define GRADSYNC_TRAINING_VOLUMES_H

#include "ns3/rank-layout.h"
#include "ns3/training-workload.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace ns3::gradsync::tests
{

/// How often a scheme moves so many bytes on groups of a kind.
using Volumes = std::map<std::tuple<ParallelGroup, std::string, uint64_t>, uint32_t>;

inline void
CountVolumes(const std::vector<BlockCollective>& collectives, Volumes& volumes)
{
    for (const auto& collective : collectives)
    {
        ++volumes[{collective.group, collective.scheme.scheme->name, collective.bytes}];
    }
}

/// Of a microbatch, of a direction, without groups of one rank.
inline Volumes
CountVolumes(const TrainingSpec& spec, bool isForward)
{
    Volumes volumes;
    for (const auto& block : spec.blocks)
    {
        CountVolumes(isForward ? block.beforeForward : block.beforeBackward, volumes);
        CountVolumes(isForward ? block.afterForward : block.afterBackward, volumes);
    }
    const RankLayout layout(GetDegrees(spec));
    std::erase_if(volumes, [&layout](const auto& entry) {
        return layout.GetGroupSize(std::get<0>(entry.first)) == 1;
    });
    return volumes;
}

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_TRAINING_VOLUMES_H
