// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fat-tree-topology.h"

#include "ns3/three-tier-topology.h"

#include <fmt/format.h>
#include <stdexcept>

namespace ns3::gradsync
{

Topology
MakeFatTreeTopology(const FatTreeOptions& options)
{
    constexpr uint32_t MaxK =
        1024; // (k/2)^2 stays far inside 32 bits; the size limits bite earlier
    if (options.k == 0 || options.k % 2 != 0 || options.k > MaxK)
    {
        throw std::invalid_argument(
            fmt::format("k is {}, but must be an even number from 2 to {}", options.k, MaxK));
    }
    const auto half = options.k / 2;
    return MakeThreeTierTopology(
        {.pods = options.k,
         .leavesPerPod = half,
         .aggregationsPerPod = half,
         .cores = half * half,
         .hostsPerLeaf = options.hostsPerLeaf == 0 ? half : options.hostsPerLeaf,
         .coresPerAggregation = half,
         .hostLink = options.hostLink,
         .leafUplink = options.leafUplink,
         .aggregationUplink = options.aggregationUplink,
         .rackOversubscription = options.rackOversubscription,
         .podOversubscription = options.podOversubscription,
         .server = options.server});
}

namespace
{

Topology
MakeFatTree(const ParameterSet& parameters)
{
    FatTreeOptions options;
    options.k = GetCountOf(parameters, "k");
    options.hostsPerLeaf = GetCountOf(parameters, "hostsPerLeaf");
    GetTiers(parameters, options);
    return MakeFatTreeTopology(options);
}

} // namespace

TopologyKind
MakeFatTreeKind()
{
    auto parameters = MakeTierSpecs();
    parameters.insert(
        parameters.begin(),
        {MakeCountSpec("k", "ports of a switch, even", 8),
         Optional(MakeCountSpec("hostsPerLeaf", "servers of each rack; by default k/2", 4))});
    return {{"fat-tree",
             "k-ary fat-tree: k pods of k/2 leaves and k/2 aggregation switches, (k/2)^2 cores",
             std::move(parameters)},
            &MakeFatTree};
}

} // namespace ns3::gradsync
