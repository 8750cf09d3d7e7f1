// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/job-reader.h"

#include "ns3/asynchronous-reader.h"
#include "ns3/codec-reader.h"
#include "ns3/node-names.h"
#include "ns3/parameter-reader.h"
#include "ns3/protocol-reader.h"
#include "ns3/rank-reader.h"
#include "ns3/scenario-sections.h"
#include "ns3/scheme-reader.h"
#include "ns3/training-reader.h"
#include "ns3/workload-trace-reader.h"

#include <fmt/format.h>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace ns3::gradsync
{

namespace
{

constexpr size_t MAX_JOBS = 1000;

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
    tensor.count = GetNumber(parameters, "count");
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
    job.iterations = GetNumber(parameters, "iterations");
    job.start = parameters.Get<Time>("start");
    job.replans = parameters.Get<std::string>("reaction") == "replan";
    job.maxOutstandingSends = GetNumber(parameters, "maxOutstandingSends");
    if (const auto* timeout = parameters.Find<Time>("timeout"))
    {
        job.timeout = *timeout;
    }
    if (const auto* rate = parameters.Find<DataRate>("reduceRate"))
    {
        job.reduceRate = *rate;
    }
}

/// Of what others add; nothing is lost without `dgt`.
DifferentialTransmission
ReadTransmission(const JsonValue& job)
{
    const auto dgt = job.Find("dgt");
    if (!dgt)
    {
        return {};
    }
    const auto parameters = ReadParameters(*dgt, GetTransmissionParameters());
    return {parameters.Get<double>("reliableShare"), parameters.Get<ByteCount>("block").bytes};
}

/// Switches, any number of times, in their order.
std::vector<NodeId>
ReadRoots(const JsonValue& list, const Topology& topology)
{
    const auto names = NodeNames::OfForwarders(topology);
    std::vector<NodeId> roots;
    for (const auto& item : list.GetItems())
    {
        roots.push_back(names.Read(item));
    }
    return roots;
}

JobSpec
ReadExchangeJob(const JsonValue& value,
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
    job.transmission = ReadTransmission(value);
    if (const auto codec = value.Find("codec"))
    {
        job.codec = ReadCodecChoice(*codec);
    }
    if (const auto tensors = value.Find("tensors"))
    {
        ReadTensors(value, *tensors, job);
    }
    if (const auto protocol = value.Find("protocol"))
    {
        job.protocol = ReadProtocol(*protocol);
    }
    if (const auto profile = value.Find("profile"))
    {
        job.profile = ReadProfile(*profile);
    }
    if (const auto roots = value.Find("aggregationRoots"))
    {
        job.aggregationRoots = ReadRoots(*roots, topology);
    }
    const auto& kind = *job.scheme.scheme;
    auto places = ReadRanks(
        value,
        topology,
        {"the scheme " + kind.name, kind.name, 2, kind.countServers(job.scheme.parameters)});
    job.workers = places.workers;
    job.endpointOf = std::move(places.endpointOf);
    auto times = ReadCompute(value, job.workers);
    job.compute = times.compute;
    job.computeOf = std::move(times.computeOf);
    return job;
}

/// \param key in whose place it does not have others
void
RefuseKeys(const JsonValue& value, const std::string& key, const std::vector<std::string>& others)
{
    for (const auto& other : others)
    {
        if (const auto found = value.Find(other))
        {
            found->FailWith(
                fmt::format("\"{}\" and \"{}\" are both given, expected one of them", other, key));
        }
    }
}

AsynchronousJobSpec
ReadAsynchronousJob(const JsonValue& value,
                    const ParameterSet& parameters,
                    const Topology& topology)
{
    RefuseKeys(value, "asynchronous", GetKeysWithoutAsynchronous());
    JobSpec common;
    SetPlainParameters(parameters, common);
    return ReadAsynchronous(value, common, topology);
}

/// Whole iterations: of `training`, or of `trace`.
TrainingJobSpec
ReadTrainingJob(const JsonValue& value,
                const ParameterSet& parameters,
                const std::optional<JsonValue>& scheme,
                const Topology& topology,
                NamedFiles& files)
{
    const auto trace = value.Find("trace");
    RefuseKeys(value, trace ? "trace" : "training", GetKeysWithoutTraining());
    if (trace)
    {
        RefuseKeys(value, "trace", {"training", "codec", "profile"});
    }
    auto endpoints = ReadEndpointsOrAll(value, topology);
    auto job = trace ? ReadWorkloadTrace(*trace, scheme, std::move(endpoints), files)
                     : ReadTraining(*value.Find("training"), scheme, std::move(endpoints));
    if (!trace)
    {
        auto codecs = ReadGradientCodecs(value, job);
        std::get<TrainingSpec>(job.spec).codecs = std::move(codecs);
    }
    if (const auto protocol = value.Find("protocol"))
    {
        job.protocol = ReadProtocol(*protocol);
    }
    JobSpec common;
    SetPlainParameters(parameters, common);
    job.iterations = common.iterations;
    job.start = common.start;
    job.timeout = common.timeout;
    job.reduceRate = common.reduceRate;
    job.transmission = ReadTransmission(value);
    job.replans = common.replans;
    return job;
}

/// \param name of a job that gives none \returns its name
std::string
ReadJob(const JsonValue& value,
        const std::optional<JsonValue>& schemeOfAll,
        const std::string& name,
        const Topology& topology,
        NamedFiles& files,
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
    if (value.Find("asynchronous"))
    {
        auto spec = ReadAsynchronousJob(value, parameters, topology);
        spec.job.name = given ? *given : name;
        jobs.asynchronous.push_back(std::move(spec));
    }
    else if (value.Find("training") || value.Find("trace"))
    {
        add(ReadTrainingJob(value, parameters, scheme, topology, files), jobs.trainings);
    }
    else
    {
        add(ReadExchangeJob(value, parameters, scheme, topology), jobs.exchanges);
    }
    return given ? *given : name;
}

} // namespace

JobList
ReadJobs(const JsonValue& root, const Topology& topology, NamedFiles& files)
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
                files,
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
        const auto name =
            ReadJob(item, scheme, fmt::format("job{}", names.size()), topology, files, jobs);
        if (!names.insert(name).second)
        {
            item.FailWith(
                fmt::format("the name {} is taken by an earlier job", ShowJson(Json(name))));
        }
    }
    return jobs;
}

} // namespace ns3::gradsync
