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

TopologyKind
MakeStarKind()
{
    return {{"star",
             "all hosts on one switch",
             {MakeCountSpec("hosts", "servers", 8),
              MakeLinkSpec("hostLink", "server to switch", Presence::Required),
              MakeServerSpec()}},
            [](const ParameterSet& parameters) {
                return MakeStarTopology({GetCountOf(parameters, "hosts"),
                                         GetLink(parameters, "hostLink"),
                                         GetServer(parameters)});
            }};
}

} // namespace ns3::gradsync
