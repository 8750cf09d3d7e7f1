// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/job-reader.h"

#include "ns3/codec-reader.h"
#include "ns3/node-names.h"
#include "ns3/scenario-vocabulary.h"
#include "ns3/scheme-reader.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t MAX_ITERATIONS = 1'000'000;
constexpr size_t MAX_JOBS = 1000;
/// 16 TiB: the picoseconds of a whole exchange must fit in 63 bits.
constexpr uint64_t MAX_GRADIENT_BYTES = 1ULL << 44;

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
    value->CheckKeys(GetSchemeNames());
    return value->Find(scheme);
}

/// Dedicated servers stand on the first of the listed endpoints, and no worker on any of these.
void
PlaceServers(const JsonValue& list, const Topology& topology, uint32_t servers, JobSpec& job)
{
    auto endpoints = ReadEndpoints(list, topology);
    if (endpoints.size() < servers)
    {
        list.FailWith(
            fmt::format("{} endpoints are too few: the scheme {} has {} dedicated servers",
                        endpoints.size(),
                        job.scheme.scheme->name,
                        servers));
    }
    for (const auto endpoint : endpoints)
    {
        std::erase(job.endpointOf, endpoint);
    }
    job.endpointOf.insert(job.endpointOf.end(), endpoints.begin(), endpoints.begin() + servers);
}

/// Ranks that are listed, or all endpoints of the network: the first ones work, as many as the
/// scheme wants at the end serve.
void
ReadRanks(const JsonValue& value, const Topology& topology, JobSpec& job)
{
    const auto list = value.Find("endpoints");
    if (list)
    {
        job.endpointOf = ReadEndpoints(*list, topology);
    }
    else
    {
        job.endpointOf.resize(topology.GetEndpoints().size());
        std::iota(job.endpointOf.begin(), job.endpointOf.end(), 0);
    }
    const uint32_t servers = job.scheme.scheme->countServers(job.scheme.parameters);
    if (const auto places = FindServerList(value, job.scheme.scheme->name))
    {
        PlaceServers(*places, topology, servers, job);
    }
    const auto available = static_cast<uint32_t>(job.endpointOf.size());
    if (uint64_t{servers} + 2 > available)
    {
        value.FailWith(
            fmt::format("{} endpoints are too few: the scheme {} needs at least 2 workers and {} "
                        "dedicated servers",
                        available,
                        job.scheme.scheme->name,
                        servers));
    }
    job.workers = available - servers;
    if (const auto workers = value.Find("workers"))
    {
        job.workers = static_cast<uint32_t>(workers->AsUnsigned(2, available - servers));
        if (list && job.workers != available - servers)
        {
            workers->FailWith(
                fmt::format("found {}, but \"endpoints\" lists {} workers and {} servers",
                            job.workers,
                            available - servers,
                            servers));
        }
    }
    // Endpoints between the workers and the servers rest.
    job.endpointOf.erase(job.endpointOf.begin() + job.workers, job.endpointOf.end() - servers);
}

/// One time for all workers, or a list with one for each.
void
ReadCompute(const JsonValue& value, JobSpec& job)
{
    if (!value.Get().is_array())
    {
        job.compute = value.AsTime();
        return;
    }
    for (const auto& item : value.GetItems())
    {
        job.computeOf.push_back(item.AsTime());
    }
    if (job.computeOf.size() != job.workers)
    {
        value.FailWith(fmt::format("found {} times, expected one for each of the {} workers",
                                   job.computeOf.size(),
                                   job.workers));
    }
}

JobSpec
ReadJob(const JsonValue& value,
        const std::optional<JsonValue>& scheme,
        const std::string& name,
        const Topology& topology)
{
    value.CheckKeys(scenario_keys::JOB);
    JobSpec job;
    const auto nameValue = value.Find("name");
    job.name = nameValue ? nameValue->AsName() : name;
    const auto own = value.Find("scheme");
    if (!own && !scheme)
    {
        value.FailWith("\"scheme\" is missing, here and at the top, expected for example "
                       "\"scheme\": {\"kind\": \"ring\"}");
    }
    job.scheme = ReadScheme(own ? *own : *scheme);
    if (const auto gradient = value.Find("gradient"))
    {
        job.gradientBytes = gradient->AsBytes(1, MAX_GRADIENT_BYTES);
    }
    if (const auto iterations = value.Find("iterations"))
    {
        job.iterations = static_cast<uint32_t>(iterations->AsUnsigned(1, MAX_ITERATIONS));
    }
    if (const auto start = value.Find("start"))
    {
        job.start = start->AsTime();
    }
    if (const auto timeout = value.Find("timeout"))
    {
        job.timeout = timeout->AsTime();
    }
    if (const auto reaction = value.Find("reaction"))
    {
        job.replans = reaction->AsChoice({"none", "replan"}) == "replan";
    }
    const auto rate = value.Find("reduceRate");
    if (rate && rate->Get() != Json("unlimited"))
    {
        job.reduceRate = rate->AsRate();
    }
    if (const auto limit = value.Find("maxOutstandingSends"))
    {
        job.maxOutstandingSends = static_cast<uint32_t>(limit->AsUnsigned(0, UINT32_MAX));
    }
    if (const auto codec = value.Find("codec"))
    {
        job.codec = ReadCodec(*codec);
        job.codecScope = ReadCodecScope(*codec);
    }
    if (const auto profile = value.Find("profile"))
    {
        job.profile = ReadProfile(*profile);
    }
    ReadRanks(value, topology, job);
    if (const auto compute = value.Find("compute"))
    {
        ReadCompute(*compute, job);
    }
    return job;
}

} // namespace

std::vector<JobSpec>
ReadJobs(const JsonValue& root, const Topology& topology)
{
    const auto scheme = root.Find("scheme");
    const auto one = root.Find("job");
    const auto many = root.Find("jobs");
    if (one && many)
    {
        many->FailWith("\"job\" and \"jobs\" are both given, expected one of them");
    }
    if (!many)
    {
        static const Json defaults = Json::object();
        return {ReadJob(one ? *one : JsonValue(defaults, root.GetFile(), "job"),
                        scheme,
                        "job0",
                        topology)};
    }
    const auto items = many->GetItems();
    if (items.empty() || items.size() > MAX_JOBS)
    {
        many->Fail(fmt::format("a list of 1 to {} jobs", MAX_JOBS));
    }
    std::vector<JobSpec> jobs;
    std::set<std::string> names;
    for (const auto& item : items)
    {
        jobs.push_back(ReadJob(item, scheme, fmt::format("job{}", jobs.size()), topology));
        if (!names.insert(jobs.back().name).second)
        {
            item.FailWith(fmt::format("the name {} is taken by an earlier job",
                                      ShowJson(Json(jobs.back().name))));
        }
    }
    return jobs;
}

} // namespace ns3::gradsync
