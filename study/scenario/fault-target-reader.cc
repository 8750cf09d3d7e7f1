// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fault-target-reader.h"

#include "ns3/job-planner.h"
#include "ns3/node-names.h"
#include "ns3/planning-translation.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace ns3::gradsync
{

namespace
{

/// Without `links`: the network's links between switches, or those of the node `at`.
std::vector<uint32_t>
SelectLinks(const JsonValue& value, const Topology& topology)
{
    const auto list = value.Find("links");
    const auto at = value.Find("at");
    if (list && at)
    {
        at->FailWith("\"links\" and \"at\" are both given, expected one of them");
    }
    if (list)
    {
        return ReadLinkNames(*list, topology);
    }
    std::vector<uint32_t> links;
    const auto node = at ? NodeNames::OfAll(topology).Read(*at) : 0;
    for (uint32_t id = 0; id < topology.GetLinks().size(); ++id)
    {
        const auto& link = topology.GetLinks()[id];
        const bool isWanted = at ? (link.a == node || link.b == node) && IsEthernet(link)
                                 : link.kind == LinkKind::Fabric;
        if (isWanted)
        {
            links.push_back(id);
        }
    }
    // A leaf loses links to its spines, not those to its servers; a server has no others.
    if (at)
    {
        const auto isFabric = [&topology](uint32_t id) {
            return topology.GetLinks()[id].kind == LinkKind::Fabric;
        };
        if (std::any_of(links.begin(), links.end(), isFabric))
        {
            std::erase_if(links, [&](uint32_t id) { return !isFabric(id); });
        }
    }
    return links;
}

/// [rank] it aggregates a chunk that it does not keep: the sum is sent on to be added elsewhere.
std::vector<bool>
FindAggregators(const Plan& plan)
{
    const size_t chunks = plan.GetLayout().GetChunkCount();
    std::vector<bool> adds(plan.GetRankCount() * chunks, false);
    const auto forEachChunk = [&plan](const auto& visit) {
        for (const auto& operation : plan.GetOperations())
        {
            if (operation.kind == OperationKind::TransferReduce)
            {
                for (uint32_t i = 0; i < operation.chunkCount; ++i)
                {
                    visit(operation, operation.firstChunk + i);
                }
            }
        }
    };
    forEachChunk([&](const Operation& operation, uint32_t chunk) {
        adds[operation.dst * chunks + chunk] = true;
    });
    std::vector<bool> aggregates(plan.GetRankCount(), false);
    forEachChunk([&](const Operation& operation, uint32_t chunk) {
        if (operation.IsTransfer() && adds[operation.src * chunks + chunk])
        {
            aggregates[operation.src] = true;
        }
    });
    return aggregates;
}

/// The endpoints whose ranks have a role in any job.
std::vector<uint32_t>
ReadRole(const JsonValue& role, const Topology& topology, const RankRoles& roles)
{
    const bool isServer = role.AsChoice({"server", "aggregator"}) == "server";
    std::set<uint32_t> endpoints;
    if (isServer)
    {
        endpoints.insert(roles.servers.begin(), roles.servers.end());
    }
    for (const auto& job : roles.jobs)
    {
        if (isServer)
        {
            endpoints.insert(job.endpointOf.begin() + job.workers, job.endpointOf.end());
            continue;
        }
        const auto planned =
            TranslatePlanningErrors([&job, &topology] { return PlanJob(job, topology); });
        const auto aggregates = FindAggregators(*planned.plan);
        for (size_t rank = 0; rank < aggregates.size(); ++rank)
        {
            if (aggregates[rank])
            {
                endpoints.insert(job.endpointOf[rank]);
            }
        }
    }
    if (endpoints.empty())
    {
        role.FailWith(isServer
                          ? "no job has dedicated servers; where every worker serves a part, "
                            "name \"hosts\" or use \"random\""
                          : "no job has aggregators: nobody aggregates what others then aggregate");
    }
    return {endpoints.begin(), endpoints.end()};
}

} // namespace

std::vector<uint32_t>
ReadFaultTargets(const JsonValue& value,
                 FaultKind kind,
                 const Topology& topology,
                 const RankRoles& roles)
{
    if (GetTarget(kind) == FaultTarget::Link)
    {
        return SelectLinks(value, topology);
    }
    const bool isSwitch = GetTarget(kind) == FaultTarget::Node;
    const auto list = value.Find(isSwitch ? "switches" : "hosts");
    const auto role = value.Find("role");
    if (list && role)
    {
        role->FailWith("\"hosts\" and \"role\" are both given, expected one of them");
    }
    if (list)
    {
        const auto names =
            isSwitch ? NodeNames::OfForwarders(topology) : NodeNames::OfEndpoints(topology);
        return names.ReadList(*list);
    }
    if (role)
    {
        return ReadRole(*role, topology, roles);
    }
    std::vector<uint32_t> all;
    const auto size = isSwitch ? topology.GetNodes().size() : topology.GetEndpoints().size();
    for (uint32_t i = 0; i < size; ++i)
    {
        if (!isSwitch || topology.GetNodes()[i].kind == NodeKind::Switch)
        {
            all.push_back(i);
        }
    }
    return all;
}

} // namespace ns3::gradsync
