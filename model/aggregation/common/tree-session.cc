// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/tree-session.h"

#include "ns3/aggregation-load.h"

#include <algorithm>
#include <map>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Of links along a way up a tree.
struct WayTimes
{
    double delay{0.0};
    double perByte{0.0}; //!< of all links
    double slowest{0.0}; //!< likewise, of the slowest

    void Add(const TopologyLink& link)
    {
        const auto seconds = 8.0 / static_cast<double>(link.rate.GetBitRate());
        delay += link.delay.GetSeconds();
        perByte += seconds;
        slowest = std::max(slowest, seconds);
    }

    /// Of a full packet.
    double Get(double packetBytes) const
    {
        return delay + perByte * packetBytes;
    }
};

/// Finds what a tree puts on its links.
class TreeLoad
{
  public:
    TreeLoad(const Topology& topology, const SwitchTree& tree)
        : m_topology(topology),
          m_tree(tree)
    {
        for (uint32_t hop = 0; hop < tree.hops.size(); ++hop)
        {
            m_hopOf[tree.hops[hop].node] = hop;
        }
    }

    /// How often each link is used, each way, by packets on their way to a switch that adds.
    std::map<LinkId, std::pair<uint32_t, uint32_t>> CountUses(std::span<const uint32_t> endpoints)
    {
        for (size_t member = 0; member < endpoints.size(); ++member)
        {
            Walk(m_topology.GetEndpoints()[endpoints[member]], m_tree.memberPorts[member], false);
        }
        for (const auto& hop : m_tree.hops)
        {
            if (hop.aggregates && hop.up)
            {
                Walk(hop.node, *hop.up, false);
            }
        }
        return std::move(m_uses);
    }

    /// The way to the root on which a packet takes longest.
    WayTimes FindLongest(std::span<const uint32_t> endpoints, double packetBytes)
    {
        WayTimes longest;
        for (size_t member = 0; member < endpoints.size(); ++member)
        {
            const auto node = m_topology.GetEndpoints()[endpoints[member]];
            const auto way = Walk(node, m_tree.memberPorts[member], true);
            longest = way.Get(packetBytes) > longest.Get(packetBytes) ? way : longest;
        }
        return longest;
    }

  private:
    /// \param toRoot or to the next switch that adds
    WayTimes Walk(NodeId node, uint16_t port, bool toRoot)
    {
        WayTimes times;
        for (;;)
        {
            const auto& adjacency = m_topology.GetPorts(node)[port];
            const auto& link = m_topology.GetLinks()[adjacency.link];
            times.Add(link);
            if (!toRoot)
            {
                auto& [forth, back] = m_uses[adjacency.link];
                ++(link.a == node ? forth : back);
            }
            node = adjacency.peer;
            const auto& hop = m_tree.hops[m_hopOf.at(node)];
            if (!hop.up || (hop.aggregates && !toRoot))
            {
                return times;
            }
            port = *hop.up;
        }
    }

    const Topology& m_topology;
    const SwitchTree& m_tree;
    std::map<NodeId, uint32_t> m_hopOf;
    std::map<LinkId, std::pair<uint32_t, uint32_t>> m_uses;
};

} // namespace

TreeSession::TreeSession(AggregationDriver& driver, const AggregationGroup& group, uint32_t id)
    : AggregationSession(driver, group, id),
      m_turn(GetHost().TakeTurn())
{
}

bool
TreeSession::IsHit(const AggregationOutage& outage) const
{
    return std::ranges::any_of(m_adding,
                               [&outage](NodeId node) { return outage.switches.contains(node); }) ||
           std::ranges::any_of(m_tree.links, [&outage](LinkId link) {
               return !outage.links.empty() && outage.links[link];
           });
}

void
TreeSession::BuildTree()
{
    const auto& network = GetNetwork();
    auto root = GetGroup().rootSwitch;
    if (m_isBuilt && root && IsLost(*root))
    {
        root.reset(); // any other is better than none
    }
    m_tree = BuildSwitchTree(*network.topology, *GetEndpoints(), m_turn, network.outage, root);
    m_isBuilt = true;
    m_adding.clear();
    for (const auto& hop : m_tree.hops)
    {
        // The programs of others and their configuration do it all.
        if (hop.aggregates && !network.foreign.contains(hop.node))
        {
            CheckHop(hop);
            const auto memory = GetMemory(hop);
            TakeMemory(hop.node, memory.bytes, memory.isShared);
            m_adding.insert(hop.node);
        }
    }
}

/// Whether a switch that could be the root cannot any more.
bool
TreeSession::IsLost(NodeId root) const
{
    try
    {
        const auto& network = GetNetwork();
        BuildSwitchTree(*network.topology, *GetEndpoints(), m_turn, network.outage, root);
        return false;
    }
    catch (const std::invalid_argument&)
    {
        return true;
    }
}

double
TreeSession::GetRoom() const
{
    return 0.0;
}

void
TreeSession::CheckHop(const SwitchTree::Hop& /* hop */) const
{
}

FabricPort&
TreeSession::GetMemberPort(uint32_t member) const
{
    const auto endpoint = GetEndpoints()->at(member);
    return GetNetwork().fabric->GetEndpoint(endpoint).GetPort(m_tree.memberPorts[member]);
}

AggregationRole
TreeSession::MakeRole(uint32_t index, uint32_t slots) const
{
    const auto& hop = m_tree.hops[index];
    const auto& endpoints = *GetEndpoints();
    // Numbers of switches follow those of the workers.
    const auto numberOf = [&endpoints](uint32_t other) {
        return static_cast<uint16_t>(endpoints.size() + other);
    };
    AggregationRole role{.aggregates = hop.aggregates,
                         .worker = numberOf(index),
                         .up = hop.up,
                         .down = {},
                         .children = {},
                         .slots = slots};
    for (const auto& [below, port] : hop.down)
    {
        role.down.emplace(numberOf(below), port);
    }
    for (const auto& child : hop.children)
    {
        role.children.push_back(child.isMember
                                    ? AggregationRole::Child{static_cast<uint16_t>(child.index),
                                                             child.port,
                                                             endpoints[child.index]}
                                    : AggregationRole::Child{numberOf(child.index),
                                                             child.port,
                                                             AggregationRole::NO_ENDPOINT});
    }
    return role;
}

void
TreeSession::AddRoles(uint32_t slots)
{
    for (uint32_t i = 0; i < m_tree.hops.size(); ++i)
    {
        const auto& hop = m_tree.hops[i];
        if (GetNetwork().foreign.contains(hop.node))
        {
            continue; // its program and configuration do it all
        }
        auto& node = AddNode(hop.node);
        if (!hop.aggregates || HasProgram(hop.node))
        {
            AddRole(node, MakeRole(i, slots));
        }
    }
}

/// What goes up a link comes down it.
AggregationLoad
TreeSession::MakeLoad(const PacketShape& packet) const
{
    const auto& endpoints = *GetEndpoints();
    TreeLoad tree(*GetNetwork().topology, m_tree);
    AggregationLoad load;
    load.payloadBytes = packet.payloadBytes;
    for (const auto& hop : m_tree.hops)
    {
        if (hop.aggregates)
        {
            const auto memory = GetNetwork().memory.GetShare(GetMemory(hop).bytes);
            load.adders.push_back({.node = hop.node,
                                   .inputs = static_cast<uint32_t>(hop.children.size()),
                                   .room = std::max(GetRoom(), memory)});
        }
    }
    for (const auto& [link, uses] : tree.CountUses(endpoints))
    {
        const double count = uses.first + uses.second;
        for (const uint32_t direction : {2 * link, 2 * link + 1})
        {
            load.uses.push_back(
                {direction, count * packet.packetBytes, count * packet.contentFactor});
        }
    }
    const auto links = GetNetwork().topology->GetLinks();
    for (size_t member = 0; member < endpoints.size(); ++member)
    {
        const auto node = GetNetwork().topology->GetEndpoints()[endpoints[member]];
        const auto link = GetNetwork().topology->GetPorts(node)[m_tree.memberPorts[member]].link;
        load.firstLinks.push_back(2 * link + (links[link].a == node ? 0 : 1));
    }
    const auto full = packet.packetBytes + packet.contentFactor * packet.payloadBytes;
    const auto way = tree.FindLongest(endpoints, full);
    const auto makeLag = [&packet](double delay, double perByte) {
        return AggregationLoad::Lag{delay + perByte * packet.packetBytes,
                                    perByte * packet.contentFactor};
    };
    load.roundTrip = makeLag(2.0 * way.delay, 2.0 * way.perByte);
    load.tail = makeLag(2.0 * way.delay, 2.0 * way.perByte - way.slowest);
    return load;
}

} // namespace ns3::gradsync
