// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/job-reader.h"

#include "ns3/codec-reader.h"
#include "ns3/node-names.h"
#include "ns3/parameter-reader.h"
#include "ns3/scenario-sections.h"
#include "ns3/scheme-reader.h"
#include "ns3/training-reader.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace ns3::gradsync
{

namespace
{

constexpr size_t MAX_JOBS = 1000;

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

/// Those that are listed, or all of the network.
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

/// The first ones of a job's endpoints work, as many as the scheme wants at the end serve.
void
ReadRanks(const JsonValue& value, const Topology& topology, JobSpec& job)
{
    const auto list = value.Find("endpoints");
    job.endpointOf = ReadEndpointsOrAll(value, topology);
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

/// A list with a time for each worker.
void
ReadComputeOfEach(const JsonValue& value, JobSpec& job)
{
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

/// `{"name": "conv", "size": "2MB", "count": 3, "codec": {...}}`; the job's codec without one.
TensorSpec
ReadTensor(const JsonValue& value, const JobSpec& job)
{
    const auto parameters = ReadParameters(value, GetTensorParameters());
    TensorSpec tensor;
    tensor.codec = job.codec;
    if (const auto* name = parameters.Find<std::string>("name"))
    {
        tensor.name = *name;
    }
    const auto* elements = parameters.Find<int64_t>("elements");
    const auto* size = parameters.Find<ByteCount>("size");
    if (elements && size)
    {
        value.Find("elements")
            ->FailWith("\"elements\" and \"size\" are both given, expected one of them");
    }
    if (!elements && !size)
    {
        value.Require("size", "\"9408B\", or \"elements\": 2352");
    }
    tensor.bytes = elements ? 4 * static_cast<uint64_t>(*elements) : size->bytes;
    tensor.count = static_cast<uint32_t>(parameters.Get<int64_t>("count"));
    if (const auto codec = value.Find("codec"))
    {
        tensor.codec = ReadCodecChoice(*codec);
    }
    return tensor;
}

void
ReadTensors(const JsonValue& value, const JsonValue& list, JobSpec& job)
{
    if (const auto gradient = value.Find("gradient"))
    {
        gradient->FailWith("\"gradient\" and \"tensors\" are both given, expected one of them");
    }
    uint64_t count = 0;
    job.gradientBytes = 0;
    for (const auto& item : list.GetItems())
    {
        const auto& tensor = job.tensors.emplace_back(ReadTensor(item, job));
        count += tensor.count;
        if (tensor.bytes > (MAX_GRADIENT_BYTES - job.gradientBytes) / tensor.count)
        {
            item.FailWith(
                fmt::format("with it the gradient has more than {} bytes", MAX_GRADIENT_BYTES));
        }
        job.gradientBytes += tensor.count * tensor.bytes;
    }
    if (count == 0 || count > MAX_TENSORS)
    {
        list.Fail(fmt::format("a list of 1 to {} tensors", MAX_TENSORS));
    }
}

/// What needs neither the network nor another file.
void
SetPlainParameters(const ParameterSet& parameters, JobSpec& job)
{
    job.gradientBytes = parameters.Get<ByteCount>("gradient").bytes;
    job.iterations = static_cast<uint32_t>(parameters.Get<int64_t>("iterations"));
    job.start = parameters.Get<Time>("start");
    job.replans = parameters.Get<std::string>("reaction") == "replan";
    job.maxOutstandingSends = static_cast<uint32_t>(parameters.Get<int64_t>("maxOutstandingSends"));
    if (const auto* timeout = parameters.Find<Time>("timeout"))
    {
        job.timeout = *timeout;
    }
    if (const auto* rate = parameters.Find<DataRate>("reduceRate"))
    {
        job.reduceRate = *rate;
    }
}

JobSpec
ReadExchange(const JsonValue& value,
             const ParameterSet& parameters,
             const std::optional<JsonValue>& scheme,
             const Topology& topology)
{
    JobSpec job;
    if (!scheme)
    {
        value.FailWith("\"scheme\" is missing, here and at the top, expected for example "
                       "\"scheme\": {\"kind\": \"ring\"}");
    }
    job.scheme = ReadScheme(*scheme);
    SetPlainParameters(parameters, job);
    if (const auto codec = value.Find("codec"))
    {
        job.codec = ReadCodecChoice(*codec);
    }
    if (const auto tensors = value.Find("tensors"))
    {
        ReadTensors(value, *tensors, job);
    }
    if (const auto profile = value.Find("profile"))
    {
        job.profile = ReadProfile(*profile);
    }
    ReadRanks(value, topology, job);
    if (const auto* compute = parameters.Find<Time>("compute"))
    {
        job.compute = *compute;
    }
    else
    {
        ReadComputeOfEach(*value.Find("compute"), job);
    }
    return job;
}

TrainingJobSpec
ReadTrainingJob(const JsonValue& value,
                const ParameterSet& parameters,
                const std::optional<JsonValue>& scheme,
                const Topology& topology)
{
    for (const auto& key : GetKeysWithoutTraining())
    {
        if (const auto other = value.Find(key))
        {
            other->FailWith(
                fmt::format("\"{}\" and \"training\" are both given, expected one of them", key));
        }
    }
    auto job = ReadTraining(*value.Find("training"), scheme, ReadEndpointsOrAll(value, topology));
    auto codecs = ReadGradientCodecs(value, job);
    job.spec.codecs = std::move(codecs);
    JobSpec common;
    SetPlainParameters(parameters, common);
    job.iterations = common.iterations;
    job.start = common.start;
    job.timeout = common.timeout;
    job.reduceRate = common.reduceRate;
    job.replans = common.replans;
    return job;
}

/// \param name of a job that gives none \returns its name
std::string
ReadJob(const JsonValue& value,
        const std::optional<JsonValue>& schemeOfAll,
        const std::string& name,
        const Topology& topology,
        JobList& jobs)
{
    const auto parameters = ReadParameters(value, GetJobParameters());
    const auto* given = parameters.Find<std::string>("name");
    const auto own = value.Find("scheme");
    const auto& scheme = own ? own : schemeOfAll;
    const auto add = [&](auto job, auto& list) {
        job.name = given ? *given : name;
        list.push_back(std::move(job));
    };
    if (value.Find("training"))
    {
        add(ReadTrainingJob(value, parameters, scheme, topology), jobs.trainings);
    }
    else
    {
        add(ReadExchange(value, parameters, scheme, topology), jobs.exchanges);
    }
    return given ? *given : name;
}

} // namespace

JobList
ReadJobs(const JsonValue& root, const Topology& topology)
{
    const auto scheme = root.Find("scheme");
    const auto one = root.Find("job");
    const auto many = root.Find("jobs");
    if (one && many)
    {
        many->FailWith("\"job\" and \"jobs\" are both given, expected one of them");
    }
    JobList jobs;
    if (!many)
    {
        static const Json defaults = Json::object();
        ReadJob(one ? *one : JsonValue(defaults, root.GetFile(), "job"),
                scheme,
                "job0",
                topology,
                jobs);
        return jobs;
    }
    const auto items = many->GetItems();
    if (items.empty() || items.size() > MAX_JOBS)
    {
        many->Fail(fmt::format("a list of 1 to {} jobs", MAX_JOBS));
    }
    std::set<std::string> names;
    for (const auto& item : items)
    {
        const auto name = ReadJob(item, scheme, fmt::format("job{}", names.size()), topology, jobs);
        if (!names.insert(name).second)
        {
            item.FailWith(
                fmt::format("the name {} is taken by an earlier job", ShowJson(Json(name))));
        }
    }
    return jobs;
}

} // namespace ns3::gradsync
