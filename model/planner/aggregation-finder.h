// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_FINDER_H
#define GRADSYNC_AGGREGATION_FINDER_H

#include "ns3/aggregation-load.h"
#include "ns3/plan.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/**
 * What the aggregations of a plan put on a network that is otherwise idle, by group of the plan;
 * nothing when its switches cannot aggregate so, or what that takes is not known.
 * \param endpointOf [rank] -> endpoint
 */
using AggregationFinder = std::function<std::optional<std::vector<AggregationLoad>>(
    const Plan& plan,
    std::span<const uint32_t> endpointOf)>;

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_FINDER_H
