// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PART_AGGREGATION_H
#define GRADSYNC_PART_AGGREGATION_H

#include "ns3/byte-batch.h"
#include "ns3/transport-aggregation.h"

namespace ns3::gradsync
{

/// What endpoints and switches of this process have counted of aggregations, for process 0.
void AppendStatistics(ByteBatch& batch, const AggregationStatistics& statistics);

/**
 * Adds what a process has appended to what those before have counted. \throws std::runtime_error
 * where several have compared sums with those of floats: one process alone adds up the errors in
 * the order in which they come, which turns the last bits
 */
void AddStatistics(BatchReader& batch, AggregationStatistics& statistics);

} // namespace ns3::gradsync

#endif // GRADSYNC_PART_AGGREGATION_H
