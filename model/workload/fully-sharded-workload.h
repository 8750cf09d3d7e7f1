// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FULLY_SHARDED_WORKLOAD_H
#define GRADSYNC_FULLY_SHARDED_WORKLOAD_H

#include "ns3/gradient-codecs.h"
#include "ns3/plan-shelf.h"
#include "ns3/scheme-choice.h"
#include "ns3/training-workload.h"
#include "ns3/workload.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// One iteration of ranks that hold a share of every parameter (ZeRO-3, FSDP).
struct FullyShardedSpec
{
    uint32_t ranks{1};
    std::vector<ModelBlock> blocks; //!< gradientBytes: of all parameters, which are gathered
    SchemeChoice gatherScheme;      //!< of parameters, before a block is computed
    SchemeChoice reduceScheme;      //!< of gradients, reduce-scatter
    std::vector<GradientCodecRule> codecs{}; //!< which gradients are compressed
};

/**
 * Parameters are gathered one block ahead, on one stream: on the way back AG 1, AG 2, RS 1, AG 3,
 * RS 2, ... (FSDP's backward prefetch; Zhao et al., VLDB'23, section 3.3.2). The backward pass
 * begins when the forward pass is done.
 *
 * \throws WorkloadError for no rank or no block; SchemeError when a scheme cannot do what it is to
 */
Workload MakeFullyShardedWorkload(const FullyShardedSpec& spec, PlanShelf& shelf);

} // namespace ns3::gradsync

#endif // GRADSYNC_FULLY_SHARDED_WORKLOAD_H
