// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/graph-topology.h"

#include "ns3/nearest-name.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

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
constexpr int64_t MAX_TIER = 15;

template <typename Kinds>
std::vector<std::string>
GetNames(const Kinds& kinds)
{
    std::vector<std::string> names;
    names.reserve(kinds.size());
    for (const auto kind : kinds)
    {
        names.emplace_back(ToString(kind));
    }
    return names;
}

template <typename Kinds>
auto
FindGraphKind(const std::string& name, const Kinds& kinds)
{
    return *std::ranges::find_if(kinds, [&name](auto kind) { return ToString(kind) == name; });
}

NodeIndex
AddNodes(const std::vector<ParameterSet>& nodes, Topology& topology)
{
    NodeIndex index;
    for (size_t i = 0; i < nodes.size(); ++i)
    {
        const auto& name = nodes[i].Get<std::string>("name");
        if (index.contains(name))
        {
            throw ParameterError(
                fmt::format("nodes.{}.name", i),
                fmt::format("the name {} is taken by an earlier node", QuoteName(name)));
        }
        const auto kind = FindGraphKind(nodes[i].Get<std::string>("kind"), NODE_KINDS);
        const auto* tier = nodes[i].Find<int64_t>("tier");
        if (!tier && kind == NodeKind::Switch)
        {
            throw ParameterError(fmt::format("nodes.{}", i),
                                 "\"tier\" is missing: 1 for a leaf (top of rack), 2 for a spine "
                                 "or aggregation, 3 for a core");
        }
        index[name] = topology.AddNode(name, kind, tier ? static_cast<uint32_t>(*tier) : 0);
    }
    return index;
}

/// An end of a link: `a` or `b`.
NodeId
FindNode(const ParameterSet& link, size_t number, const char* end, const NodeIndex& index)
{
    const auto& name = link.Get<std::string>(end);
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
    throw ParameterError(
        fmt::format("links.{}.{}", number, end),
        fmt::format("no node has the name {}{}", QuoteName(name), SuggestName(name, names)));
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
AddLinks(const std::vector<ParameterSet>& links, const NodeIndex& index, Topology& topology)
{
    for (size_t i = 0; i < links.size(); ++i)
    {
        const auto& link = links[i];
        const NodeId a = FindNode(link, i, "a", index);
        const NodeId b = FindNode(link, i, "b", index);
        const auto* kind = link.Find<std::string>("kind");
        try
        {
            topology.AddLink(a,
                             b,
                             link.Get<DataRate>("rate"),
                             link.Get<Time>("delay"),
                             kind ? FindGraphKind(*kind, LINK_KINDS)
                                  : GuessKind(topology.GetNodes()[a], topology.GetNodes()[b]));
        }
        catch (const std::invalid_argument& error)
        {
            throw ParameterError(fmt::format("links.{}", i), error.what());
        }
    }
}

ParameterSpec
MakeNodesSpec()
{
    auto spec =
        MakeObjectSpec("nodes",
                       "all nodes",
                       {Required({"name", std::string("host0"), "by which links have it", {}, 1}),
                        Required({"kind", std::string("host"), "what it is", GetNames(NODE_KINDS)}),
                        Optional({"tier",
                                  int64_t{1},
                                  "of a switch: 1 leaf, 2 spine or aggregation, 3 core; else 0",
                                  {},
                                  0,
                                  MAX_TIER})});
    spec.isList = true;
    return Required(std::move(spec));
}

ParameterSpec
MakeLinksSpec()
{
    auto link = MakeLinkSpec("links", "all links", Presence::Required);
    link.members.insert(link.members.begin(),
                        {Required({"a", std::string("host0"), "name of a node", {}, 1}),
                         Required({"b", std::string("leaf0"), "name of another", {}, 1})});
    link.members.push_back(Optional({"kind",
                                     std::string("host"),
                                     "what it is; by default what the two ends suggest",
                                     GetNames(LINK_KINDS)}));
    link.isList = true;
    return link;
}

} // namespace

TopologyKind
MakeGraphKind()
{
    return {
        {"graph", "any network, node by node and link by link", {MakeNodesSpec(), MakeLinksSpec()}},
        [](const ParameterSet& parameters) {
            Topology topology;
            const auto index =
                AddNodes(parameters.Get<std::vector<ParameterSet>>("nodes"), topology);
            AddLinks(parameters.Get<std::vector<ParameterSet>>("links"), index, topology);
            return topology;
        }};
}

} // namespace ns3::gradsync
