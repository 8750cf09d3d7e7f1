// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/topology-section.h"

#include "ns3/fat-tree-topology.h"
#include "ns3/graph-topology-reader.h"
#include "ns3/spine-leaf-topology.h"
#include "ns3/star-topology.h"
#include "ns3/three-tier-topology.h"
#include "ns3/time-range.h"
#include "ns3/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Counts in files are bounded here; the generators bound the size of the whole network.
constexpr uint64_t MAX_COUNT = 65'535;
constexpr double MAX_OVERSUBSCRIPTION = 1e6;

const std::vector<std::string> LINK_KEYS{"rate", "delay"};
const std::vector<std::string> SERVER_KEYS{"accelerators",
                                           "nics",
                                           "sockets",
                                           "pcie",
                                           "upi",
                                           "nvlink"};

struct TopologyKind
{
    std::string name;
    std::string summary;
    std::vector<std::string> keys; //!< beside `kind` and `file`
    Topology (*read)(const JsonValue&);
};

uint32_t
ReadCount(const JsonValue& value, const std::string& key)
{
    return static_cast<uint32_t>(value.Require(key, "4").AsUnsigned(1, MAX_COUNT));
}

void
ReadOptionalCount(const JsonValue& value, const std::string& key, uint32_t& count)
{
    if (const auto member = value.Find(key))
    {
        count = static_cast<uint32_t>(member->AsUnsigned(1, MAX_COUNT));
    }
}

double
ReadOversubscription(const JsonValue& value, const std::string& key)
{
    const auto member = value.Find(key);
    return member ? member->AsNumber(0.0, MAX_OVERSUBSCRIPTION) : 0.0;
}

/// \param rateNeeded false where something else decides the rate
LinkOptions
ReadLink(const JsonValue& link, bool rateNeeded = true)
{
    link.CheckKeys(LINK_KEYS);
    LinkOptions options;
    options.delay = MicroSeconds(1);
    const auto rate = link.Find("rate");
    if (rate || rateNeeded)
    {
        options.rate = (rate ? *rate : link.Require("rate", "40Gbps")).AsRate(MIN_LINK_BIT_RATE);
    }
    if (const auto delay = link.Find("delay"))
    {
        options.delay = delay->AsTime(PicoSeconds(MAX_LINK_DELAY));
    }
    return options;
}

LinkOptions
RequireLink(const JsonValue& value, const std::string& key, bool rateNeeded = true)
{
    const auto link = value.Find(key);
    return link || rateNeeded ? ReadLink(value.Require(key, "{...}"), rateNeeded)
                              : LinkOptions{DataRate(0), MicroSeconds(1)};
}

/// A link inside a server: what is not given keeps its default.
void
ReadInnerLink(const JsonValue& server, const std::string& key, LinkOptions& options)
{
    const auto link = server.Find(key);
    if (!link)
    {
        return;
    }
    link->CheckKeys(LINK_KEYS);
    if (const auto rate = link->Find("rate"))
    {
        options.rate = rate->AsRate(MIN_LINK_BIT_RATE);
    }
    if (const auto delay = link->Find("delay"))
    {
        options.delay = delay->AsTime(PicoSeconds(MAX_LINK_DELAY));
    }
}

ServerOptions
ReadServer(const JsonValue& value)
{
    ServerOptions options;
    if (const auto server = value.Find("server"))
    {
        server->CheckKeys(SERVER_KEYS);
        ReadOptionalCount(*server, "accelerators", options.accelerators);
        ReadOptionalCount(*server, "nics", options.nics);
        ReadOptionalCount(*server, "sockets", options.sockets);
        ReadInnerLink(*server, "pcie", options.pcie);
        ReadInnerLink(*server, "upi", options.upi);
        ReadInnerLink(*server, "nvlink", options.nvlink);
    }
    return options;
}

Topology
ReadStar(const JsonValue& value)
{
    return MakeStarTopology(
        {ReadCount(value, "hosts"), RequireLink(value, "hostLink"), ReadServer(value)});
}

Topology
ReadSpineLeaf(const JsonValue& value)
{
    SpineLeafOptions options;
    options.spines = ReadCount(value, "spines");
    options.leaves = ReadCount(value, "leaves");
    if (const auto hosts = value.Find("hostsOfLeaf"))
    {
        for (const auto& count : hosts->GetItems())
        {
            options.hostsOfLeaf.push_back(static_cast<uint32_t>(count.AsUnsigned(0, MAX_COUNT)));
        }
        if (value.Find("hostsPerLeaf"))
        {
            hosts->FailWith(
                "\"hostsPerLeaf\" and \"hostsOfLeaf\" are both given, expected one of them");
        }
    }
    else
    {
        options.hostsPerLeaf = ReadCount(value, "hostsPerLeaf");
    }
    options.oversubscription = ReadOversubscription(value, "oversubscription");
    options.hostLink = RequireLink(value, "hostLink");
    options.fabricLink = RequireLink(value, "fabricLink", options.oversubscription == 0.0);
    options.server = ReadServer(value);
    return MakeSpineLeafTopology(options);
}

/// The part that fat-tree and three-tier share.
template <typename Options>
void
ReadTiers(const JsonValue& value, Options& options)
{
    options.rackOversubscription = ReadOversubscription(value, "rackOversubscription");
    options.podOversubscription = ReadOversubscription(value, "podOversubscription");
    options.hostLink = RequireLink(value, "hostLink");
    options.leafUplink = RequireLink(value, "leafUplink", options.rackOversubscription == 0.0);
    options.aggregationUplink =
        RequireLink(value, "aggregationUplink", options.podOversubscription == 0.0);
    options.server = ReadServer(value);
}

Topology
ReadFatTree(const JsonValue& value)
{
    FatTreeOptions options;
    options.k = ReadCount(value, "k");
    ReadOptionalCount(value, "hostsPerLeaf", options.hostsPerLeaf);
    ReadTiers(value, options);
    return MakeFatTreeTopology(options);
}

Topology
ReadThreeTier(const JsonValue& value)
{
    ThreeTierOptions options;
    options.pods = ReadCount(value, "pods");
    options.leavesPerPod = ReadCount(value, "leavesPerPod");
    options.aggregationsPerPod = ReadCount(value, "aggregationsPerPod");
    options.cores = ReadCount(value, "cores");
    options.hostsPerLeaf = ReadCount(value, "hostsPerLeaf");
    ReadOptionalCount(value, "coresPerAggregation", options.coresPerAggregation);
    ReadTiers(value, options);
    return MakeThreeTierTopology(options);
}

const std::vector<TopologyKind>&
GetKinds()
{
    static const std::vector<TopologyKind> kinds{
        {"fat-tree",
         "k-ary fat-tree: k pods of k/2 leaves and k/2 aggregation switches, (k/2)^2 cores",
         {"k",
          "hostsPerLeaf",
          "hostLink",
          "leafUplink",
          "aggregationUplink",
          "rackOversubscription",
          "podOversubscription",
          "server"},
         &ReadFatTree},
        {"graph",
         "any network, node by node and link by link",
         {"nodes", "links"},
         &ReadGraphTopology},
        {"spine-leaf",
         "two levels: every leaf has one link to every spine",
         {"spines",
          "leaves",
          "hostsPerLeaf",
          "hostsOfLeaf",
          "hostLink",
          "fabricLink",
          "oversubscription",
          "server"},
         &ReadSpineLeaf},
        {"star", "all hosts on one switch", {"hosts", "hostLink", "server"}, &ReadStar},
        {"three-tier",
         "pods of leaves and aggregation switches below a layer of cores",
         {"pods",
          "leavesPerPod",
          "aggregationsPerPod",
          "cores",
          "hostsPerLeaf",
          "coresPerAggregation",
          "hostLink",
          "leafUplink",
          "aggregationUplink",
          "rackOversubscription",
          "podOversubscription",
          "server"},
         &ReadThreeTier}};
    return kinds;
}

const TopologyKind*
FindKind(std::string_view name)
{
    for (const auto& kind : GetKinds())
    {
        if (kind.name == name)
        {
            return &kind;
        }
    }
    return nullptr;
}

/// Of links whose rate follows from others; a rate in the file was checked where it stands.
void
CheckRates(const JsonValue& value, const Topology& topology)
{
    const auto nodes = topology.GetNodes();
    for (const auto& link : topology.GetLinks())
    {
        if (link.rate.GetBitRate() < MIN_LINK_BIT_RATE)
        {
            value.FailWith(fmt::format("the link {}-{} would have {}, expected {} at least",
                                       nodes[link.a].name,
                                       nodes[link.b].name,
                                       FormatRate(link.rate),
                                       FormatRate(DataRate(MIN_LINK_BIT_RATE))));
        }
    }
}

} // namespace

const std::vector<std::string>&
GetTopologyKinds()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> list;
        for (const auto& kind : GetKinds())
        {
            list.push_back(kind.name);
        }
        return list;
    }();
    return names;
}

std::string
GetTopologySummary(std::string_view kind)
{
    const auto* entry = FindKind(kind);
    return entry == nullptr ? "" : entry->summary;
}

std::vector<std::string>
GetTopologyKeys(std::string_view kind)
{
    const auto* entry = FindKind(kind);
    if (entry == nullptr)
    {
        return {};
    }
    std::vector<std::string> keys{"kind", "file", "pathWeights"};
    keys.insert(keys.end(), entry->keys.begin(), entry->keys.end());
    return keys;
}

std::vector<std::string>
GetTopologyPartKeys(const std::vector<std::string>& segments)
{
    const auto& last = segments.back();
    if (segments.size() == 1)
    {
        return last == "server"                                     ? SERVER_KEYS
               : last.ends_with("Link") || last.ends_with("Uplink") ? LINK_KEYS
                                                                    : std::vector<std::string>{};
    }
    const bool inner = segments.size() == 2 && segments[0] == "server" &&
                       (last == "pcie" || last == "upi" || last == "nvlink");
    return inner ? LINK_KEYS : std::vector<std::string>{};
}

Topology
ReadTopology(const JsonValue& value)
{
    if (!value.IsObject())
    {
        value.Fail("an object such as {\"kind\": \"star\", ...}");
    }
    const auto* kind = FindKind(value.Require("kind", "spine-leaf").AsChoice(GetTopologyKinds()));
    value.CheckKeys(GetTopologyKeys(kind->name));
    try
    {
        Topology topology = kind->read(value);
        if (topology.GetEndpoints().empty())
        {
            value.FailWith("the network has no endpoint (a node of kind host or accelerator)");
        }
        topology.CheckConnected();
        CheckRates(value, topology);
        if (const auto weights = value.Find("pathWeights"))
        {
            const bool isEven = weights->AsChoice({"even", "capacity"}) == "even";
            topology.SetPathWeights(isEven ? PathWeights::Even : PathWeights::Capacity);
        }
        return topology;
    }
    catch (const std::invalid_argument& error)
    {
        value.FailWith(error.what());
    }
}

} // namespace ns3::gradsync
