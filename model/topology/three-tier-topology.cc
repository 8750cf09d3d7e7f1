// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/three-tier-topology.h"

#include <fmt/format.h>
#include <stdexcept>
#include <vector>

namespace ns3::gradsync
{

namespace
{

uint64_t
GetUplinksPerAggregation(const ThreeTierOptions& options)
{
    return options.coresPerAggregation == 0 ? options.cores : options.coresPerAggregation;
}

void
CheckCounts(const ThreeTierOptions& options)
{
    CheckPositive(options.pods, "pods");
    CheckPositive(options.leavesPerPod, "leavesPerPod");
    CheckPositive(options.aggregationsPerPod, "aggregationsPerPod");
    CheckPositive(options.cores, "cores");
    CheckPositive(options.hostsPerLeaf, "hostsPerLeaf");
    const auto planes = uint64_t{options.aggregationsPerPod} * options.coresPerAggregation;
    if (options.coresPerAggregation != 0 && planes != options.cores)
    {
        throw std::invalid_argument(
            fmt::format("cores is {}, but {} aggregation switches a pod with {} cores each need {}",
                        options.cores,
                        options.aggregationsPerPod,
                        options.coresPerAggregation,
                        planes));
    }
    // In steps, so that no product overflows.
    const auto leafLinks = uint64_t{options.leavesPerPod} * options.aggregationsPerPod;
    CheckLinkCount(leafLinks);
    const auto coreLinks = options.aggregationsPerPod * GetUplinksPerAggregation(options);
    CheckLinkCount(coreLinks);
    CheckLinkCount(options.pods * (leafLinks + coreLinks));
}

/// The options with the rates that the wanted oversubscriptions ask for.
ThreeTierOptions
ResolveRates(ThreeTierOptions options, double serverDemandBps)
{
    const auto rackDemand = options.hostsPerLeaf * serverDemandBps;
    if (options.rackOversubscription != 0)
    {
        options.leafUplink.rate = GetOversubscribedRate(rackDemand,
                                                        options.aggregationsPerPod,
                                                        options.rackOversubscription,
                                                        "rackOversubscription");
    }
    if (options.podOversubscription != 0)
    {
        options.aggregationUplink.rate =
            GetOversubscribedRate(options.leavesPerPod * rackDemand,
                                  options.aggregationsPerPod * GetUplinksPerAggregation(options),
                                  options.podOversubscription,
                                  "podOversubscription");
    }
    CheckLink(options.leafUplink, "leafUplink");
    CheckLink(options.aggregationUplink, "aggregationUplink");
    return options;
}

std::vector<NodeId>
AddSwitches(Topology& topology, const char* name, uint32_t count, uint32_t tier)
{
    std::vector<NodeId> switches;
    for (uint32_t i = 0; i < count; ++i)
    {
        switches.push_back(topology.AddNode(fmt::format("{}{}", name, i), NodeKind::Switch, tier));
    }
    return switches;
}

void
Connect(Topology& topology, NodeId a, NodeId b, const LinkOptions& link)
{
    topology.AddLink(a, b, link.rate, link.delay, LinkKind::Fabric);
}

} // namespace

Topology
MakeThreeTierTopology(const ThreeTierOptions& wanted)
{
    Topology topology;
    ServerBuilder servers(topology, wanted.server, wanted.hostLink);
    CheckCounts(wanted);
    const auto leafCount = wanted.pods * wanted.leavesPerPod;
    servers.CheckServerCount(uint64_t{leafCount} * wanted.hostsPerLeaf);
    const auto options = ResolveRates(wanted, servers.GetDemandBps());
    const auto perPod = options.aggregationsPerPod;
    const auto cores = AddSwitches(topology, "core", options.cores, 3);
    const auto aggregations = AddSwitches(topology, "aggregation", options.pods * perPod, 2);
    const auto leaves = AddSwitches(topology, "leaf", leafCount, 1);

    const auto uplinks = GetUplinksPerAggregation(options);
    for (uint32_t i = 0; i < aggregations.size(); ++i)
    {
        const auto firstCore = i % perPod * options.coresPerAggregation;
        for (uint32_t core = 0; core < uplinks; ++core)
        {
            Connect(topology, aggregations[i], cores[firstCore + core], options.aggregationUplink);
        }
    }
    for (uint32_t leaf = 0; leaf < leafCount; ++leaf)
    {
        const auto pod = leaf / options.leavesPerPod;
        for (uint32_t i = 0; i < perPod; ++i)
        {
            Connect(topology, leaves[leaf], aggregations[pod * perPod + i], options.leafUplink);
        }
        for (uint32_t host = 0; host < options.hostsPerLeaf; ++host)
        {
            servers.AddServer(leaves[leaf]);
        }
    }
    return topology;
}

namespace
{

Topology
MakeThreeTier(const ParameterSet& parameters)
{
    ThreeTierOptions options;
    options.pods = GetCountOf(parameters, "pods");
    options.leavesPerPod = GetCountOf(parameters, "leavesPerPod");
    options.aggregationsPerPod = GetCountOf(parameters, "aggregationsPerPod");
    options.cores = GetCountOf(parameters, "cores");
    options.hostsPerLeaf = GetCountOf(parameters, "hostsPerLeaf");
    options.coresPerAggregation = GetCountOf(parameters, "coresPerAggregation");
    GetTiers(parameters, options);
    return MakeThreeTierTopology(options);
}

} // namespace

TopologyKind
MakeThreeTierKind()
{
    auto parameters = MakeTierSpecs();
    parameters.insert(
        parameters.begin(),
        {MakeCountSpec("pods", "pods", 4),
         MakeCountSpec("leavesPerPod", "racks of a pod", 2),
         MakeCountSpec("aggregationsPerPod", "aggregation switches of a pod", 2),
         MakeCountSpec("cores", "core switches", 4),
         MakeCountSpec("hostsPerLeaf", "servers of each rack", 4),
         Optional(MakeCountSpec("coresPerAggregation",
                                "core planes: cores that each aggregation switch of a pod has; "
                                "not given: every one is linked to every core",
                                2))});
    return {{"three-tier",
             "pods of leaves and aggregation switches below a layer of cores",
             std::move(parameters)},
            &MakeThreeTier};
}

} // namespace ns3::gradsync
