// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/rank-reader.h"

#include "ns3/node-names.h"
#include "ns3/parameter-reader.h"
#include "ns3/scenario-sections.h"
#include "ns3/scheme-reader.h"

#include <fmt/format.h>
#include <numeric>
#include <optional>
#include <set>

namespace ns3::gradsync
{

namespace
{

std::vector<uint32_t>
ReadEndpoints(const JsonValue& list, const Topology& topology)
{
    const NodeNames names = NodeNames::OfEndpoints(topology);
    std::vector<uint32_t> endpoints;
    std::set<uint32_t> seen;
    for (const auto& item : list.GetItems())
    {
        endpoints.push_back(names.Read(item));
        if (!seen.insert(endpoints.back()).second)
        {
            item.FailWith(fmt::format("the endpoint {} is listed twice", ShowJson(item.Get())));
        }
    }
    return endpoints;
}

/// The list for the scheme of the job, where each scheme may have one of its own.
std::optional<JsonValue>
FindServerList(const JsonValue& job, const std::string& scheme)
{
    auto value = job.Find("serverEndpoints");
    if (!value || !value->IsObject())
    {
        return value;
    }
    value->CheckKeys(GetKindNames(GetSchemeKinds()));
    return value->Find(scheme);
}

/// Dedicated servers stand on the first of the listed endpoints, and no worker on any of these.
void
PlaceServers(const JsonValue& list,
             const Topology& topology,
             const RankDemand& demand,
             std::vector<uint32_t>& endpointOf)
{
    const auto endpoints = ReadEndpoints(list, topology);
    if (endpoints.size() < demand.servers)
    {
        list.FailWith(fmt::format("{} endpoints are too few: {} has {} dedicated servers",
                                  endpoints.size(),
                                  demand.who,
                                  demand.servers));
    }
    for (const auto endpoint : endpoints)
    {
        std::erase(endpointOf, endpoint);
    }
    endpointOf.insert(endpointOf.end(), endpoints.begin(), endpoints.begin() + demand.servers);
}

/// A list with a time for each worker.
std::vector<Time>
ReadComputeOfEach(const JsonValue& value, uint32_t workers)
{
    std::vector<Time> times;
    for (const auto& item : value.GetItems())
    {
        times.push_back(item.AsTime());
    }
    if (times.size() != workers)
    {
        value.FailWith(fmt::format("found {} times, expected one for each of the {} workers",
                                   times.size(),
                                   workers));
    }
    return times;
}

} // namespace

std::vector<uint32_t>
ReadEndpointsOrAll(const JsonValue& job, const Topology& topology)
{
    if (const auto list = job.Find("endpoints"))
    {
        return ReadEndpoints(*list, topology);
    }
    std::vector<uint32_t> endpoints(topology.GetEndpoints().size());
    std::iota(endpoints.begin(), endpoints.end(), 0);
    return endpoints;
}

RankPlaces
ReadRanks(const JsonValue& job, const Topology& topology, const RankDemand& demand)
{
    const auto list = job.Find("endpoints");
    const auto servers = demand.servers;
    RankPlaces places;
    places.endpointOf = ReadEndpointsOrAll(job, topology);
    if (const auto ofServers = FindServerList(job, demand.scheme))
    {
        PlaceServers(*ofServers, topology, demand, places.endpointOf);
    }
    const auto available = static_cast<uint32_t>(places.endpointOf.size());
    if (uint64_t{servers} + demand.leastWorkers > available)
    {
        job.FailWith(fmt::format("{} endpoints are too few: {} needs at least {} worker{} and {} "
                                 "dedicated servers",
                                 available,
                                 demand.who,
                                 demand.leastWorkers,
                                 demand.leastWorkers == 1 ? "" : "s",
                                 servers));
    }
    places.workers = available - servers;
    if (const auto workers = job.Find("workers"))
    {
        places.workers =
            static_cast<uint32_t>(workers->AsUnsigned(demand.leastWorkers, available - servers));
        if (list && places.workers != available - servers)
        {
            workers->FailWith(
                fmt::format("found {}, but \"endpoints\" lists {} workers and {} servers",
                            places.workers,
                            available - servers,
                            servers));
        }
    }
    // Endpoints between the workers and the servers rest.
    auto& endpoints = places.endpointOf;
    endpoints.erase(endpoints.begin() + places.workers, endpoints.end() - servers);
    return places;
}

ComputeTimes
ReadCompute(const JsonValue& job, uint32_t workers)
{
    const auto value = job.Find("compute");
    if (!value)
    {
        return {};
    }
    if (value->IsString())
    {
        return {value->AsTime(), {}};
    }
    return {{}, ReadComputeOfEach(*value, workers)};
}

} // namespace ns3::gradsync
