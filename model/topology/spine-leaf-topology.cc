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

} // namespace ns3::gradsync
