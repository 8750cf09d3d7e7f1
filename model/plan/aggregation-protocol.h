// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_PROTOCOL_H
#define GRADSYNC_AGGREGATION_PROTOCOL_H

#include <cstdint>

namespace ns3::gradsync
{

/// How the network adds up for a plan (doc/aggregation.rst).
enum class AggregationProtocol : uint8_t
{
    SwitchMl, //!< slots, whose switches have room for all
    Passing,  //!< likewise; differs in how gradients become integers
    Atp,      //!< hashed aggregators, and a parameter server for what has no room
    NetReduce //!< boxes beside the switches, in the way of RoCE connections
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_PROTOCOL_H
