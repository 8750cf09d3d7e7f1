// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RANK_READER_H
#define GRADSYNC_RANK_READER_H

#include "ns3/json-value.h"
#include "ns3/nstime.h"
#include "ns3/topology.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Who a job needs.
struct RankDemand
{
    std::string who;    //!< for messages, as "the scheme ps"
    std::string scheme; //!< its name; empty: it has none
    uint32_t leastWorkers{2};
    uint32_t servers{0}; //!< dedicated ones
};

/// Where the ranks of a job stand.
struct RankPlaces
{
    uint32_t workers{0};
    std::vector<uint32_t> endpointOf; //!< [rank] -> endpoint index, workers first, then servers
};

/**
 * Reads `workers`, `endpoints` and `serverEndpoints` of a job: the first ones of its endpoints
 * work, as many as it wants at the end serve.
 * \throws ScenarioError
 */
RankPlaces ReadRanks(const JsonValue& job, const Topology& topology, const RankDemand& demand);

/// Those that a job lists, or all of the network. \throws ScenarioError
std::vector<uint32_t> ReadEndpointsOrAll(const JsonValue& job, const Topology& topology);

/// The computations of the workers of a job.
struct ComputeTimes
{
    Time compute;
    std::vector<Time> computeOf; //!< [worker]: in place of `compute`; empty: all take that
};

/// Reads `compute` of a job. \throws ScenarioError
ComputeTimes ReadCompute(const JsonValue& job, uint32_t workers);

} // namespace ns3::gradsync

#endif // GRADSYNC_RANK_READER_H
