// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/traffic-kinds.h"

#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr const char* POISSON = "poisson";

/// Seconds. The clock counts picoseconds.
constexpr double SHORTEST_GAP = 1e-12;

std::vector<ParameterSpec>
GetCommonSpecs()
{
    std::vector<std::string> names;
    for (const auto& sizes : GetFlowSizes())
    {
        names.push_back(sizes.name);
    }
    return {Optional({"sizes",
                      std::string("websearch"),
                      "distribution of the sizes of flows",
                      std::move(names)}),
            Optional({"size", ByteCount{65536}, "size of every flow, in place of sizes", {}, 1}),
            {"start", Time(), "when the first flow may begin"},
            Optional({"duration",
                      MilliSeconds(10),
                      "no flow begins later than this after start; by default until the jobs are "
                      "done"}),
            Optional({"hosts",
                      SharedShape{"endpoints"},
                      "which send and receive, two at least; by default all"})};
}

KindSpec
MakeKind(const char* name, const char* summary, const std::vector<ParameterSpec>& own)
{
    auto parameters = GetCommonSpecs();
    parameters.insert(parameters.end(), own.begin(), own.end());
    return {name, summary, std::move(parameters)};
}

/// `sizes`, the name of a distribution, or `size`, the same for all.
void
SetSizes(const ParameterSet& parameters, TrafficSpec& spec)
{
    const auto* sizes = parameters.Find<std::string>("sizes");
    const auto* size = parameters.Find<ByteCount>("size");
    if (sizes && size)
    {
        throw ParameterError("size", "\"sizes\" and \"size\" are both given, expected one of them");
    }
    if (!sizes && !size)
    {
        throw ParameterError::Missing("size", "\"64KiB\", or \"sizes\": \"websearch\"");
    }
    spec.sizes = sizes ? FindFlowSizes(*sizes) : nullptr;
    spec.bytes = size ? size->bytes : 0;
}

void
SetLoad(const ParameterSet& parameters, const Topology& topology, TrafficSpec& spec)
{
    spec.load = parameters.Get<double>("load");
    if (!(GetOfferedBitRate(spec, topology) > 0.0))
    {
        throw ParameterError("load",
                             "a share of the hosts' network links, but none of them has any");
    }
    if (const auto gap = GetMeanGap(spec, topology); gap < SHORTEST_GAP)
    {
        throw ParameterError(
            "load",
            fmt::format("these are flows every {:.2g} s on average, and no more than one every "
                        "{:.0e} s can be told apart: larger flows, or a smaller load",
                        gap,
                        SHORTEST_GAP));
    }
}

void
SetIncast(const ParameterSet& parameters, TrafficSpec& spec)
{
    const auto most = spec.hosts.size() - 1;
    const auto fanIn = parameters.Get<int64_t>("fanIn");
    if (static_cast<uint64_t>(fanIn) > most)
    {
        throw ParameterError::Expected("fanIn", fmt::format("a whole number from 1 to {}", most));
    }
    spec.fanIn = static_cast<uint32_t>(fanIn);
    spec.every = parameters.Get<Time>("every");
}

} // namespace

std::span<const KindSpec>
GetTrafficKinds()
{
    static const std::vector<KindSpec> kinds{
        MakeKind(POISSON,
                 "flows one at a time, between hosts drawn evenly, with exponential gaps",
                 {Required({"load",
                            0.3,
                            "share of the hosts' link rates that the flows ask for",
                            {},
                            1e-6,
                            1.0})}),
        MakeKind(
            "incast",
            "several flows at once to one host, all drawn",
            {Required(
                 {"fanIn", int64_t{8}, "senders, all hosts but one at most", {}, 1, UINT32_MAX}),
             Required({"every", MilliSeconds(1), "time from one to the next", {}, 1})})};
    return kinds;
}

TrafficSpec
MakeTraffic(std::string_view kind,
            const ParameterSet& parameters,
            std::vector<uint32_t> hosts,
            const Topology& topology)
{
    TrafficSpec spec;
    spec.kind = kind == POISSON ? TrafficSpec::Kind::Poisson : TrafficSpec::Kind::Incast;
    spec.hosts = std::move(hosts);
    spec.start = parameters.Get<Time>("start");
    if (const auto* duration = parameters.Find<Time>("duration"))
    {
        spec.duration = *duration;
    }
    SetSizes(parameters, spec);
    switch (spec.kind)
    {
    case TrafficSpec::Kind::Poisson:
        SetLoad(parameters, topology, spec);
        break;
    case TrafficSpec::Kind::Incast:
        SetIncast(parameters, spec);
        break;
    }
    return spec;
}

} // namespace ns3::gradsync
