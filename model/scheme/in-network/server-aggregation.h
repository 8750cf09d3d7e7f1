// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SERVER_AGGREGATION_H
#define GRADSYNC_SERVER_AGGREGATION_H

#include "ns3/scheme.h"

#include <cstdint>

namespace ns3::gradsync
{

/**
 * Ring reduce-scatter inside each server, switches that aggregate between those who own the same
 * slice, ring all-gather inside: PASSING, and NetReduce's all-reduce for servers of several
 * accelerators. A server is a group of the request's DefaultGroups::Servers.
 * \param parts of a slice that are aggregated apart
 */
Plan BuildServerAggregation(const SchemeRequest& request,
                            const AggregationProtocol& protocol,
                            uint32_t parts);

} // namespace ns3::gradsync

#endif // GRADSYNC_SERVER_AGGREGATION_H
