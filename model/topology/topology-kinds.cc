// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/topology-kinds.h"

#include "ns3/fat-tree-topology.h"
#include "ns3/graph-topology.h"
#include "ns3/rail-topology.h"
#include "ns3/spine-leaf-topology.h"
#include "ns3/star-topology.h"
#include "ns3/three-tier-topology.h"
#include "ns3/time-range.h"

#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Counts are bounded here; the generators bound the size of the whole network.
constexpr int64_t MAX_COUNT = 65'535;
constexpr double MAX_OVERSUBSCRIPTION = 1e6;
constexpr const char* LINK_EXAMPLE = "{...}";

ParameterSpec
MakeRateSpec(Presence presence, const DataRate& rate)
{
    ParameterSpec spec{"rate", rate, "per direction"};
    spec.minimum = static_cast<double>(MIN_LINK_BIT_RATE);
    spec.presence = presence;
    return spec;
}

ParameterSpec
MakeDelaySpec(const Time& delay)
{
    ParameterSpec spec{"delay", delay, "propagation, one way"};
    spec.maximum = static_cast<double>(MAX_LINK_DELAY);
    return spec;
}

/// A link inside a server: what is not given keeps its default.
ParameterSpec
MakeInnerLinkSpec(std::string name, std::string help, const LinkOptions& link)
{
    const bool isThere = link.rate.GetBitRate() > 0;
    return MakeObjectSpec(std::move(name),
                          std::move(help),
                          {MakeRateSpec(isThere ? Presence::Default : Presence::Optional,
                                        isThere ? link.rate : DataRate("300Gbps")),
                           MakeDelaySpec(link.delay)});
}

void
SetInnerLink(const ParameterSet& server, const std::string& name, LinkOptions& link)
{
    if (server.Has(name))
    {
        link = GetLink(server, name);
    }
}

} // namespace

std::span<const TopologyKind>
GetTopologies()
{
    static const std::vector<TopologyKind> kinds{MakeFatTreeKind(),
                                                 MakeGraphKind(),
                                                 MakeRailKind(),
                                                 MakeSpineLeafKind(),
                                                 MakeStarKind(),
                                                 MakeThreeTierKind()};
    return kinds;
}

ParameterSpec
MakeCountSpec(std::string name, std::string help, int64_t example)
{
    return Required({std::move(name), example, std::move(help), {}, 1, MAX_COUNT});
}

ParameterSpec
MakeCountListSpec(std::string name, std::string help)
{
    ParameterSpec spec{std::move(name), std::vector<double>{8, 8, 4, 4}, std::move(help)};
    spec.minimum = 0;
    spec.maximum = MAX_COUNT;
    spec.isWhole = true;
    return spec;
}

uint32_t
GetCountOf(const ParameterSet& parameters, const std::string& name)
{
    const auto* count = parameters.Find<int64_t>(name);
    return count ? static_cast<uint32_t>(*count) : 0;
}

ParameterSpec
MakeLinkSpec(std::string name, std::string help, Presence rate)
{
    auto spec =
        MakeObjectSpec(std::move(name),
                       std::move(help),
                       {MakeRateSpec(rate, DataRate("40Gbps")), MakeDelaySpec(MicroSeconds(1))});
    spec.presence = rate;
    return spec;
}

LinkOptions
GetLink(const ParameterSet& parameters, const std::string& name)
{
    const auto& link = parameters.GetObject(name);
    const auto* rate = link.Find<DataRate>("rate");
    return {rate ? *rate : DataRate(0), link.Get<Time>("delay")};
}

LinkOptions
GetUplink(const ParameterSet& parameters, const std::string& name, double oversubscription)
{
    if (!parameters.Has(name))
    {
        if (oversubscription == 0.0)
        {
            throw ParameterError::Missing(name, LINK_EXAMPLE);
        }
        return {DataRate(0), MicroSeconds(1)};
    }
    auto link = GetLink(parameters, name);
    if (oversubscription == 0.0 && link.rate == DataRate(0))
    {
        throw ParameterError(name, ParameterError::Missing("rate", "\"40Gbps\"").what());
    }
    return link;
}

ParameterSpec
MakeOversubscriptionSpec(std::string name, std::string help)
{
    return {std::move(name), 0.0, std::move(help), {}, 0.0, MAX_OVERSUBSCRIPTION};
}

std::vector<ParameterSpec>
MakeTierSpecs()
{
    return {MakeLinkSpec("hostLink", "server to leaf", Presence::Required),
            MakeLinkSpec("leafUplink", "leaf to aggregation", Presence::Optional),
            MakeLinkSpec("aggregationUplink", "aggregation to core", Presence::Optional),
            MakeOversubscriptionSpec("rackOversubscription",
                                     "wanted ratio of the racks, sets the rate of leafUplink; 0: "
                                     "its own rate counts"),
            MakeOversubscriptionSpec("podOversubscription",
                                     "wanted cumulative ratio of the pods, sets the rate of "
                                     "aggregationUplink; 0: its own rate counts"),
            MakeServerSpec()};
}

ParameterSpec
MakeServerSpec()
{
    const ServerOptions options;
    const auto count = [](const char* name, uint32_t byDefault, const char* help) {
        return ParameterSpec{name, int64_t{byDefault}, help, {}, 1, MAX_COUNT};
    };
    return MakeObjectSpec(
        "server",
        "what a server is made of",
        {count("accelerators",
               options.accelerators,
               "endpoints of a server; 1: the server itself is the endpoint"),
         count("nics", options.nics, "NICs of a server"),
         count("sockets", options.sockets, "CPU sockets of a server"),
         Optional({"pcieSwitches",
                   int64_t{4},
                   "PCIe switches of a server, accelerators and NICs spread over them; by default "
                   "one of each socket",
                   {},
                   1,
                   MAX_COUNT}),
         {"directNics",
          options.directNics,
          "each accelerator at a NIC of its own, without PCIe switches and CPUs"},
         MakeInnerLinkSpec("pcie", "inside a server, by default PCIe 3.0 x16", options.pcie),
         MakeInnerLinkSpec("upi", "between sockets", options.upi),
         MakeInnerLinkSpec("nvlink",
                           "every accelerator to one NVSwitch; without it there is none",
                           options.nvlink)});
}

ServerOptions
GetServer(const ParameterSet& parameters)
{
    ServerOptions options;
    if (parameters.Has("server"))
    {
        const auto& server = parameters.GetObject("server");
        options.accelerators = GetCountOf(server, "accelerators");
        options.nics = GetCountOf(server, "nics");
        options.sockets = GetCountOf(server, "sockets");
        options.pcieSwitches = GetCountOf(server, "pcieSwitches");
        options.directNics = server.Get<bool>("directNics");
        SetInnerLink(server, "pcie", options.pcie);
        SetInnerLink(server, "upi", options.upi);
        SetInnerLink(server, "nvlink", options.nvlink);
    }
    return options;
}

} // namespace ns3::gradsync
