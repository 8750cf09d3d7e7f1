// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAFFIC_KINDS_H
#define GRADSYNC_TRAFFIC_KINDS_H

#include "ns3/parameter-spec.h"
#include "ns3/traffic-generator.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// All background traffic that scenarios can name, and what they can say of it.
std::span<const KindSpec> GetTrafficKinds();

/**
 * Background traffic on a network.
 * \param hosts endpoints that send and receive, two at least \param parameters of GetTrafficKinds
 * \throws ParameterError
 */
TrafficSpec MakeTraffic(std::string_view kind,
                        const ParameterSet& parameters,
                        std::vector<uint32_t> hosts,
                        const Topology& topology);

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAFFIC_KINDS_H
