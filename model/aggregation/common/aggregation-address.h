// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_ADDRESS_H
#define GRADSYNC_AGGREGATION_ADDRESS_H

#include "ns3/topology.h"

#include <array>
#include <boost/endian/conversion.hpp>
#include <cstdint>

namespace ns3::gradsync
{

/// Addresses in the frames of aggregations: workers have those of their endpoints, as in frames of
/// RoCE, a job has one of its own, below it are those of the switches that are workers of a switch.
namespace AggregationAddress
{

inline constexpr uint32_t FIRST_ENDPOINT = 0x0A000001; // 10.0.0.1
inline constexpr uint32_t FIRST_JOB = 0x0A800000;      // 10.128.0.0
inline constexpr uint32_t FIRST_SWITCH = 0x0A900000;   // 10.144.0.0
/// In place of an endpoint.
inline constexpr uint32_t NO_ENDPOINT = UINT32_MAX;

/// Locally administered, one a node, as RoCE frames have them.
inline std::array<uint8_t, 6>
MakeMac(NodeId node)
{
    std::array<uint8_t, 6> mac{2};
    boost::endian::store_big_u32(&mac[2], node);
    return mac;
}

/// The endpoint with that address, or NO_ENDPOINT.
inline uint32_t
FindEndpoint(uint32_t ip, size_t endpoints)
{
    return ip >= FIRST_ENDPOINT && ip - FIRST_ENDPOINT < endpoints ? ip - FIRST_ENDPOINT
                                                                   : NO_ENDPOINT;
}

} // namespace AggregationAddress

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_ADDRESS_H
