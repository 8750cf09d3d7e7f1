// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WHOLE_AGGREGATION_H
#define GRADSYNC_WHOLE_AGGREGATION_H

#include "ns3/aggregation-protocol.h"
#include "ns3/plan.h"
#include "ns3/scheme.h"

#include <cstdint>

namespace ns3::gradsync
{

/// The network aggregates the whole gradient of all workers by a protocol, so many pieces one after
/// another. \throws SchemeError for more pieces than a plan can have
Plan BuildWholeAggregation(const SchemeRequest& request,
                           AggregationProtocol protocol,
                           uint32_t pieces);

} // namespace ns3::gradsync

#endif // GRADSYNC_WHOLE_AGGREGATION_H
