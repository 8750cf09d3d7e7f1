// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ORACLE_NETWORK_H
#define GRADSYNC_ORACLE_NETWORK_H

#include "ns3/routing-tables.h"
#include "ns3/topology.h"
#include "ns3/transport.h"
#include "ns3/worker-groups.h"

#include <fmt/format.h>
#include <memory>
#include <vector>

namespace ns3::gradsync::oracles
{

/**
 * The network of the oracles: equal racks of hosts below one core switch, built by hand so that an
 * error in the generators cannot hide.
 */
struct RackNetwork
{
    std::shared_ptr<const Topology> topology;
    std::shared_ptr<const RoutingTables> routes;
    std::vector<LinkId> uplinks; //!< leaf (end a) to core (end b), one a rack
};

/// What the links of a RackNetwork are.
struct RackNetworkRates
{
    DataRate host;   //!< B
    DataRate uplink; //!< C = w_r * B / o
    Time delay;      //!< of every link
};

inline RackNetwork
MakeRackNetwork(uint32_t racks, uint32_t hostsPerRack, const RackNetworkRates& rates)
{
    auto topology = std::make_shared<Topology>();
    RackNetwork network;
    const auto core = topology->AddNode("core", NodeKind::Switch, 2);
    for (uint32_t rack = 0; rack < racks; ++rack)
    {
        const auto leaf = topology->AddNode(fmt::format("leaf{}", rack), NodeKind::Switch, 1);
        network.uplinks.push_back(
            topology->AddLink(leaf, core, rates.uplink, rates.delay, LinkKind::Fabric));
        for (uint32_t host = 0; host < hostsPerRack; ++host)
        {
            const auto node =
                topology->AddNode(fmt::format("host{}-{}", rack, host), NodeKind::Host, 0);
            topology->AddLink(node, leaf, rates.host, rates.delay, LinkKind::Host);
        }
    }
    network.topology = topology;
    network.routes = std::make_shared<RoutingTables>(*topology);
    return network;
}

/// Contiguous ranks in equal racks, as schemes see them.
inline WorkerGroups
MakeRackGroups(uint32_t racks, uint32_t hostsPerRack, double oversubscription)
{
    GroupLevel level{"rack", {}, racks, oversubscription};
    for (uint32_t rank = 0; rank < racks * hostsPerRack; ++rank)
    {
        level.groupOf.push_back(rank / hostsPerRack);
    }
    return {{level}};
}

/// Message bytes that left racks: each crosses exactly one uplink upwards.
inline uint64_t
CountCrossRackBytes(const RackNetwork& network, const Transport& transport)
{
    const auto links = transport.GetLinkStatistics();
    uint64_t bytes = 0;
    for (const auto uplink : network.uplinks)
    {
        bytes += links[2 * uplink].payloadBytes;
    }
    return bytes;
}

} // namespace ns3::gradsync::oracles

#endif // GRADSYNC_ORACLE_NETWORK_H
