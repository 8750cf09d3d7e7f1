// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/load-balancing.h"

#include "ns3/hash.h"

#include <algorithm>

namespace ns3::gradsync
{

namespace
{

/// D-mod-k: [tier] product of the upward fan-outs of the tiers below.
std::vector<uint32_t>
ComputeTierDivisors(const Topology& topology, const RoutingTables& routes)
{
    uint32_t topTier = 0;
    for (const auto& node : topology.GetNodes())
    {
        topTier = std::max(topTier, node.tier);
    }
    // The largest number of next hops that a node of a tier ever has is the tier's upward fan-out.
    std::vector<uint32_t> fanOut(topTier + 1, 1);
    for (NodeId node = 0; node < topology.GetNodes().size(); ++node)
    {
        auto& widest = fanOut[topology.GetNodes()[node].tier];
        widest = std::max(widest, routes.GetLargestSetSize(node));
    }
    std::vector<uint32_t> divisors(topTier + 1, 1);
    for (uint32_t tier = 2; tier <= topTier; ++tier)
    {
        divisors[tier] = divisors[tier - 1] * fanOut[tier - 1];
    }
    return divisors;
}

} // namespace

uint64_t
MakeNodeSalt(uint64_t hashSeed, uint32_t node)
{
    const uint64_t key[] = {hashSeed, node};
    return Hash64(reinterpret_cast<const char*>(key), sizeof(key));
}

std::vector<NextHopChooser>
MakeNextHopChoosers(const Topology& topology,
                    const RoutingTables& routes,
                    LoadBalancing loadBalancing,
                    uint64_t hashSeed)
{
    std::vector<NextHopChooser> choosers;
    const auto divisors = ComputeTierDivisors(topology, routes);
    for (NodeId node = 0; node < topology.GetNodes().size(); ++node)
    {
        if (loadBalancing == LB_DESTINATION)
        {
            const auto tier = topology.GetNodes()[node].tier;
            choosers.push_back(NextHopChooser::MakeDestination(divisors[tier]));
            continue;
        }
        choosers.push_back(NextHopChooser::MakeHash(MakeNodeSalt(hashSeed, node)));
    }
    return choosers;
}

} // namespace ns3::gradsync
