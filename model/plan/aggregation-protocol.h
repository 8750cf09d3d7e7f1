// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_PROTOCOL_H
#define GRADSYNC_AGGREGATION_PROTOCOL_H

#include "ns3/aggregation-flow.h"

#include <cstdint>
#include <string>

namespace ns3::gradsync
{

/// By which protocol the network aggregates for a plan (doc/aggregation.rst).
struct AggregationProtocol
{
    std::string name{}; //!< as drivers of aggregations know it; empty: nothing is aggregated
    /// Packets have a field for exponents, on which all workers agree ahead of the values.
    bool hasExponents{false};
    /// Switches add floating-point numbers as they are: nothing is encoded for them.
    bool addsFloats{false};

    bool operator==(const AggregationProtocol&) const = default;
};

/// Which ranks of a group give to its aggregations, and which get what comes of them.
struct GroupFlow
{
    AggregationFlow flow{AggregationFlow::AllReduce};
    uint32_t root{0}; //!< rank, one of the group, of a flow that has one

    auto operator<=>(const GroupFlow&) const = default;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_PROTOCOL_H
