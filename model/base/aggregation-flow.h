// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_FLOW_H
#define GRADSYNC_AGGREGATION_FLOW_H

#include <cstdint>

namespace ns3::gradsync
{

/// Which members of a group give to an aggregation in the network, and which get what comes of it.
enum class AggregationFlow : uint8_t
{
    AllReduce, //!< all give, all get the sum
    Reduce,    //!< all give, the root gets the sum
    Multicast  //!< the root gives, all get it
};

/// As messages and files have it: "all-reduce".
inline const char*
GetFlowName(AggregationFlow flow)
{
    switch (flow)
    {
    case AggregationFlow::Reduce:
        return "reduce";
    case AggregationFlow::Multicast:
        return "multicast";
    case AggregationFlow::AllReduce:
        break;
    }
    return "all-reduce";
}

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_FLOW_H
