// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/part-aggregation.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

/// Of which each process has its own share.
constexpr std::array COUNTERS{&AggregationStatistics::results,
                              &AggregationStatistics::retransmissions,
                              &AggregationStatistics::repeatedResults,
                              &AggregationStatistics::staleDrops,
                              &AggregationStatistics::overflows,
                              &AggregationStatistics::serverPackets,
                              &AggregationStatistics::collisions,
                              &AggregationStatistics::wrongSums,
                              &AggregationStatistics::overflowedSums,
                              &AggregationStatistics::checkedSums,
                              &AggregationStatistics::rebuilds,
                              &AggregationStatistics::resizes,
                              &AggregationStatistics::floatPackets,
                              &AggregationStatistics::sumPrint,
                              &AggregationStatistics::handlers};

struct PackedAggregation
{
    std::array<uint64_t, COUNTERS.size()> counters;
    int64_t handlerWait;
    uint64_t longestHandlerQueue;
    int64_t busiestCores;
    double squaredSumErrors;
    double squaredSums;
    double largestSumError;
};

PackedAggregation
PackAggregation(const AggregationStatistics& statistics)
{
    PackedAggregation packed{.counters = {},
                             .handlerWait = statistics.handlerWait.GetTimeStep(),
                             .longestHandlerQueue = statistics.longestHandlerQueue,
                             .busiestCores = statistics.busiestCores.GetTimeStep(),
                             .squaredSumErrors = statistics.squaredSumErrors,
                             .squaredSums = statistics.squaredSums,
                             .largestSumError = statistics.largestSumError};
    for (size_t i = 0; i < packed.counters.size(); ++i)
    {
        packed.counters[i] = statistics.*COUNTERS[i];
    }
    return packed;
}

} // namespace

void
AppendStatistics(ByteBatch& batch, const AggregationStatistics& statistics)
{
    AppendPlain(batch, PackAggregation(statistics));
}

void
AddStatistics(BatchReader& batch, AggregationStatistics& statistics)
{
    const auto packed = batch.Take<PackedAggregation>();
    if (packed.squaredSums > 0.0 && statistics.squaredSums > 0.0)
    {
        throw std::runtime_error("groups that measure the errors of their sums in several "
                                 "processes cannot go with --ranks: their order counts");
    }
    for (size_t i = 0; i < packed.counters.size(); ++i)
    {
        statistics.*COUNTERS[i] += packed.counters[i];
    }
    statistics.handlerWait += TimeStep(static_cast<uint64_t>(packed.handlerWait));
    statistics.longestHandlerQueue =
        std::max(statistics.longestHandlerQueue, packed.longestHandlerQueue);
    statistics.busiestCores = std::max<Time>(statistics.busiestCores,
                                             TimeStep(static_cast<uint64_t>(packed.busiestCores)));
    statistics.squaredSumErrors += packed.squaredSumErrors;
    statistics.squaredSums += packed.squaredSums;
    statistics.largestSumError = std::max(statistics.largestSumError, packed.largestSumError);
}

} // namespace ns3::gradsync
