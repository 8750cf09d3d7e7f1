// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/job.h"

#include "ns3/training-job.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace ns3::gradsync
{

uint64_t
CountTransferBytes(const Job& job)
{
    uint64_t bytes = 0;
    uint64_t begin = 0;
    const Plan* used = job.plan.get();
    for (const auto& [iteration, plan] : job.laterPlans)
    {
        const auto end = std::min<uint64_t>(iteration, job.iterations);
        bytes += (end - begin) * CountTransferBytes(*used);
        begin = end;
        used = plan.get();
    }
    return bytes + (job.iterations - begin) * CountTransferBytes(*used);
}

void
CheckJob(const Job& job)
{
    const auto fail = [&job](const std::string& what) {
        throw std::invalid_argument(fmt::format("job \"{}\": {}", job.name, what));
    };
    if (!job.plan)
    {
        fail("it has no plan");
    }
    if (job.endpointOf.size() != job.plan->GetRankCount())
    {
        fail(fmt::format("its plan has {} ranks, but {} endpoints are given",
                         job.plan->GetRankCount(),
                         job.endpointOf.size()));
    }
    for (const auto& [iteration, plan] : job.laterPlans)
    {
        if (iteration == 0 || plan->GetRankCount() != job.plan->GetRankCount() ||
            plan->GetWorkerCount() != job.plan->GetWorkerCount())
        {
            fail(fmt::format("the plan from iteration {} on is not of the same ranks", iteration));
        }
    }
    auto sorted = job.endpointOf;
    std::sort(sorted.begin(), sorted.end());
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    {
        fail(fmt::format("endpoint {} is given to two ranks", *twice));
    }
    if (!job.computeOf.empty() && job.computeOf.size() != job.plan->GetWorkerCount())
    {
        fail(fmt::format("its plan has {} workers, but {} compute times are given",
                         job.plan->GetWorkerCount(),
                         job.computeOf.size()));
    }
    if (job.start.IsStrictlyNegative() || job.compute.IsStrictlyNegative() ||
        job.timeout.IsStrictlyNegative() || !(job.reduceSecondsPerByte >= 0))
    {
        fail("start, compute, reduce times and timeout must not be negative");
    }
}

} // namespace ns3::gradsync
