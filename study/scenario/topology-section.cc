// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/topology-section.h"

#include "ns3/parameter-reader.h"
#include "ns3/time-range.h"
#include "ns3/topology-kinds.h"
#include "ns3/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr const char* PATH_WEIGHTS = "pathWeights";

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

/// What a generator knows, and what all networks have.
KindSpec
AddCommon(KindSpec kind)
{
    kind.parameters.insert(
        kind.parameters.begin(),
        {Optional({"file",
                   std::string("../topologies/example.json"),
                   "a topology file, from the folder of the scenario; keys beside it override its "
                   "own"}),
         Optional({"source", std::string("data sheet"), "where its numbers are from"}),
         {PATH_WEIGHTS,
          std::string("even"),
          "whether routes share traffic evenly among shortest paths or by their capacity",
          {"even", "capacity"}}});
    return kind;
}

Topology
MakeTopology(const JsonValue& value, const KindSpec& kind, const ParameterSet& parameters)
{
    const auto kinds = GetTopologies();
    const auto index = static_cast<size_t>(&kind - GetTopologyKinds().data());
    Topology topology = PlaceParameterErrors(value, [&] { return kinds[index].make(parameters); });
    if (topology.GetEndpoints().empty())
    {
        value.FailWith("the network has no endpoint (a node of kind host or accelerator)");
    }
    topology.CheckConnected();
    CheckRates(value, topology);
    const bool isEven = parameters.Get<std::string>(PATH_WEIGHTS) == "even";
    topology.SetPathWeights(isEven ? PathWeights::Even : PathWeights::Capacity);
    return topology;
}

} // namespace

std::span<const KindSpec>
GetTopologyKinds()
{
    static const std::vector<KindSpec> kinds = [] {
        std::vector<KindSpec> list;
        std::ranges::transform(GetTopologies(), std::back_inserter(list), [](const auto& kind) {
            return AddCommon(kind.spec);
        });
        return list;
    }();
    return kinds;
}

Topology
ReadTopology(const JsonValue& value)
{
    if (!value.IsObject())
    {
        value.Fail("an object such as {\"kind\": \"star\", ...}");
    }
    const auto& kind = ReadKind(value, GetTopologyKinds(), "spine-leaf");
    const auto parameters = ReadParameters(value, kind.parameters, {"kind"});
    try
    {
        return MakeTopology(value, kind, parameters);
    }
    catch (const std::invalid_argument& error)
    {
        value.FailWith(error.what());
    }
}

} // namespace ns3::gradsync
