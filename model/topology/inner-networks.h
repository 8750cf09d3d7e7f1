// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_INNER_NETWORKS_H
#define GRADSYNC_INNER_NETWORKS_H

#include "ns3/topology.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * Links inside one server, with the nodes between them, by which nothing leaves the server: no node
 * that forwards there is connected to the outside, as an NvSwitch. Links of PCIe that lead to a NIC
 * too are none of them.
 */
struct InnerNetwork
{
    Topology topology;               //!< of it alone
    std::vector<uint32_t> endpoints; //!< [endpoint of it] that of the whole; two at least
    std::vector<LinkId> links;       //!< [link of it] that of the whole, with the same ends a and b
};

/// All that there are, each link and each endpoint in one of them at most.
std::vector<InnerNetwork> FindInnerNetworks(const Topology& topology);

} // namespace ns3::gradsync

#endif // GRADSYNC_INNER_NETWORKS_H
