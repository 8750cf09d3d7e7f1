// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/rail-topology.h"

#include <fmt/format.h>
#include <span>
#include <vector>

namespace ns3::gradsync
{

namespace
{

LinkOptions
GetFabricLink(const RailOptions& options, const ServerBuilder& servers)
{
    auto link = options.fabricLink;
    if (options.oversubscription != 0)
    {
        link.rate = GetOversubscribedRate(options.serversPerUnit * servers.GetDemandBps() /
                                              options.server.nics,
                                          uint64_t{options.spines} * options.linksPerSpine,
                                          options.oversubscription,
                                          "oversubscription");
    }
    CheckLink(link, "fabricLink");
    return link;
}

void
Check(const RailOptions& options, const ServerBuilder& servers)
{
    CheckPositive(options.units, "units");
    CheckPositive(options.serversPerUnit, "serversPerUnit");
    CheckPositive(options.spines, "spines");
    CheckPositive(options.linksPerSpine, "linksPerSpine");
    // Each count is below 2^16 in scenarios; two at a time, so that nothing wraps from C++ either.
    const auto leaves = uint64_t{options.units} * options.server.nics;
    CheckLinkCount(leaves);
    CheckLinkCount(leaves * options.spines);
    CheckLinkCount(leaves * options.spines * options.linksPerSpine);
    servers.CheckServerCount(uint64_t{options.units} * options.serversPerUnit);
}

} // namespace

Topology
MakeRailTopology(const RailOptions& options)
{
    Topology topology;
    ServerBuilder servers(topology, options.server, options.hostLink);
    Check(options, servers);
    const auto link = GetFabricLink(options, servers);
    std::vector<NodeId> spines;
    for (uint32_t spine = 0; spine < options.spines; ++spine)
    {
        spines.push_back(topology.AddNode(fmt::format("spine{}", spine), NodeKind::Switch, 2));
    }
    const auto rails = options.server.nics;
    std::vector<NodeId> leaves;
    for (uint32_t leaf = 0; leaf < options.units * rails; ++leaf)
    {
        leaves.push_back(topology.AddNode(fmt::format("leaf{}", leaf), NodeKind::Switch, 1));
        for (const auto spine : spines)
        {
            for (uint32_t parallel = 0; parallel < options.linksPerSpine; ++parallel)
            {
                topology.AddLink(leaves.back(), spine, link.rate, link.delay, LinkKind::Fabric);
            }
        }
    }
    for (uint32_t unit = 0; unit < options.units; ++unit)
    {
        const auto ofUnit = std::span(leaves).subspan(size_t{unit} * rails, rails);
        for (uint32_t server = 0; server < options.serversPerUnit; ++server)
        {
            servers.AddServer(ofUnit);
        }
    }
    return topology;
}

namespace
{

Topology
MakeRail(const ParameterSet& parameters)
{
    RailOptions options;
    options.units = GetCountOf(parameters, "units");
    options.serversPerUnit = GetCountOf(parameters, "serversPerUnit");
    options.spines = GetCountOf(parameters, "spines");
    options.linksPerSpine = GetCountOf(parameters, "linksPerSpine");
    options.oversubscription = parameters.Get<double>("oversubscription");
    options.hostLink = GetLink(parameters, "hostLink");
    options.fabricLink = GetUplink(parameters, "fabricLink", options.oversubscription);
    options.server = GetServer(parameters);
    return MakeRailTopology(options);
}

} // namespace

TopologyKind
MakeRailKind()
{
    const auto one = [](const char* name, const char* help) {
        auto spec = MakeCountSpec(name, help, 1);
        spec.presence = Presence::Default;
        return spec;
    };
    return {{"rail-optimised",
             "units of servers, NIC i of all servers of a unit at its leaf i, every leaf to every "
             "spine",
             {one("units", "scalable units"),
              MakeCountSpec("serversPerUnit", "servers of each unit", 32),
              MakeCountSpec("spines", "spine switches", 4),
              one("linksPerSpine", "parallel links of each leaf to each spine"),
              MakeLinkSpec("hostLink", "NIC to leaf", Presence::Required),
              MakeLinkSpec("fabricLink", "leaf to spine", Presence::Optional),
              MakeOversubscriptionSpec("oversubscription",
                                       "wanted ratio of a leaf, sets the rate of fabricLink; 0: "
                                       "its own rate counts"),
              MakeServerSpec()}},
            &MakeRail};
}

} // namespace ns3::gradsync
