// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/failure-text.h"

#include "ns3/simulator.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{
constexpr size_t NAMED_OPERATIONS = 4;
} // namespace

std::string
DescribeOperation(const Plan& plan, OperationId id)
{
    const auto& operation = plan.GetOperations()[id];
    const auto* what = ToString(operation.kind);
    return operation.src != operation.dst
               ? fmt::format("#{} {} {} -> {}", id, what, operation.src, operation.dst)
               : fmt::format("#{} {} at rank {}", id, what, operation.src);
}

std::string
DescribeTimeout(const Time& timeout)
{
    constexpr int64_t SECOND = 1'000'000'000'000;
    const auto picoseconds = timeout.GetPicoSeconds();
    auto seconds = fmt::format("{}.{:012}", picoseconds / SECOND, picoseconds % SECOND);
    seconds.erase(seconds.find_last_not_of('0') + 1);
    if (seconds.ends_with('.'))
    {
        seconds.pop_back();
    }
    return fmt::format("timed out, not done {} s after it began", seconds);
}

const char*
DescribeStall()
{
    return Simulator::Now().GetTimeStep() >= LAST_TIME_STEP
               ? "simulated time ended after 106 days, before it was done"
               : "stalled, the simulation ended before it was done";
}

std::string
FormatFailure(const Plan& plan, const FailureFacts& facts)
{
    auto text = fmt::format("job \"{}\", iteration {}: {}; {} of {} operations are not done",
                            facts.job,
                            facts.iteration,
                            facts.cause,
                            facts.unfinished.size(),
                            plan.GetOperations().size());
    const auto named = std::min(facts.unfinished.size(), NAMED_OPERATIONS);
    for (size_t i = 0; i < named; ++i)
    {
        const auto id = facts.unfinished[i];
        const bool inNetwork =
            std::binary_search(facts.inNetwork.begin(), facts.inNetwork.end(), id);
        text += fmt::format("{}{}{}",
                            i == 0 ? ": " : ", ",
                            DescribeOperation(plan, id),
                            inNetwork ? " (in the network)" : "");
    }
    return facts.unfinished.size() > named ? text + ", ..." : text;
}

} // namespace ns3::gradsync
