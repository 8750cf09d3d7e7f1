// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/network-choice.h"

#include "ns3/aggregation-drivers.h"
#include "ns3/aggregation-helper.h"
#include "ns3/aggregation-reader.h"
#include "ns3/plan-aggregations.h"
#include "ns3/string.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// The protocols, as plans name them, of which a scenario says that switches have them.
std::set<std::string>
ListProtocols(const TransportChoice& transport)
{
    std::set<std::string> protocols;
    for (const auto& driver : GetAggregationDrivers())
    {
        const auto part = GetDriverPart(driver.name);
        const bool isSaid = std::ranges::any_of(transport.parts, [&part](const auto& settings) {
            return settings.first == part;
        });
        if (isSaid)
        {
            protocols.insert(driver.protocols.begin(), driver.protocols.end());
        }
    }
    return protocols;
}

/// Of the groups of a plan, all of which are open.
std::optional<std::vector<AggregationLoad>>
DescribeLoads(const TransportAggregation& aggregation, std::span<const uint32_t> groups)
{
    std::vector<AggregationLoad> loads;
    for (const auto group : groups)
    {
        auto load = aggregation.DescribeLoad(group);
        if (!load || load->isDelayed)
        {
            return std::nullopt;
        }
        loads.push_back(std::move(*load));
    }
    return loads;
}

std::optional<std::vector<AggregationLoad>>
FindLoads(const NetworkChoice& choice,
          const std::shared_ptr<const Topology>& topology,
          std::span<const NodeId> roots,
          const Plan& plan,
          std::span<const uint32_t> endpointOf)
{
    const auto transport = MakeFabricHelper(choice).InstallTransport(topology);
    std::optional<std::vector<AggregationLoad>> loads;
    try
    {
        PlanAggregations aggregations;
        aggregations.Open(plan, endpointOf, transport, roots);
        loads = DescribeLoads(transport->RequireAggregation(), aggregations.ListGroups(plan));
        aggregations.Close();
    }
    catch (const std::runtime_error&)
    {
        loads.reset(); // the network cannot, or has no room
    }
    transport->Dispose();
    return loads;
}

} // namespace

FabricHelper
MakeFabricHelper(const NetworkChoice& choice)
{
    FabricHelper helper(choice.transport.type.GetName());
    AggregationHelper aggregation;
    for (const auto& [node, program] : choice.programs)
    {
        aggregation.SetProgram(node, program);
    }
    helper.SetAggregation(aggregation);
    for (const auto& [name, value] : choice.transport.attributes)
    {
        helper.SetTransportAttribute(name, StringValue(value));
    }
    for (const auto& [part, attributes] : choice.transport.parts)
    {
        for (const auto& [name, value] : attributes)
        {
            helper.SetPartAttribute(part, name, StringValue(value));
        }
    }
    if (GetTransport(choice.transport.kind).hasFabric)
    {
        for (const auto& [name, value] : choice.fabric)
        {
            helper.SetFabricAttribute(name, StringValue(value));
        }
    }
    if (choice.hasFluidServers)
    {
        helper.UseFluidServers();
    }
    return helper;
}

AggregationFinder
MakeAggregationFinder(const NetworkChoice& choice,
                      const std::shared_ptr<const Topology>& topology,
                      const std::vector<NodeId>& roots)
{
    auto protocols = ListProtocols(choice.transport);
    if (protocols.empty())
    {
        return {};
    }
    return
        [choice, topology, roots, protocols = std::move(protocols)](
            const Plan& plan,
            std::span<const uint32_t> endpointOf) -> std::optional<std::vector<AggregationLoad>> {
            return protocols.contains(plan.GetAggregationProtocol().name)
                       ? FindLoads(choice, topology, roots, plan, endpointOf)
                       : std::nullopt;
        };
}

} // namespace ns3::gradsync
