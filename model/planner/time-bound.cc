// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/time-bound.h"

#include "ns3/planning-error.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr double SECONDS_A_DAY = 86'400.0;

/// Bytes that cross the links of an endpoint, each way.
struct EndpointLoad
{
    uint64_t sent{0};
    uint64_t received{0};
};

double
GetBitRate(const Topology& topology, uint32_t endpoint)
{
    double rate = 0.0;
    for (const auto& port : topology.GetPorts(topology.GetEndpoints()[endpoint]))
    {
        rate += static_cast<double>(topology.GetLinks()[port.link].rate.GetBitRate());
    }
    return rate;
}

/// Of one exchange, in seconds.
double
ComputeExchangeTime(const Plan& plan, const JobSpec& job, const Topology& topology)
{
    std::vector<EndpointLoad> loads(topology.GetEndpoints().size());
    plan.GetOperations().ForEach([&](size_t id, const Operation& operation) {
        const auto src = job.endpointOf[operation.src];
        const auto dst = job.endpointOf[operation.dst];
        if (operation.IsTransfer() && src != dst)
        {
            const auto bytes = plan.GetBytes(static_cast<OperationId>(id), operation);
            loads[src].sent += bytes;
            loads[dst].received += bytes;
        }
    });
    double seconds = 0.0;
    for (uint32_t endpoint = 0; endpoint < loads.size(); ++endpoint)
    {
        const auto bytes = std::max(loads[endpoint].sent, loads[endpoint].received);
        if (bytes > 0)
        {
            seconds = std::max(seconds,
                               8.0 * static_cast<double>(bytes) / GetBitRate(topology, endpoint));
        }
    }
    return seconds;
}

} // namespace

void
RefuseLongJob(const std::string& name, double bound)
{
    const auto end = TimeStep(LAST_TIME_STEP).GetSeconds();
    if (bound > end)
    {
        throw PlanningError(name,
                            fmt::format("it takes {:.4g} days at least, but simulated time, which "
                                        "counts picoseconds, ends after {:.4g}: expected fewer "
                                        "iterations, smaller gradients or faster links",
                                        bound / SECONDS_A_DAY,
                                        end / SECONDS_A_DAY));
    }
}

double
ComputeTimeBound(const JobSpec& job, const PlannedJob& planned, const Topology& topology)
{
    if (planned.plan->GetGate())
    {
        return 0.0;
    }
    auto exchange = ComputeExchangeTime(*planned.plan, job, topology);
    for (const auto& [iteration, plan] : planned.laterPlans)
    {
        exchange = std::min(exchange, ComputeExchangeTime(*plan, job, topology));
    }
    const auto& own = job.computeOf;
    const auto [first, last] = std::ranges::minmax_element(own);
    const auto shortest = own.empty() ? job.compute : *first;
    const auto longest = own.empty() ? job.compute : *last;
    return job.start.GetSeconds() +
           job.iterations * std::max(longest.GetSeconds(), shortest.GetSeconds() + exchange);
}

void
CheckTimeBound(const JobSpec& job, const PlannedJob& planned, const Topology& topology)
{
    RefuseLongJob(job.name, ComputeTimeBound(job, planned, topology));
}

void
CheckTimeBound(const TrainingJobSpec& job, const PlannedTraining& planned)
{
    const auto iteration = static_cast<double>(GetLeastPicoseconds(*planned.workload)) * 1e-12;
    RefuseLongJob(job.name, job.start.GetSeconds() + job.iterations * iteration);
}

} // namespace ns3::gradsync
