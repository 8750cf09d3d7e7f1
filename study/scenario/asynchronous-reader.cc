// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/asynchronous-reader.h"

#include "ns3/asynchronous-section.h"
#include "ns3/parameter-reader.h"
#include "ns3/rank-reader.h"

#include <cstdint>
#include <fmt/format.h>
#include <optional>

namespace ns3::gradsync
{

namespace
{

std::vector<AsynchronousStage>
ReadStages(const JsonValue& value,
           const JsonValue& list,
           const ParameterSet& parameters,
           const AsynchronousStage& whole)
{
    if (const auto iterations = value.Find("iterations"))
    {
        iterations->FailWith(
            "\"iterations\" and \"asynchronous.stages\" are both given, expected one of them: "
            "stages have steps of their own");
    }
    const auto items = list.GetItems();
    if (items.empty())
    {
        list.Fail("a list of at least one stage");
    }
    std::vector<AsynchronousStage> stages;
    for (const auto& set : parameters.Get<std::vector<ParameterSet>>("stages"))
    {
        auto stage = whole;
        if (const auto workers = items[stages.size()].Find("workers"))
        {
            stage.workers = static_cast<uint32_t>(workers->AsUnsigned(1, whole.workers));
        }
        stage.steps = GetNumber(set, "steps");
        if (const auto* compute = set.Find<Time>("compute"))
        {
            stage.compute = *compute;
            stage.computeOf.clear();
        }
        stages.push_back(std::move(stage));
    }
    return stages;
}

/// With less, all would wait for what nobody has pushed.
std::optional<uint32_t>
ReadBound(const JsonValue& section, const ParameterSet& parameters)
{
    const auto* bound = parameters.Find<int64_t>("bound");
    if (!bound)
    {
        return std::nullopt;
    }
    const auto pushEvery = parameters.Get<int64_t>("pushEvery");
    if (*bound + 1 < pushEvery)
    {
        section.Find("bound")->FailWith(
            fmt::format("found {}, expected at least {}: with a push every {} steps all would "
                        "wait for what nobody has pushed",
                        *bound,
                        pushEvery - 1,
                        pushEvery));
    }
    return static_cast<uint32_t>(*bound);
}

} // namespace

const std::vector<std::string>&
GetKeysWithoutAsynchronous()
{
    static const std::vector<std::string> keys{"scheme",
                                               "tensors",
                                               "training",
                                               "codec",
                                               "dgt",
                                               "protocol",
                                               "aggregationRoots",
                                               "profile",
                                               "reaction",
                                               "maxOutstandingSends"};
    return keys;
}

AsynchronousJobSpec
ReadAsynchronous(const JsonValue& value, const JobSpec& common, const Topology& topology)
{
    const auto section = *value.Find("asynchronous");
    const auto parameters = ReadParameters(section, GetAsynchronousParameters());
    const auto servers = GetNumber(parameters, "servers");
    const auto ranks =
        ReadRanks(value, topology, {"an asynchronous job", "", servers == 0 ? 2U : 1U, servers});
    AsynchronousJobSpec spec;
    spec.reduceRate = common.reduceRate;
    spec.timeout = common.timeout;
    auto& job = spec.job;
    job.workers = ranks.workers;
    job.servers = servers;
    job.endpointOf = ranks.endpointOf;
    job.bytes = common.gradientBytes;
    job.start = common.start;
    job.pushEvery = GetNumber(parameters, "pushEvery");
    job.fetchEvery = GetNumber(parameters, "fetchEvery");
    job.overlapsFetches = parameters.Get<bool>("overlapFetch");
    job.bound = ReadBound(section, parameters);
    job.requestBytes = parameters.Get<ByteCount>("requestSize").bytes;
    const auto times = ReadCompute(value, job.workers);
    const AsynchronousStage whole{job.workers, common.iterations, times.compute, times.computeOf};
    const auto list = section.Find("stages");
    job.stages =
        list ? ReadStages(value, *list, parameters, whole) : std::vector<AsynchronousStage>{whole};
    return spec;
}

} // namespace ns3::gradsync
