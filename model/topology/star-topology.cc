// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/star-topology.h"

namespace ns3::gradsync
{

Topology
MakeStarTopology(const StarOptions& options)
{
    Topology topology;
    ServerBuilder servers(topology, options.server, options.hostLink);
    CheckPositive(options.hosts, "hosts");
    servers.CheckServerCount(options.hosts);
    const auto leaf = topology.AddNode("leaf0", NodeKind::Switch, 1);
    for (uint32_t host = 0; host < options.hosts; ++host)
    {
        servers.AddServer(leaf);
    }
    return topology;
}

} // namespace ns3::gradsync
