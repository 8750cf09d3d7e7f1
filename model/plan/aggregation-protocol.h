// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_PROTOCOL_H
#define GRADSYNC_AGGREGATION_PROTOCOL_H

#include <string>

namespace ns3::gradsync
{

/// By which protocol the network aggregates for a plan (doc/aggregation.rst).
struct AggregationProtocol
{
    std::string name{}; //!< as drivers of aggregations know it; empty: nothing is aggregated
    /// Packets have a field for exponents, on which all workers agree ahead of the values.
    bool hasExponents{false};

    bool operator==(const AggregationProtocol&) const = default;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_PROTOCOL_H
