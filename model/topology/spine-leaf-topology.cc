// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/spine-leaf-topology.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

/// Hosts of each leaf. \throws std::invalid_argument unless exactly one way of saying so is used
std::vector<uint32_t>
GetRackSizes(const SpineLeafOptions& options)
{
    if (options.hostsOfLeaf.empty())
    {
        CheckPositive(options.hostsPerLeaf, "hostsPerLeaf");
        return std::vector<uint32_t>(options.leaves, options.hostsPerLeaf);
    }
    if (options.hostsPerLeaf != 0)
    {
        throw std::invalid_argument("give either hostsPerLeaf or hostsOfLeaf, not both");
    }
    if (options.hostsOfLeaf.size() != options.leaves)
    {
        throw std::invalid_argument(fmt::format("hostsOfLeaf has {} entries for {} leaves",
                                                options.hostsOfLeaf.size(),
                                                options.leaves));
    }
    for (size_t leaf = 0; leaf < options.hostsOfLeaf.size(); ++leaf)
    {
        CheckPositive(options.hostsOfLeaf[leaf], fmt::format("hostsOfLeaf[{}]", leaf));
    }
    return options.hostsOfLeaf;
}

} // namespace

Topology
MakeSpineLeafTopology(const SpineLeafOptions& options)
{
    Topology topology;
    ServerBuilder servers(topology, options.server, options.hostLink);
    CheckPositive(options.spines, "spines");
    CheckPositive(options.leaves, "leaves");
    CheckLinkCount(uint64_t{options.spines} * options.leaves);
    const auto rackSizes = GetRackSizes(options);
    servers.CheckServerCount(std::accumulate(rackSizes.begin(), rackSizes.end(), uint64_t{0}));
    auto fabricLink = options.fabricLink;
    if (options.oversubscription != 0)
    {
        const auto largest = *std::max_element(rackSizes.begin(), rackSizes.end());
        fabricLink.rate = GetOversubscribedRate(largest * servers.GetDemandBps(),
                                                options.spines,
                                                options.oversubscription,
                                                "oversubscription");
    }
    CheckLink(fabricLink, "fabricLink");

    std::vector<NodeId> spines;
    for (uint32_t spine = 0; spine < options.spines; ++spine)
    {
        spines.push_back(topology.AddNode(fmt::format("spine{}", spine), NodeKind::Switch, 2));
    }
    std::vector<NodeId> leaves;
    for (uint32_t leaf = 0; leaf < options.leaves; ++leaf)
    {
        leaves.push_back(topology.AddNode(fmt::format("leaf{}", leaf), NodeKind::Switch, 1));
        for (const auto spine : spines)
        {
            topology.AddLink(leaves.back(),
                             spine,
                             fabricLink.rate,
                             fabricLink.delay,
                             LinkKind::Fabric);
        }
    }
    for (uint32_t leaf = 0; leaf < options.leaves; ++leaf)
    {
        for (uint32_t host = 0; host < rackSizes[leaf]; ++host)
        {
            servers.AddServer(leaves[leaf]);
        }
    }
    return topology;
}

namespace
{

std::vector<uint32_t>
GetUnevenRacks(const ParameterSet& parameters)
{
    std::vector<uint32_t> hosts;
    if (const auto* counts = parameters.Find<std::vector<double>>("hostsOfLeaf"))
    {
        if (parameters.Has("hostsPerLeaf"))
        {
            throw ParameterError(
                "hostsOfLeaf",
                "\"hostsPerLeaf\" and \"hostsOfLeaf\" are both given, expected one of them");
        }
        hosts.assign(counts->begin(), counts->end());
    }
    else if (!parameters.Has("hostsPerLeaf"))
    {
        throw ParameterError::Missing("hostsPerLeaf", "4");
    }
    return hosts;
}

Topology
MakeSpineLeaf(const ParameterSet& parameters)
{
    SpineLeafOptions options;
    options.spines = GetCountOf(parameters, "spines");
    options.leaves = GetCountOf(parameters, "leaves");
    options.hostsOfLeaf = GetUnevenRacks(parameters);
    options.hostsPerLeaf = GetCountOf(parameters, "hostsPerLeaf");
    options.oversubscription = parameters.Get<double>("oversubscription");
    options.hostLink = GetLink(parameters, "hostLink");
    options.fabricLink = GetUplink(parameters, "fabricLink", options.oversubscription);
    options.server = GetServer(parameters);
    return MakeSpineLeafTopology(options);
}

} // namespace

TopologyKind
MakeSpineLeafKind()
{
    return {{"spine-leaf",
             "two levels: every leaf has one link to every spine",
             {MakeCountSpec("spines", "spine switches", 2),
              MakeCountSpec("leaves", "leaf switches (racks)", 4),
              Optional(MakeCountSpec("hostsPerLeaf", "servers of each rack", 8)),
              Optional(MakeCountListSpec("hostsOfLeaf",
                                         "uneven racks, in place of hostsPerLeaf: servers of each "
                                         "leaf")),
              MakeLinkSpec("hostLink", "server to leaf", Presence::Required),
              MakeLinkSpec("fabricLink", "leaf to spine", Presence::Optional),
              MakeOversubscriptionSpec("oversubscription",
                                       "wanted ratio, sets the rate of fabricLink; 0: its own "
                                       "rate counts"),
              MakeServerSpec()}},
            &MakeSpineLeaf};
}

} // namespace ns3::gradsync
