// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-job.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <stdexcept>

namespace ns3::gradsync
{

uint64_t
CountTransferBytes(const Plan& plan)
{
    uint64_t bytes = 0;
    plan.GetOperations().ForEach([&](size_t id, const Operation& operation) {
        const auto own = static_cast<OperationId>(id);
        bytes += operation.IsTransfer() ? plan.GetBytes(own, operation) : 0;
    });
    return bytes;
}

uint64_t
CountTransferBytes(const TrainingJob& job)
{
    std::map<const Plan*, uint64_t> known;
    uint64_t bytes = 0;
    for (CommunicationId id = 0; id < job.workload->GetCommunications().size(); ++id)
    {
        const auto& plan = *job.workload->GetPlan(id);
        const auto [found, isNew] = known.emplace(&plan, 0);
        if (isNew)
        {
            found->second = CountTransferBytes(plan);
        }
        bytes += found->second;
    }
    return bytes * (job.iterations / job.workload->GetIterationCount());
}

void
CheckJob(const TrainingJob& job)
{
    const auto fail = [&job](const std::string& what) {
        throw std::invalid_argument(fmt::format("job \"{}\": {}", job.name, what));
    };
    if (!job.workload)
    {
        fail("it has no workload");
    }
    if (job.iterations % job.workload->GetIterationCount() != 0)
    {
        fail(fmt::format("{} iterations are no multiple of its workload's {}",
                         job.iterations,
                         job.workload->GetIterationCount()));
    }
    if (job.endpointOf.size() != job.workload->GetRankCount())
    {
        fail(fmt::format("its workload has {} ranks, but {} endpoints are given",
                         job.workload->GetRankCount(),
                         job.endpointOf.size()));
    }
    auto sorted = job.endpointOf;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    {
        fail(fmt::format("endpoint {} is given to two ranks", *twice));
    }
    if (job.start.IsStrictlyNegative() || job.timeout.IsStrictlyNegative() ||
        !(job.reduceSecondsPerByte >= 0))
    {
        fail("start, reduce times and timeout must not be negative");
    }
}

} // namespace ns3::gradsync
