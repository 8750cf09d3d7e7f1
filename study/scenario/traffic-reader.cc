// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/traffic-reader.h"

#include "ns3/node-names.h"

#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace ns3::gradsync
{

namespace
{

const std::vector<std::string> TRAFFIC_KEYS{"kind", "sizes", "size", "start", "duration", "hosts"};
const std::vector<std::string> POISSON_KEYS{"load"};
const std::vector<std::string> INCAST_KEYS{"fanIn", "every"};

/// Seconds. The clock counts picoseconds.
constexpr double SHORTEST_GAP = 1e-12;

/// `sizes`, the name of a distribution, or `size`, the same for all.
void
ReadSizes(const JsonValue& value, TrafficSpec& spec)
{
    const auto sizes = value.Find("sizes");
    const auto size = value.Find("size");
    if (sizes && size)
    {
        size->FailWith("\"sizes\" and \"size\" are both given, expected one of them");
    }
    if (sizes)
    {
        std::vector<std::string> names;
        for (const auto& entry : GetFlowSizes())
        {
            names.push_back(entry.name);
        }
        spec.sizes = FindFlowSizes(sizes->AsChoice(names));
        return;
    }
    spec.bytes = value.Require("size", "\"64KiB\", or \"sizes\": \"websearch\"").AsBytes(1);
}

void
ReadHosts(const JsonValue& value, const Topology& topology, TrafficSpec& spec)
{
    if (const auto hosts = value.Find("hosts"))
    {
        spec.hosts = NodeNames::OfEndpoints(topology).ReadList(*hosts);
        if (spec.hosts.size() < 2)
        {
            hosts->Fail("two hosts at least");
        }
        return;
    }
    spec.hosts.resize(topology.GetEndpoints().size());
    std::iota(spec.hosts.begin(), spec.hosts.end(), 0);
    if (spec.hosts.size() < 2)
    {
        value.FailWith("the network has a single host");
    }
}

void
ReadLoad(const JsonValue& value, const Topology& topology, TrafficSpec& spec)
{
    const auto load = value.Require("load", "0.3");
    spec.load = load.AsNumber(1e-6, 1.0);
    if (!(GetOfferedBitRate(spec, topology) > 0.0))
    {
        load.FailWith("a share of the hosts' network links, but none of them has any");
    }
    if (const auto gap = GetMeanGap(spec, topology); gap < SHORTEST_GAP)
    {
        load.FailWith(
            fmt::format("these are flows every {:.2g} s on average, and no more than one every "
                        "{:.0e} s can be told apart: larger flows, or a smaller load",
                        gap,
                        SHORTEST_GAP));
    }
}

void
ReadArrivals(const JsonValue& value, const Topology& topology, TrafficSpec& spec)
{
    if (spec.kind == TrafficSpec::Kind::Poisson)
    {
        ReadLoad(value, topology, spec);
        return;
    }
    const auto most = spec.hosts.size() - 1;
    spec.fanIn =
        static_cast<uint32_t>(value.Require("fanIn", fmt::format("{}", most)).AsUnsigned(1, most));
    const auto every = value.Require("every", "\"1ms\"");
    spec.every = every.AsTime();
    if (!spec.every.IsStrictlyPositive())
    {
        every.Fail("a time above 0");
    }
}

TrafficSpec
ReadEntry(const JsonValue& value, const Topology& topology)
{
    TrafficSpec spec;
    const auto kind = value.Require("kind", "\"poisson\"").AsChoice({"poisson", "incast"});
    spec.kind = kind == "poisson" ? TrafficSpec::Kind::Poisson : TrafficSpec::Kind::Incast;
    auto keys = TRAFFIC_KEYS;
    const auto& more = kind == "poisson" ? POISSON_KEYS : INCAST_KEYS;
    keys.insert(keys.end(), more.begin(), more.end());
    value.CheckKeys(keys);
    ReadSizes(value, spec);
    ReadHosts(value, topology, spec);
    ReadArrivals(value, topology, spec);
    if (const auto start = value.Find("start"))
    {
        spec.start = start->AsTime();
    }
    if (const auto duration = value.Find("duration"))
    {
        spec.duration = duration->AsTime();
    }
    return spec;
}

} // namespace

const std::vector<std::string>&
GetTrafficKeys()
{
    static const std::vector<std::string> keys = [] {
        auto all = TRAFFIC_KEYS;
        all.insert(all.end(), POISSON_KEYS.begin(), POISSON_KEYS.end());
        all.insert(all.end(), INCAST_KEYS.begin(), INCAST_KEYS.end());
        return all;
    }();
    return keys;
}

std::vector<TrafficSpec>
ReadTraffic(const JsonValue& list, const Topology& topology)
{
    std::vector<TrafficSpec> traffic;
    for (const auto& item : list.GetItems())
    {
        traffic.push_back(ReadEntry(item, topology));
    }
    return traffic;
}

} // namespace ns3::gradsync
