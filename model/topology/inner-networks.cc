// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/inner-networks.h"

#include "ns3/forwarding-components.h"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <map>

namespace ns3::gradsync
{

namespace
{

/// [node]: an endpoint, or one from which those that forward do not lead out of the server.
std::vector<bool>
FindInnerNodes(const Topology& topology)
{
    const auto nodes = topology.GetNodes();
    const auto components = FindForwardingComponents(topology);
    std::vector<bool> leadsOut(components.count, false);
    for (NodeId node = 0; node < nodes.size(); ++node)
    {
        const auto component = components.componentOf[node];
        if (component == ForwardingComponents::None)
        {
            continue;
        }
        const bool isOutside = nodes[node].tier > 0 || nodes[node].kind == NodeKind::Nic;
        leadsOut[component] = leadsOut[component] || isOutside;
    }
    std::vector<bool> isInner(nodes.size());
    for (NodeId node = 0; node < nodes.size(); ++node)
    {
        const auto component = components.componentOf[node];
        isInner[node] = component == ForwardingComponents::None || !leadsOut[component];
    }
    return isInner;
}

} // namespace

std::vector<InnerNetwork>
FindInnerNetworks(const Topology& topology)
{
    const auto isInner = FindInnerNodes(topology);
    const auto isMeant = [&](const TopologyLink& link) {
        return !IsEthernet(link) && isInner[link.a] && isInner[link.b];
    };
    const auto nodes = topology.GetNodes();
    boost::disjoint_sets_with_storage<> sets(nodes.size());
    for (const auto& link : topology.GetLinks())
    {
        if (isMeant(link))
        {
            sets.union_set(link.a, link.b);
        }
    }
    // By their lowest nodes, so in the order of servers; nodes, endpoints and links in theirs.
    std::vector<InnerNetwork> networks;
    std::map<NodeId, size_t> networkOf; // by what stands for a set
    std::vector<NodeId> own(nodes.size());
    uint32_t endpoint = 0;
    for (NodeId node = 0; node < nodes.size(); ++node)
    {
        const bool isEndpoint = IsEndpoint(nodes[node].kind);
        const auto index = endpoint;
        endpoint += isEndpoint ? 1 : 0;
        if (!isInner[node])
        {
            continue;
        }
        const auto set = static_cast<NodeId>(sets.find_set(node));
        const auto [found, isNew] = networkOf.try_emplace(set, networks.size());
        if (isNew)
        {
            networks.emplace_back().topology.SetPathWeights(topology.GetPathWeights());
        }
        auto& network = networks[found->second];
        own[node] = network.topology.AddNode(nodes[node].name, nodes[node].kind, nodes[node].tier);
        if (isEndpoint)
        {
            network.endpoints.push_back(index);
        }
    }
    for (LinkId id = 0; id < topology.GetLinks().size(); ++id)
    {
        const auto& link = topology.GetLinks()[id];
        if (isMeant(link))
        {
            auto& network = networks[networkOf.at(static_cast<NodeId>(sets.find_set(link.a)))];
            network.topology.AddLink(own[link.a], own[link.b], link.rate, link.delay, link.kind);
            network.links.push_back(id);
        }
    }
    std::erase_if(networks, [](const auto& network) { return network.endpoints.size() < 2; });
    return networks;
}

} // namespace ns3::gradsync
