// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-statistics.h"

#include <algorithm>

namespace ns3::gradsync
{

namespace
{

uint64_t
GetPeak(const std::vector<uint64_t>& bytes)
{
    return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
}

bool
IsCrossing(const GroupLevel& level, const Operation& operation)
{
    const auto listed = level.groupOf.size();
    return operation.src >= listed || operation.dst >= listed ||
           level.groupOf[operation.src] != level.groupOf[operation.dst];
}

/// Counts the transfers by their depth: the most transfers on a path that leads to them.
std::vector<uint64_t>
CountRounds(const Plan& plan)
{
    const auto operations = plan.GetOperations();
    const auto waits = plan.GetPredecessorCounts();
    std::vector<uint32_t> waitsFor(waits.begin(), waits.end());
    std::vector<uint32_t> depth(operations.size(), 0);
    std::vector<OperationId> ready;
    for (OperationId id = 0; id < operations.size(); ++id)
    {
        if (waitsFor[id] == 0)
        {
            ready.push_back(id);
        }
    }
    std::vector<uint64_t> transfersPerRound;
    while (!ready.empty())
    {
        const auto id = ready.back();
        ready.pop_back();
        const bool isTransfer = operations[id].IsTransfer();
        if (isTransfer)
        {
            transfersPerRound.resize(std::max<size_t>(transfersPerRound.size(), depth[id] + 1));
            ++transfersPerRound[depth[id]];
        }
        for (const auto successor : plan.GetSuccessors(id))
        {
            depth[successor] = std::max(depth[successor], depth[id] + (isTransfer ? 1 : 0));
            if (--waitsFor[successor] == 0)
            {
                ready.push_back(successor);
            }
        }
    }
    return transfersPerRound;
}

} // namespace

uint64_t
PlanStatistics::GetPeakSentBytes() const
{
    return GetPeak(sentBytes);
}

uint64_t
PlanStatistics::GetPeakReceivedBytes() const
{
    return GetPeak(receivedBytes);
}

PlanStatistics
ComputePlanStatistics(const Plan& plan, const WorkerGroups& groups)
{
    PlanStatistics statistics;
    statistics.sentBytes.resize(plan.GetRankCount());
    statistics.receivedBytes.resize(plan.GetRankCount());
    for (const auto& level : groups.levels)
    {
        statistics.crossings.push_back({level.name});
    }
    const auto operations = plan.GetOperations();
    for (OperationId id = 0; id < operations.size(); ++id)
    {
        const auto& operation = operations[id];
        if (!operation.IsTransfer())
        {
            ++(operation.IsMove() ? statistics.localCount : statistics.joinCount);
            continue;
        }
        const auto bytes = plan.GetBytes(id);
        ++statistics.transferCount;
        statistics.totalBytes += bytes;
        statistics.sentBytes[operation.src] += bytes;
        statistics.receivedBytes[operation.dst] += bytes;
        for (size_t level = 0; level < groups.levels.size(); ++level)
        {
            if (IsCrossing(groups.levels[level], operation))
            {
                statistics.crossings[level].bytes += bytes;
                ++statistics.crossings[level].transfers;
            }
        }
    }
    statistics.transfersPerRound = CountRounds(plan);
    return statistics;
}

} // namespace ns3::gradsync
