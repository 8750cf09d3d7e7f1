// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/graph-topology-reader.h"

#include "ns3/nearest-name.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

using NodeIndex = std::map<std::string, NodeId>;

constexpr std::array NODE_KINDS{NodeKind::Host,
                                NodeKind::Accelerator,
                                NodeKind::Nic,
                                NodeKind::PcieSwitch,
                                NodeKind::Cpu,
                                NodeKind::NvSwitch,
                                NodeKind::Switch};
constexpr std::array LINK_KINDS{LinkKind::Host,
                                LinkKind::Fabric,
                                LinkKind::Pcie,
                                LinkKind::Upi,
                                LinkKind::Nvlink};
/// Groups are derived per tier; no network is higher.
constexpr uint32_t MAX_TIER = 15;

template <typename Kinds>
auto
ReadKind(const JsonValue& value, const Kinds& kinds)
{
    std::vector<std::string> names;
    names.reserve(kinds.size());
    for (const auto kind : kinds)
    {
        names.emplace_back(ToString(kind));
    }
    const auto name = value.AsChoice(names);
    return kinds[static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin())];
}

NodeIndex
ReadNodes(const JsonValue& nodes, Topology& topology)
{
    NodeIndex index;
    for (const auto& node : nodes.GetItems())
    {
        node.CheckKeys({"name", "kind", "tier"});
        const auto nameValue = node.Require("name", "host0");
        const auto name = nameValue.AsName();
        if (index.contains(name))
        {
            nameValue.FailWith(
                fmt::format("the name {} is taken by an earlier node", ShowJson(nameValue.Get())));
        }
        const auto kind = ReadKind(node.Require("kind", "host"), NODE_KINDS);
        const auto tierValue = node.Find("tier");
        if (!tierValue && kind == NodeKind::Switch)
        {
            node.FailWith(
                "\"tier\" is missing: 1 for a leaf (top of rack), 2 for a spine or aggregation, "
                "3 for a core");
        }
        const auto tier = tierValue ? static_cast<uint32_t>(tierValue->AsUnsigned(0, MAX_TIER)) : 0;
        index[name] = topology.AddNode(name, kind, tier);
    }
    return index;
}

NodeId
FindNode(const JsonValue& value, const NodeIndex& index)
{
    const auto name = value.AsName();
    const auto found = index.find(name);
    if (found != index.end())
    {
        return found->second;
    }
    std::vector<std::string> names;
    for (const auto& [known, id] : index)
    {
        names.push_back(known);
    }
    value.FailWith(
        fmt::format("no node has the name {}{}", ShowJson(value.Get()), SuggestName(name, names)));
}

/// What a link most likely is when the file does not say so.
LinkKind
GuessKind(const TopologyNode& a, const TopologyNode& b)
{
    return a.kind == NodeKind::Switch && b.kind == NodeKind::Switch       ? LinkKind::Fabric
           : a.kind == NodeKind::Switch || b.kind == NodeKind::Switch     ? LinkKind::Host
           : a.kind == NodeKind::Cpu && b.kind == NodeKind::Cpu           ? LinkKind::Upi
           : a.kind == NodeKind::NvSwitch || b.kind == NodeKind::NvSwitch ? LinkKind::Nvlink
                                                                          : LinkKind::Pcie;
}

void
ReadLinks(const JsonValue& links, const NodeIndex& index, Topology& topology)
{
    for (const auto& link : links.GetItems())
    {
        link.CheckKeys({"a", "b", "rate", "delay", "kind"});
        const NodeId a = FindNode(link.Require("a", "host0"), index);
        const NodeId b = FindNode(link.Require("b", "leaf0"), index);
        const auto rate = link.Require("rate", "40Gbps").AsRate(MIN_LINK_BIT_RATE);
        const auto delay = link.Find("delay");
        const auto kind = link.Find("kind");
        try
        {
            topology.AddLink(a,
                             b,
                             rate,
                             delay ? delay->AsTime(PicoSeconds(MAX_LINK_DELAY)) : MicroSeconds(1),
                             kind ? ReadKind(*kind, LINK_KINDS)
                                  : GuessKind(topology.GetNodes()[a], topology.GetNodes()[b]));
        }
        catch (const std::invalid_argument& error)
        {
            link.FailWith(error.what());
        }
    }
}

} // namespace

Topology
ReadGraphTopology(const JsonValue& value)
{
    Topology topology;
    const auto index = ReadNodes(value.Require("nodes", "[...]"), topology);
    ReadLinks(value.Require("links", "[...]"), index, topology);
    return topology;
}

} // namespace ns3::gradsync
