// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/survivor-planner.h"

#include "ns3/job-planner.h"
#include "ns3/planning-error.h"

#include <fmt/format.h>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t ELEMENT_BYTES = 4;

/// Parameter of schemes that let switches aggregate.
constexpr const char* FALLBACK = "fallback";

/// Makes the scheme ask for so many dedicated servers; false when no parameter does.
bool
SetServers(SchemeChoice& scheme, uint32_t servers)
{
    const auto& countServers = scheme.scheme->countServers;
    const int64_t lost = int64_t{countServers(scheme.parameters)} - servers;
    if (lost == 0)
    {
        return true;
    }
    for (const auto& spec : scheme.scheme->parameters)
    {
        const auto* number = std::get_if<int64_t>(&spec.defaultValue);
        if (number == nullptr || scheme.parameters.Get<int64_t>(spec.name) < lost)
        {
            continue;
        }
        auto fewer = scheme.parameters;
        fewer.Set(spec.name, fewer.Get<int64_t>(spec.name) - lost);
        try
        {
            if (countServers(fewer) == servers)
            {
                scheme.parameters = fewer;
                return true;
            }
        }
        catch (const SchemeError&)
        {
            continue; // not with this parameter
        }
    }
    return false;
}

/// Leaves so many bytes of the gradient, of each tensor the same share.
void
SetBytes(JobSpec& job, std::optional<uint64_t> bytes)
{
    const auto all = job.gradientBytes;
    job.gradientBytes = bytes.value_or(all);
    if (job.gradientBytes == all || job.tensors.empty())
    {
        return;
    }
    // Whole elements of each; what is left over is in one more tensor, as the first is coded.
    uint64_t given = 0;
    for (auto& tensor : job.tensors)
    {
        const auto share = static_cast<long double>(job.gradientBytes) / all;
        tensor.bytes = static_cast<uint64_t>(share * tensor.bytes) / ELEMENT_BYTES * ELEMENT_BYTES;
        given += tensor.bytes * tensor.count;
    }
    if (given < job.gradientBytes)
    {
        auto rest = job.tensors.front();
        rest.bytes = job.gradientBytes - given;
        rest.count = 1;
        job.tensors.push_back(std::move(rest));
    }
    std::erase_if(job.tensors, [](const TensorSpec& tensor) { return tensor.bytes == 0; });
}

} // namespace

std::shared_ptr<const Plan>
PlanSurvivors(const JobSpec& job,
              const Topology& topology,
              std::span<const uint32_t> ranks,
              std::optional<uint64_t> bytes)
{
    auto left = job;
    left.findAggregations = nullptr; // what switches can was found before any fault
    SetBytes(left, bytes);
    left.endpointOf.clear();
    left.workers = 0;
    for (const auto rank : ranks)
    {
        left.endpointOf.push_back(job.endpointOf[rank]);
        left.workers += rank < job.workers ? 1 : 0;
    }
    const auto servers = static_cast<uint32_t>(ranks.size()) - left.workers;
    if (!SetServers(left.scheme, servers))
    {
        throw PlanningError(fmt::format("{}: scheme {}", job.name, job.scheme.scheme->name),
                            fmt::format("it cannot do with {} of {} dedicated servers",
                                        servers,
                                        job.endpointOf.size() - job.workers));
    }
    const auto planned = PlanJob(left, topology);
    VerifyJob(left, planned);
    return planned.plan;
}

std::shared_ptr<const Plan>
PlanFallback(const JobSpec& job,
             const Topology& topology,
             std::span<const uint32_t> ranks,
             std::optional<uint64_t> bytes)
{
    auto left = job;
    SetBytes(left, bytes);
    const auto& name = job.scheme.parameters.Get<std::string>(FALLBACK);
    left.scheme.scheme = FindScheme(name);
    left.scheme.parameters = MakeDefaultParameters(*left.scheme.scheme);
    left.endpointOf.clear();
    for (const auto rank : ranks)
    {
        left.endpointOf.push_back(job.endpointOf[rank]);
    }
    left.workers = static_cast<uint32_t>(ranks.size());
    const auto planned = PlanJob(left, topology);
    VerifyJob(left, planned);
    return planned.plan;
}

bool
HasFallback(const JobSpec& job)
{
    const auto& parameters = job.scheme.parameters.GetAll();
    const auto found = parameters.find(FALLBACK);
    return found != parameters.end() && std::get<std::string>(found->second) != "none";
}

} // namespace ns3::gradsync
