// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/network-reader.h"

#include "ns3/channel.h"
#include "ns3/ipv4.h"
#include "ns3/names.h"
#include "ns3/node.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/tcp-l4-protocol.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// A point-to-point link as its ends see it.
struct FoundLink
{
    std::array<Ptr<PointToPointNetDevice>, 2> devices;

    Ptr<Node> GetEnd(size_t end) const
    {
        return devices[end]->GetNode();
    }
};

DataRate
GetRate(const PointToPointNetDevice& device)
{
    DataRateValue rate;
    device.GetAttribute("DataRate", rate);
    return rate.Get();
}

/// Unique, and of no host that a Topology would call otherwise.
std::string
MakeName(const Node& node)
{
    return fmt::format("node{}", node.GetId());
}

/// As the program itself knows it.
std::string
Describe(const Ptr<Node>& node)
{
    const auto own = Names::FindName(node);
    return own.empty() ? fmt::format("node {}", node->GetId())
                       : fmt::format("node {} \"{}\"", node->GetId(), own);
}

/// Where others reach a host.
Ipv4Address
FindAddress(const Ptr<Node>& node)
{
    const auto ipv4 = node->GetObject<Ipv4>();
    if (!ipv4 || !node->GetObject<TcpL4Protocol>())
    {
        throw std::invalid_argument(fmt::format("{} has no Internet stack with IPv4 and TCP: "
                                                "install one with InternetStackHelper",
                                                Describe(node)));
    }
    for (uint32_t i = 0; i < ipv4->GetNInterfaces(); ++i)
    {
        if (ipv4->GetNAddresses(i) > 0 && DynamicCast<PointToPointNetDevice>(ipv4->GetNetDevice(i)))
        {
            return ipv4->GetAddress(i, 0).GetLocal();
        }
    }
    throw std::invalid_argument(fmt::format("no point-to-point device of {} has an IPv4 address: "
                                            "assign one with Ipv4AddressHelper",
                                            Describe(node)));
}

ExistingHost
MakeHost(const Ptr<Node>& node)
{
    const auto address = FindAddress(node);
    std::ostringstream text;
    text << address;
    return {node, address, fmt::format("{} ({})", Describe(node), text.str())};
}

class NetworkReader
{
  public:
    explicit NetworkReader(const NodeContainer& hosts)
    {
        for (auto node = hosts.Begin(); node != hosts.End(); ++node)
        {
            if (!m_distances.emplace((*node)->GetId(), 0).second)
            {
                throw std::invalid_argument(
                    fmt::format("{} is there twice: a host has one rank", Describe(*node)));
            }
            m_network.hosts.push_back(MakeHost(*node));
            m_nodes.push_back(*node);
        }
        FindNodes();
    }

    ExistingNetwork Read()
    {
        AddHosts();
        AddRouters();
        for (const auto& link : m_links)
        {
            AddLink(link);
        }
        Check();
        m_network.topology = std::make_shared<const Topology>(std::move(m_topology));
        return std::move(m_network);
    }

  private:
    /// Breadth first, so that distances are those from the nearest host.
    void FindNodes()
    {
        for (size_t head = 0; head < m_nodes.size(); ++head)
        {
            const auto node = m_nodes[head]; // the vector grows
            for (uint32_t i = 0; i < node->GetNDevices(); ++i)
            {
                const auto device = DynamicCast<PointToPointNetDevice>(node->GetDevice(i));
                const auto channel = device ? device->GetChannel() : nullptr;
                if (!channel || channel->GetNDevices() != 2)
                {
                    continue; // of another kind, or not linked yet
                }
                const auto peer = DynamicCast<PointToPointNetDevice>(channel->GetDevice(0) == device
                                                                         ? channel->GetDevice(1)
                                                                         : channel->GetDevice(0));
                const auto next = m_distances.at(node->GetId()) + 1;
                if (m_distances.emplace(peer->GetNode()->GetId(), next).second)
                {
                    m_nodes.push_back(peer->GetNode());
                }
                if (channel->GetDevice(0) == device)
                {
                    m_links.push_back({{device, peer}});
                }
            }
        }
    }

    bool IsHost(const Ptr<Node>& node) const
    {
        return m_distances.at(node->GetId()) == 0;
    }

    /// Whether packets between others may pass through a host.
    bool MayForward(const Ptr<Node>& host) const
    {
        uint32_t links = 0;
        bool hasHostBehind = false;
        for (const auto& link : m_links)
        {
            for (size_t end = 0; end < 2; ++end)
            {
                if (link.GetEnd(end) == host)
                {
                    ++links;
                    hasHostBehind = hasHostBehind || IsHost(link.GetEnd(1 - end));
                }
            }
        }
        return links > 1 || hasHostBehind;
    }

    void AddHosts()
    {
        for (const auto& host : m_network.hosts)
        {
            const auto name = MakeName(*host.node);
            const auto endpoint = m_topology.AddNode(name, NodeKind::Host, 0);
            m_at[host.node->GetId()] = endpoint;
            if (MayForward(host.node))
            {
                const auto forwarder = m_topology.AddNode(name + "-ports", NodeKind::Switch, 1);
                m_topology.AddLink(endpoint,
                                   forwarder,
                                   SumRates(host.node),
                                   Time(0),
                                   LinkKind::Pcie);
                m_network.devices.insert(m_network.devices.end(), 2, nullptr);
                m_at[host.node->GetId()] = forwarder;
            }
        }
    }

    DataRate SumRates(const Ptr<Node>& node) const
    {
        uint64_t sum = 0;
        for (const auto& link : m_links)
        {
            for (size_t end = 0; end < 2; ++end)
            {
                sum += link.GetEnd(end) == node ? GetRate(*link.devices[end]).GetBitRate() : 0;
            }
        }
        return DataRate(sum);
    }

    void AddRouters()
    {
        for (size_t i = m_network.hosts.size(); i < m_nodes.size(); ++i)
        {
            const auto id = m_nodes[i]->GetId();
            m_at[id] =
                m_topology.AddNode(MakeName(*m_nodes[i]), NodeKind::Switch, m_distances.at(id));
        }
    }

    void AddLink(const FoundLink& link)
    {
        TimeValue delay;
        link.devices[0]->GetChannel()->GetAttribute("Delay", delay);
        const auto kind =
            IsHost(link.GetEnd(0)) || IsHost(link.GetEnd(1)) ? LinkKind::Host : LinkKind::Fabric;
        // A Topology has one rate for both directions: the lower one bounds what a plan can do.
        const auto rate = std::min(GetRate(*link.devices[0]), GetRate(*link.devices[1]));
        m_topology.AddLink(m_at.at(link.GetEnd(0)->GetId()),
                           m_at.at(link.GetEnd(1)->GetId()),
                           rate,
                           delay.Get(),
                           kind);
        m_network.devices.insert(m_network.devices.end(), {link.devices[0], link.devices[1]});
    }

    void Check() const
    {
        const auto endpoints = m_topology.GetEndpoints();
        const auto distances = m_topology.GetDistancesTo(endpoints[0]);
        for (size_t host = 1; host < endpoints.size(); ++host)
        {
            if (distances[endpoints[host]] == Topology::Unreachable)
            {
                throw std::invalid_argument(
                    fmt::format("no point-to-point links lead from {} to {}",
                                m_network.hosts[host].name,
                                m_network.hosts[0].name));
            }
        }
    }

    ExistingNetwork m_network;
    Topology m_topology;
    std::vector<Ptr<Node>> m_nodes;           //!< hosts first
    std::vector<FoundLink> m_links;           //!< each once
    std::map<uint32_t, uint32_t> m_distances; //!< by id of the Node
    std::map<uint32_t, NodeId> m_at;          //!< likewise: where its links end
};

} // namespace

ExistingNetwork
ReadNetwork(const NodeContainer& hosts)
{
    if (hosts.GetN() == 0)
    {
        throw std::invalid_argument("there are no hosts");
    }
    return NetworkReader(hosts).Read();
}

} // namespace ns3::gradsync
