// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FORWARDING_COMPONENTS_H
#define GRADSYNC_FORWARDING_COMPONENTS_H

#include "ns3/topology.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// Connected components of the nodes that forward: what one path can pass lies in one of them.
struct ForwardingComponents
{
    static constexpr uint32_t None = UINT32_MAX;

    std::vector<uint32_t> componentOf; //!< [node]; None: an endpoint
    uint32_t count{0};
};

ForwardingComponents FindForwardingComponents(const Topology& topology);

} // namespace ns3::gradsync

#endif // GRADSYNC_FORWARDING_COMPONENTS_H
